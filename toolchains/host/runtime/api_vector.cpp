// The elementwise vector instructions: one loop per row of vector_ops.h and element type.
// Integers wrap around like the hardware's.
#pragma GCC optimize("O2", "tree-vectorize", "wrapv")

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

enum Shape { BINARY, SCALAR, UNARY };

// `f(a, b, d)` over one run. T is the type of dst, S that of the sources.
template <class T, class S, Shape shape, class F> void loop(const Run &run, const void *scalar, F f) {
    using L = LaneOf<T>;
    L roomA[kChunk], roomB[kChunk], roomD[kChunk], result[kChunk];
    L fixed = L();
    if constexpr (shape == SCALAR) {
        S value;
        std::memcpy(&value, scalar, sizeof(S));
        fixed = static_cast<L>(value);
    }
    for (size_t at = 0; at < run.count; at += kChunk) {
        const size_t count = smaller(kChunk, run.count - at);
        const L *d = widen<T>(roomD, run.dst + at * sizeof(T), count);
        const L *a = run.src[0] ? widen<S>(roomA, run.src[0] + at * sizeof(S), count) : d;
        if constexpr (shape == BINARY) {
            const L *b = widen<S>(roomB, run.src[1] + at * sizeof(S), count);
            for (size_t i = 0; i < count; ++i) result[i] = static_cast<L>(f(a[i], b[i], d[i]));
        } else {
            for (size_t i = 0; i < count; ++i) result[i] = static_cast<L>(f(a[i], fixed, d[i]));
        }
        narrow<T>(run.dst + at * sizeof(T), result, count);
    }
}

// Moves do not look into the elements.
void move(const Run &run, const Context &context) {
    const size_t bytes = elementBits(context.dst) / 8;
    if (run.src[0])
        std::memmove(run.dst, run.src[0], run.count * bytes);
    else
        for (size_t i = 0; i < run.count; ++i) std::memcpy(run.dst + i * bytes, context.scalar, bytes);
}

template <class T, class S> void runOp(const Run &run, const Context &context) {
    constexpr uint32_t type = bit(dtypeOf<T>());
    switch (context.op) {
#define SKHOST_LOOP(SHAPE, NAME, TYPES, EXPRESSION)                                                                    \
    case Op::NAME:                                                                                                     \
        if constexpr ((TYPES) & type)                                                                                  \
            return loop<T, S, SHAPE>(                                                                                  \
                run, context.scalar,                                                                                   \
                []([[maybe_unused]] auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto d) { return EXPRESSION; }); \
        break;
#define SKHOST_ROW(NAME, ON2201, ON3510, EXPRESSION) SKHOST_LOOP(BINARY, NAME, (ON2201) | (ON3510), EXPRESSION)
        SKHOST_BINARY_OPS(SKHOST_ROW)
        SKHOST_MIXED_BINARY_OPS(SKHOST_ROW)
#undef SKHOST_ROW
#define SKHOST_ROW(NAME, ON2201, ON3510, EXPRESSION) SKHOST_LOOP(SCALAR, NAME, (ON2201) | (ON3510), EXPRESSION)
        SKHOST_SCALAR_OPS(SKHOST_ROW)
        SKHOST_MIXED_SCALAR_OPS(SKHOST_ROW)
#undef SKHOST_ROW
#define SKHOST_ROW(NAME, ON2201, ON3510, EXPRESSION) SKHOST_LOOP(UNARY, NAME, (ON2201) | (ON3510), EXPRESSION)
        SKHOST_UNARY_OPS(SKHOST_ROW)
#undef SKHOST_ROW
#undef SKHOST_LOOP
        case Op::Copy:
        case Op::Duplicate:
            return move(run, context);
    }
    fail("vector instruction %d has no loop for %s", static_cast<int>(context.op), typeName(context.dst));
}

void runContext(const Run &run, const void *pointer) {
    const Context &context = *static_cast<const Context *>(pointer);
    if (context.dst == context.src) {
        withNumber(context.dst, [&](auto zero) {
            using T = decltype(zero);
            if constexpr (!std::is_same_v<T, double>) runOp<T, T>(run, context);
        });
        return;
    }
    // MulAddDst and Axpy with half sources and a float dst.
    if (context.dst == DType::FLOAT && context.src == DType::HALF && (context.op == Op::MulAddDst || context.op == Op::Axpy)) {
        const auto multiplyAdd = [](float a, float b, float d) { return a * b + d; };
        return context.op == Op::Axpy ? loop<float, half, SCALAR>(run, context.scalar, multiplyAdd)
                                      : loop<float, half, BINARY>(run, nullptr, multiplyAdd);
    }
    fail("vector instruction with dst %s and src %s is not supported", typeName(context.dst), typeName(context.src));
}

}  // namespace

void runVector(const VectorCall &call, const Lanes &lanes) {
    const DType source = call.sources ? call.src[0].type : call.dst.type;
    const Context context = {call.op, call.dst.type, source, call.scalar};
    walkLanes(call, lanes, runContext, &context);
}

}  // namespace skhost
