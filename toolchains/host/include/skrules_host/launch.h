// Launching kernels and binding their SK twins. `kernel<<<blocks, l2, stream>>>(args)` is rewritten by the host compiler
// driver to `::skhost::launch({blocks, l2, stream}, {"kernel", aic, aiv, arch}, &kernel, args)`.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "skrules_host/core.h"

namespace sk {
struct SkSystemArgs;
}

namespace skhost {

struct LaunchConfig {
    uint32_t blocks;
    void *stream;
    template <class Blocks> LaunchConfig(Blocks count) : blocks(static_cast<uint32_t>(count)), stream(nullptr) {}
    template <class Blocks, class L2> LaunchConfig(Blocks count, L2) : blocks(static_cast<uint32_t>(count)), stream(nullptr) {}
    template <class Blocks, class L2>
    LaunchConfig(Blocks count, L2, void *on) : blocks(static_cast<uint32_t>(count)), stream(on) {}
};

// Cores per block: vector {0, 1}, cube {1, 0}, mix {1, 1} or {1, 2}.
struct KernelInfo {
    const char *name;
    int aic;
    int aiv;
    int arch;
};

// The argument block of a launch: parameters in order, each at max(4, alignof) and at least 4 bytes long. This is the
// layout an SK Args struct must have.
constexpr size_t kSlot = 4;
template <class P> constexpr size_t slotAlign() { return alignof(P) < kSlot ? kSlot : alignof(P); }
template <class P> constexpr size_t slotSize() { return sizeof(P) < kSlot ? kSlot : sizeof(P); }
constexpr size_t roundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }
template <class... P> constexpr size_t argumentBytes() {
    size_t at = 0;
    ((at = roundUp(at, slotAlign<P>()) + slotSize<P>()), ...);
    return at;
}

using Function = void (*)();
using Invoker = void (*)(Function function, const uint8_t *arguments);

template <class P> P takeArgument(const uint8_t *arguments, size_t &at) {
    at = roundUp(at, slotAlign<P>());
    std::remove_const_t<P> value;
    std::memcpy(static_cast<void *>(&value), arguments + at, sizeof(P));
    at += slotSize<P>();
    return value;
}
template <class... P> void invoke(Function function, const uint8_t *arguments) {
    size_t at = 0;
    (void)at;
    (void)arguments;
    // Braces evaluate left to right; a function call would not.
    struct Call {
        Call(void (*target)(P...), P... values) { target(values...); }
    };
    Call{reinterpret_cast<void (*)(P...)>(function), takeArgument<P>(arguments, at)...};
}
template <class P> void putArgument(uint8_t *arguments, size_t &at, P value) {
    at = roundUp(at, slotAlign<P>());
    std::memcpy(arguments + at, static_cast<const void *>(&value), sizeof(P));
    at += slotSize<P>();
}

// Runs the kernel, or records it when the stream is being captured. Errors are kept for aclrtSynchronizeStream.
void submit(const LaunchConfig &config, const KernelInfo &kernel, Function function, Invoker invoker,
            const uint8_t *arguments, size_t bytes);

template <class... P, class... A>
void launch(const LaunchConfig &config, const KernelInfo &kernel, void (*function)(P...), A &&...arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "kernel launch: wrong number of arguments");
    uint8_t block[argumentBytes<P...>() + 1] = {};
    size_t at = 0;
    (putArgument<P>(block, at, static_cast<P>(std::forward<A>(arguments))), ...);
    submit(config, kernel, reinterpret_cast<Function>(function), &invoke<P...>, block, sizeof(block) - 1);
}

}  // namespace skhost
