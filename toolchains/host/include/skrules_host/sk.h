// Super kernels: what an SK function receives, and SK_BIND, which names the SK twins of a kernel.
//
//     SK_BIND(kernel, capabilities, sk0[, sk1[, sk2[, sk3]]]);
//
// `capabilities` bits: 1 the twin calls WaitPreTaskEnd, 2 it calls SetNextTaskStart, 4 no data cache clean and
// invalidate around it, 8 no schedule mode check. The twin's Args struct is the argument block of the kernel's launch.
#pragma once

#include "skrules_host/launch.h"
#include "skrules_host/sk_layout.h"

namespace sk {

// Public layout: 16 bytes. skNumBlocks counts the cores of this kind that the operator was launched with, which
// GetBlockNum() does not inside a super kernel.
struct SkSystemArgs {
    uint16_t skBlockIdx;
    uint16_t skNumBlocks;
    uint16_t skTaskSyncCfg;
    uint8_t reserve[10];
    uint16_t SkGetBlockIdx() const { return skBlockIdx; }
    uint16_t SkGetNumBlocks() const { return skNumBlocks; }
    uint16_t SkGetTaskSyncCfg() const { return skTaskSyncCfg; }
    void SkSetTaskSyncCfg(uint16_t config) { skTaskSyncCfg = config; }
};
static_assert(sizeof(SkSystemArgs) == 16, "the layout of the device");

}  // namespace sk

