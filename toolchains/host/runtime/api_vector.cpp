// The elementwise vector instructions: one loop per row of vector_ops.h and type that lanes compute in.
// Integers wrap around like the hardware's.
#pragma GCC optimize("O2", "tree-vectorize", "wrapv")

#include <algorithm>
#include <cstring>

#include "api_walk.h"
#include "skrules_host/api/vector_ops.h"

namespace skhost {
namespace {

struct Context {
    Op op;
    DType dst, src;
    const void *scalar;
};

constexpr size_t kChunk = 128;

// Lanes in the type they compute in: in place where that is their own type, otherwise converted into `room`.
template <class T> using LaneOf = typename Lane<T>::Type;
template <class T, class L> const L *widen(L *room, const uint8_t *from, size_t count) {
    const T *lanes = reinterpret_cast<const T *>(from);
    if constexpr (std::is_same_v<T, L>)
        return lanes;
    else if constexpr (std::is_same_v<T, half>)
        halfToFloat(room, lanes, count);
    else
        for (size_t i = 0; i < count; ++i) room[i] = static_cast<L>(lanes[i]);
    return room;
}
template <class T, class L> void narrow(uint8_t *to, const L *from, size_t count) {
    T *lanes = reinterpret_cast<T *>(to);
    if constexpr (std::is_same_v<T, L>)
        std::memcpy(lanes, from, count * sizeof(T));
    else if constexpr (std::is_same_v<T, half>)
        floatToHalf(lanes, from, count);
    else
        for (size_t i = 0; i < count; ++i) lanes[i] = static_cast<T>(from[i]);
}

// Moves do not look into the elements.
void move(const Run &run, const Context &context) {
    const size_t bytes = elementBits(context.dst) / 8;
    if (run.src[0])
        std::memmove(run.dst, run.src[0], run.count * bytes);
    else
        for (size_t i = 0; i < run.count; ++i) std::memcpy(run.dst + i * bytes, context.scalar, bytes);
}

// The types whose lanes compute in L.
template <class L> constexpr uint32_t kComputedIn = std::is_same_v<L, float> ? kFloats : bit(dtypeOf<L>());

// One row of vector_ops.h over lanes that lie side by side; false when the row has no such type.
template <class L> bool compute(Op op, L *__restrict result, const L *as, const L *bs, const L *ds, size_t count) {
    switch (op) {
#define SKHOST_ROW(NAME, ON2201, ON3510, EXPRESSION)                      \
    case Op::NAME:                                                        \
        if constexpr (((ON2201) | (ON3510)) & kComputedIn<L>) {           \
            for (size_t i = 0; i < count; ++i) {                          \
                [[maybe_unused]] const L a = as[i], b = bs[i], d = ds[i]; \
                result[i] = static_cast<L>(EXPRESSION);                   \
            }                                                             \
            return true;                                                  \
        }                                                                 \
        return false;
        SKHOST_COMPUTING_OPS(SKHOST_ROW)
#undef SKHOST_ROW
        default:
            return false;
    }
}

// One run. T is the type of dst, S that of the sources; both compute in L.
template <class T, class S> void runOp(const Run &run, const Context &context) {
    using L = LaneOf<T>;
    static_assert(std::is_same_v<L, LaneOf<S>>);
    L roomA[kChunk], roomB[kChunk], roomD[kChunk], result[kChunk];
    if (context.scalar) {
        S scalar;
        std::memcpy(&scalar, context.scalar, sizeof(S));
        std::fill_n(roomB, smaller(kChunk, run.count), static_cast<L>(scalar));
    }
    for (size_t at = 0; at < run.count; at += kChunk) {
        const size_t count = smaller(kChunk, run.count - at);
        const L *d = widen<T>(roomD, run.dst + at * sizeof(T), count);
        const L *a = run.src[0] ? widen<S>(roomA, run.src[0] + at * sizeof(S), count) : d;
        const L *b = context.scalar ? roomB : run.src[1] ? widen<S>(roomB, run.src[1] + at * sizeof(S), count) : d;
        if (!compute(context.op, result, a, b, d, count))
            fail("vector instruction %d has no loop for %s", static_cast<int>(context.op), typeName(context.dst));
        narrow<T>(run.dst + at * sizeof(T), result, count);
    }
}

void runContext(const Run &run, const void *pointer) {
    const Context &context = *static_cast<const Context *>(pointer);
    if (context.op == Op::Copy || context.op == Op::Duplicate) return move(run, context);
    if (context.dst == context.src)
        return withLane(context.dst, [&](auto zero) { runOp<decltype(zero), decltype(zero)>(run, context); });
    if (context.dst == DType::FLOAT && context.src == DType::HALF && (context.op == Op::MulAddDst || context.op == Op::Axpy))
        return runOp<float, half>(run, context);
    fail("vector instruction with dst %s and src %s is not supported", typeName(context.dst), typeName(context.src));
}

}  // namespace

void runVector(const VectorCall &call, const Lanes &lanes) {
    const DType source = call.sources ? call.src[0].type : call.dst.type;
    const Context context = {call.op, call.dst.type, source, call.scalar};
    walkLanes(call, lanes, runContext, &context);
}

}  // namespace skhost
