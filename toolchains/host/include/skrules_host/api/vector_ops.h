// The table of elementwise vector instructions. A row is: name, element types on dav-2201, element types on dav-3510,
// expression. `a` and `b` are the elements of the sources (`b` the scalar where there is one), `d` what the destination
// held; they have the type the vector unit computes in (float for half and bfloat16_t). The header of the API takes
// names and types from here, the runtime library the expressions.
#pragma once

#include "skrules_host/api/types.h"

namespace skhost {

constexpr uint32_t kHalfFloat = bit(DType::HALF) | bit(DType::FLOAT);
constexpr uint32_t kInt8s = bit(DType::INT8) | bit(DType::UINT8);
constexpr uint32_t kInt16s = bit(DType::INT16) | bit(DType::UINT16);
constexpr uint32_t kInt32s = bit(DType::INT32) | bit(DType::UINT32);
constexpr uint32_t kInt64s = bit(DType::INT64) | bit(DType::UINT64);
constexpr uint32_t kSigned = bit(DType::INT8) | bit(DType::INT16) | bit(DType::INT32) | bit(DType::INT64);
constexpr uint32_t kArithmetic = kHalfFloat | bit(DType::INT16) | bit(DType::INT32);
constexpr uint32_t kIntegers = kInt8s | kInt16s | kInt32s | kInt64s;
constexpr uint32_t kFloats = kHalfFloat | bit(DType::BFLOAT16);
constexpr uint32_t kNumbers = kFloats | kIntegers;
constexpr uint32_t kCopyable = kHalfFloat | bit(DType::BFLOAT16) | kInt16s | kInt32s;

}  // namespace skhost

// clang-format off

// dst = f(src0, src1)
#define SKHOST_BINARY_OPS(ROW)                                                           \
    ROW(Add, kArithmetic, kNumbers, a + b)                                               \
    ROW(Sub, kArithmetic, kNumbers, a - b)                                               \
    ROW(Mul, kArithmetic, kNumbers, a * b)                                               \
    ROW(Div, kHalfFloat, kNumbers, quotient(a, b))                                       \
    ROW(Max, kArithmetic, kNumbers, larger(a, b))                                        \
    ROW(Min, kArithmetic, kNumbers, smaller(a, b))                                       \
    ROW(And, kInt16s, kIntegers, a & b)                                                  \
    ROW(Or, kInt16s, kIntegers, a | b)                                                   \
    ROW(AddRelu, kHalfFloat | bit(DType::INT16), kHalfFloat | kSigned, rectified(a + b)) \
    ROW(SubRelu, kHalfFloat | bit(DType::INT16), kHalfFloat | kSigned, rectified(a - b)) \
    ROW(FusedMulAdd, kHalfFloat, kFloats, a * d + b)                                     \
    ROW(FusedMulAddRelu, kHalfFloat, kFloats, rectified(a * d + b))

// dst = f(src0, src1), where the sources may be narrower than dst
#define SKHOST_MIXED_BINARY_OPS(ROW) ROW(MulAddDst, kHalfFloat, kFloats, a * b + d)

// dst = f(src, scalar)
#define SKHOST_SCALAR_OPS(ROW)                                              \
    ROW(Adds, kArithmetic, kNumbers, a + b)                                 \
    ROW(Subs, 0, kNumbers, a - b)                                           \
    ROW(Muls, kArithmetic, kNumbers, a * b)                                 \
    ROW(Divs, 0, kNumbers, quotient(a, b))                                  \
    ROW(Maxs, kArithmetic, kNumbers, larger(a, b))                          \
    ROW(Mins, kArithmetic, kNumbers, smaller(a, b))                         \
    ROW(Ands, 0, kIntegers, a & b)                                          \
    ROW(Ors, 0, kIntegers, a | b)                                           \
    ROW(LeakyRelu, kHalfFloat, kFloats, a >= 0 ? a : a * b)                 \
    ROW(ShiftLeft, kInt16s | kInt32s, kIntegers, shiftedLeft(a, b))         \
    ROW(ShiftRight, kInt16s | kInt32s, kIntegers, shiftedRight(a, b))

#define SKHOST_MIXED_SCALAR_OPS(ROW) ROW(Axpy, kHalfFloat, kFloats, a * b + d)

// dst = f(src)
#define SKHOST_UNARY_OPS(ROW)                                        \
    ROW(Abs, kHalfFloat, kFloats | kSigned, a < 0 ? -a : a)          \
    ROW(Exp, kHalfFloat, kFloats, exponential(a))                    \
    ROW(Ln, kHalfFloat, kFloats, logarithm(a))                       \
    ROW(Sqrt, kHalfFloat, kFloats, root(a))                          \
    ROW(Rsqrt, kHalfFloat, kFloats, 1 / root(a))                     \
    ROW(Reciprocal, kHalfFloat, kFloats, 1 / a)                      \
    ROW(Relu, kHalfFloat | bit(DType::INT32), kFloats | kSigned, rectified(a)) \
    ROW(Neg, 0, kFloats | kSigned, -a)                               \
    ROW(Not, kInt16s, kIntegers, ~a)

// Moves without arithmetic: dst = src, dst = scalar
#define SKHOST_MOVE_OPS(ROW)              \
    ROW(Copy, kCopyable, kNumbers, a)     \
    ROW(Duplicate, kCopyable, kNumbers, b)

#define SKHOST_COMPUTING_OPS(ROW)                                                                             \
    SKHOST_BINARY_OPS(ROW) SKHOST_MIXED_BINARY_OPS(ROW) SKHOST_SCALAR_OPS(ROW) SKHOST_MIXED_SCALAR_OPS(ROW)   \
    SKHOST_UNARY_OPS(ROW)
#define SKHOST_VECTOR_OPS(ROW) SKHOST_COMPUTING_OPS(ROW) SKHOST_MOVE_OPS(ROW)

// clang-format on

namespace skhost {

enum class Op : uint16_t {
#define SKHOST_ROW(NAME, ON2201, ON3510, EXPRESSION) NAME,
    SKHOST_VECTOR_OPS(SKHOST_ROW)
#undef SKHOST_ROW
};

struct TypeRow {
    uint32_t on2201, on3510;
    constexpr bool has(DType type, int arch) const { return ((arch == 3510 ? on3510 : on2201) & bit(type)) != 0; }
};
namespace types {
#define SKHOST_ROW(NAME, ON2201, ON3510, EXPRESSION) inline constexpr TypeRow NAME{ON2201, ON3510};
SKHOST_VECTOR_OPS(SKHOST_ROW)
#undef SKHOST_ROW
}  // namespace types

}  // namespace skhost