namespace skhost {

constexpr int kMaxSplits = 4;
using TwinThunk = void (*)(const void *arguments, sk::SkSystemArgs *system);

// The first field of an Args struct that is not where the argument block has it; field 0: none.
struct LayoutMismatch {
    size_t field;     // counted from 1
    size_t offset;    // in the struct
    size_t expected;  // in the block
};

struct TwinBinding {
    const char *text;  // of the SK_BIND, for messages
    Function kernel;
    uint64_t capabilities;
    int count;  // twins that were named
    Function twins[kMaxSplits];
    TwinThunk thunks[kMaxSplits];
    LayoutMismatch mismatch;
};

// Kernel modules come and go (dlopen, dlclose); their bindings with them.
void bindTwins(const TwinBinding &binding);
void unbindTwins(const TwinBinding &binding);

template <class F> struct KernelSignature;
template <class... P> struct KernelSignature<void (*)(P...)> {
    static constexpr size_t bytes = argumentBytes<P...>();
    static constexpr size_t count = sizeof...(P);
    static constexpr bool empty = count == 0;
    static void offsets(size_t *at) {
        size_t end = 0;
        (void)at;
        (void)end;
        ((end = roundUp(end, slotAlign<P>()), *at++ = end, end += slotSize<P>()), ...);
    }
};
template <class... P> struct KernelSignature<void (*)(P...) noexcept> : KernelSignature<void (*)(P...)> {};

// The four forms of an SK function.
struct NoArgs {};
template <class F> struct TwinSignature {
    static constexpr bool valid = false;
    using Args = NoArgs;
};
template <> struct TwinSignature<void (*)()> {
    static constexpr bool valid = true;
    using Args = NoArgs;
    template <auto F> static void call(const void *, sk::SkSystemArgs *) { F(); }
};
template <> struct TwinSignature<void (*)(sk::SkSystemArgs *)> {
    static constexpr bool valid = true;
    using Args = NoArgs;
    template <auto F> static void call(const void *, sk::SkSystemArgs *system) { F(system); }
};
template <> struct TwinSignature<void (*)(const sk::SkSystemArgs *)> : TwinSignature<void (*)(sk::SkSystemArgs *)> {};
template <class A> struct TwinSignature<void (*)(A *)> {
    static constexpr bool valid = true;
    using Args = A;
    template <auto F> static void call(const void *arguments, sk::SkSystemArgs *) {
        F(static_cast<A *>(const_cast<void *>(arguments)));
    }
};
template <class A> struct TwinSignature<void (*)(A *, sk::SkSystemArgs *)> {
    static constexpr bool valid = true;
    using Args = A;
    template <auto F> static void call(const void *arguments, sk::SkSystemArgs *system) {
        F(static_cast<A *>(const_cast<void *>(arguments)), system);
    }
};
template <class A> struct TwinSignature<void (*)(A *, const sk::SkSystemArgs *)>
    : TwinSignature<void (*)(A *, sk::SkSystemArgs *)> {};

// Size of the argument block as a struct: the end is padded to the alignment of the struct.
template <class Args> constexpr bool matchesBlock(size_t bytes) { return sizeof(Args) == roundUp(bytes, alignof(Args)); }

template <auto Kernel, auto Twin> struct TwinCheck {
    using Signature = KernelSignature<decltype(Kernel)>;
    using Twins = TwinSignature<decltype(Twin)>;
    using Args = typename Twins::Args;
    static constexpr bool without = std::is_empty_v<Args>;
    static_assert(Twins::valid,
                  "SK_BIND: an SK function is void f(const Args *), void f(const Args *, sk::SkSystemArgs *), and for a kernel "
                  "without parameters void f() or void f(sk::SkSystemArgs *)");
    static_assert(!without || Signature::empty, "SK_BIND: the kernel has parameters but the SK function takes no Args struct");
    static_assert(without || !Signature::empty, "SK_BIND: the kernel has no parameters but the SK function takes an Args struct");
    static_assert(
        without || Signature::empty || matchesBlock<Args>(Signature::bytes),
        "SK_BIND: the Args struct does not have the size of the kernel's argument block: one field for each parameter, in "
        "order, alignas(4) on values smaller than 4 bytes");
    static constexpr TwinThunk thunk = &Twins::template call<Twin>;
    static LayoutMismatch compareLayouts() {
        if constexpr (!without && hasFields<Args, Signature::count>()) {
            alignas(Args) static unsigned char storage[sizeof(Args)];
            size_t offset[Signature::count], expected[Signature::count];
            fieldOffsets<Args, Signature::count>(*reinterpret_cast<const Args *>(storage), offset);
            Signature::offsets(expected);
            for (size_t i = 0; i < Signature::count; ++i) {
                if (offset[i] != expected[i]) return {i + 1, offset[i], expected[i]};
            }
        }
        return {0, 0, 0};
    }
};

template <auto Kernel, uint64_t Capabilities, auto... Twins> struct TwinRegistrar {
    static_assert(sizeof...(Twins) >= 1 && sizeof...(Twins) <= kMaxSplits, "SK_BIND: a kernel binds one to four SK functions");
    static_assert(Capabilities < 16, "SK_BIND: capabilities are the bits 1, 2, 4 and 8");
    TwinBinding binding;
    explicit TwinRegistrar(const char *text)
        : binding{text,
                  reinterpret_cast<Function>(Kernel),
                  Capabilities,
                  sizeof...(Twins),
                  {reinterpret_cast<Function>(Twins)...},
                  {TwinCheck<Kernel, Twins>::thunk...},
                  {0, 0, 0}} {
        const LayoutMismatch mismatches[] = {TwinCheck<Kernel, Twins>::compareLayouts()...};
        for (const LayoutMismatch &mismatch : mismatches) {
            if (binding.mismatch.field == 0) binding.mismatch = mismatch;
        }
        bindTwins(binding);
    }
    ~TwinRegistrar() { unbindTwins(binding); }
    TwinRegistrar(const TwinRegistrar &) = delete;
    TwinRegistrar &operator=(const TwinRegistrar &) = delete;
};

}  // namespace skhost

#define SKRULES_HOST_JOIN_(a, b) a##b
#define SKRULES_HOST_JOIN(a, b) SKRULES_HOST_JOIN_(a, b)
#define SK_BIND(...) static const ::skhost::TwinRegistrar<__VA_ARGS__> SKRULES_HOST_JOIN(g_sknl_map_, __COUNTER__)(#__VA_ARGS__)
