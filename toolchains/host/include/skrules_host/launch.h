// Launching kernels and binding their SK twins. `kernel<<<blocks, l2, stream>>>(args)` is rewritten by the host compiler
// driver to `::skhost::launch({blocks, l2, stream}, {"kernel", aic, aiv, arch}, &kernel, args)`.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "skrules_host/core.h"

namespace skhost {

// `count` may be of any integer type; what does not fit stays out of range and is refused by submit().
template <class Count> constexpr uint32_t blockCount(Count count) {
    return count < 0 || static_cast<uint64_t>(count) > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(count);
}

struct LaunchConfig {
    uint32_t blocks;
    void *stream;
    template <class Count> LaunchConfig(Count count) : blocks(blockCount(count)), stream(nullptr) {}
    template <class Count, class L2> LaunchConfig(Count count, L2) : blocks(blockCount(count)), stream(nullptr) {}
    template <class Count, class L2> LaunchConfig(Count count, L2, void *on) : blocks(blockCount(count)), stream(on) {}
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
// Parameters are stored by value, also those that the kernel takes by reference.
template <class P> using Stored = std::remove_cv_t<std::remove_reference_t<P>>;
template <class P> constexpr size_t slotAlign() { return alignof(Stored<P>) < kSlot ? kSlot : alignof(Stored<P>); }
template <class P> constexpr size_t slotSize() { return sizeof(Stored<P>) < kSlot ? kSlot : sizeof(Stored<P>); }
constexpr size_t roundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }
template <class... P> constexpr size_t argumentBytes() {
    size_t at = 0;
    ((at = roundUp(at, slotAlign<P>()) + slotSize<P>()), ...);
    return at;
}

using Function = void (*)();
using Invoker = void (*)(Function function, const uint8_t *arguments);

// One argument read from the block; `at` moves behind it.
template <class P> struct Argument {
    alignas(Stored<P>) unsigned char bytes[sizeof(Stored<P>)];
    Argument(const uint8_t *arguments, size_t &at) {
        at = roundUp(at, slotAlign<P>());
        std::memcpy(bytes, arguments + at, sizeof(bytes));
        at += slotSize<P>();
    }
    Stored<P> &value() { return *reinterpret_cast<Stored<P> *>(bytes); }
};
template <class... P> struct Call {
    Call(void (*target)(P...), Argument<P>... arguments) { target(static_cast<P>(arguments.value())...); }
};
template <class... P> void invoke(Function function, const uint8_t *arguments) {
    size_t at = 0;
    (void)at;
    (void)arguments;
    // Braces evaluate left to right; a function call would not.
    Call<P...>{reinterpret_cast<void (*)(P...)>(function), Argument<P>{arguments, at}...};
}
template <class P> void putArgument(uint8_t *arguments, size_t &at, const Stored<P> &value) {
    at = roundUp(at, slotAlign<P>());
    std::memcpy(arguments + at, static_cast<const void *>(&value), sizeof(value));
    at += slotSize<P>();
}

// Runs the kernel, or records it when the stream is being captured. Errors are kept for aclrtSynchronizeStream.
void submit(const LaunchConfig &config, const KernelInfo &kernel, Function function, Invoker invoker, const uint8_t *arguments,
            size_t bytes);

template <class... P, class... A>
void launch(const LaunchConfig &config, const KernelInfo &kernel, void (*function)(P...), A &&...arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "kernel launch: wrong number of arguments");
    uint8_t block[argumentBytes<P...>() + 1] = {};
    size_t at = 0;
    (putArgument<P>(block, at, static_cast<Stored<P>>(std::forward<A>(arguments))), ...);
    (void)at;
    submit(config, kernel, reinterpret_cast<Function>(function), &invoke<P...>, block, sizeof(block) - 1);
}

// Launches what only a call can find: a template whose arguments are deduced, an overload, a kernel with default
// arguments. `call` is a generic lambda without captures; each argument has its own type instead of the parameter's. What
// runs is the lambda, so the launch is not bound to an SK twin.
template <class Call, class... A>
void launchDeduced(const LaunchConfig &config, const KernelInfo &kernel, Call call, A &&...arguments) {
    launch(config, kernel, static_cast<void (*)(std::decay_t<A>...)>(call), std::forward<A>(arguments)...);
}

}  // namespace skhost
