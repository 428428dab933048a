// Elementwise vector instructions, generated from the table in vector_ops.h. Each has the three documented forms: the first
// `count` elements; the first `mask` lanes of `repeatTime` repeats; the lanes whose bits are set in `mask[2]`.
#pragma once

#include "skrules_host/api/params.h"
#include "skrules_host/api/tensor.h"
#include "skrules_host/api/vector_ops.h"

namespace skhost {

template <class T> Operand operand(const AscendC::LocalTensor<T> &tensor, const char *name, uint32_t block, uint32_t repeat) {
    return {tensor.view, dtypeOf<T>(), block, repeat, name};
}
// Contiguous: the repeat stride follows from the lanes of the widest operand.
constexpr uint32_t kContiguous = ~0u;
template <class T> Operand operand(const AscendC::LocalTensor<T> &tensor, const char *name) {
    return operand(tensor, name, 1, kContiguous);
}

template <class T, class S> VectorCall binaryCall(const char *api, Op op, const AscendC::LocalTensor<T> &dst,
                                                  const AscendC::LocalTensor<S> &src0, const AscendC::LocalTensor<S> &src1) {
    return {api, op, 2, operand(dst, "dst"), {operand(src0, "src0"), operand(src1, "src1")}, nullptr};
}
template <class T, class S> VectorCall binaryCall(const char *api, Op op, const AscendC::LocalTensor<T> &dst,
                                                  const AscendC::LocalTensor<S> &src0, const AscendC::LocalTensor<S> &src1,
                                                  const AscendC::BinaryRepeatParams &p) {
    return {api,
            op,
            2,
            operand(dst, "dst", p.dstBlkStride, p.dstRepStride),
            {operand(src0, "src0", p.src0BlkStride, p.src0RepStride), operand(src1, "src1", p.src1BlkStride, p.src1RepStride)},
            nullptr};
}
template <class T, class S> VectorCall unaryCall(const char *api, Op op, const AscendC::LocalTensor<T> &dst,
                                                 const AscendC::LocalTensor<S> &src, const void *scalar) {
    return {api, op, 1, operand(dst, "dst"), {operand(src, "src"), {}}, scalar};
}
template <class T, class S> VectorCall unaryCall(const char *api, Op op, const AscendC::LocalTensor<T> &dst,
                                                 const AscendC::LocalTensor<S> &src, const void *scalar,
                                                 const AscendC::UnaryRepeatParams &p) {
    return {api,
            op,
            1,
            operand(dst, "dst", p.dstBlkStride, p.dstRepStride),
            {operand(src, "src", p.srcBlkStride, p.srcRepStride), {}},
            scalar};
}
template <class T> Lanes maskBits(const uint64_t *mask, bool set, uint32_t repeats) {
    return maskLanes(mask, set, repeats, sizeof(T) <= 2);
}

}  // namespace skhost

#define SKHOST_REQUIRE(NAME, T)                                                \
    static_assert(skhost::types::NAME.has(skhost::dtypeOf<T>(), __NPU_ARCH__), \
                  #NAME " does not support this element type on this arch")

namespace AscendC {

#define SKHOST_BINARY(NAME, ...)                                                                                                \
    template <class T>                                                                                                          \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const int32_t &count) { \
        SKHOST_REQUIRE(NAME, T);                                                                                                \
        skhost::runVector(skhost::binaryCall(#NAME, skhost::Op::NAME, dst, src0, src1), skhost::countLanes(count));             \
    }                                                                                                                           \
    template <class T, bool isSetMask = true>                                                                                   \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask,          \
                     const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                        \
        SKHOST_REQUIRE(NAME, T);                                                                                                \
        skhost::runVector(skhost::binaryCall(#NAME, skhost::Op::NAME, dst, src0, src1, repeatParams),                           \
                          skhost::maskLanes(mask, isSetMask, repeatTime));                                                      \
    }                                                                                                                           \
    template <class T, bool isSetMask = true>                                                                                   \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const uint64_t mask[],  \
                     const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                        \
        SKHOST_REQUIRE(NAME, T);                                                                                                \
        skhost::runVector(skhost::binaryCall(#NAME, skhost::Op::NAME, dst, src0, src1, repeatParams),                           \
                          skhost::maskBits<T>(mask, isSetMask, repeatTime));                                                    \
    }
SKHOST_BINARY_OPS(SKHOST_BINARY)
#undef SKHOST_BINARY

#define SKHOST_MIXED_BINARY(NAME, ...)                                                                                          \
    template <class T, class U>                                                                                                 \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const int32_t &count) { \
        SKHOST_REQUIRE(NAME, T);                                                                                                \
        SKHOST_REQUIRE(NAME, U);                                                                                                \
        skhost::runVector(skhost::binaryCall(#NAME, skhost::Op::NAME, dst, src0, src1), skhost::countLanes(count));             \
    }                                                                                                                           \
    template <class T, class U, bool isSetMask = true>                                                                          \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,          \
                     const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                        \
        SKHOST_REQUIRE(NAME, T);                                                                                                \
        SKHOST_REQUIRE(NAME, U);                                                                                                \
        skhost::runVector(skhost::binaryCall(#NAME, skhost::Op::NAME, dst, src0, src1, repeatParams),                           \
                          skhost::maskLanes(mask, isSetMask, repeatTime));                                                      \
    }                                                                                                                           \
    template <class T, class U, bool isSetMask = true>                                                                          \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const uint64_t mask[],  \
                     const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                        \
        SKHOST_REQUIRE(NAME, T);                                                                                                \
        SKHOST_REQUIRE(NAME, U);                                                                                                \
        skhost::runVector(skhost::binaryCall(#NAME, skhost::Op::NAME, dst, src0, src1, repeatParams),                           \
                          skhost::maskBits<T>(mask, isSetMask, repeatTime));                                                    \
    }
SKHOST_MIXED_BINARY_OPS(SKHOST_MIXED_BINARY)
#undef SKHOST_MIXED_BINARY

#define SKHOST_SCALAR(NAME, ...)                                                                                          \
    template <class T, bool isSetMask = true> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src,      \
                                                               const skhost::Plain<T> &scalar, const int32_t &count) {    \
        SKHOST_REQUIRE(NAME, T);                                                                                          \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, &scalar), skhost::countLanes(count));      \
    }                                                                                                                     \
    template <class T, bool isSetMask = true>                                                                             \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const skhost::Plain<T> &scalar, uint64_t mask, \
                     const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                                   \
        SKHOST_REQUIRE(NAME, T);                                                                                          \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, &scalar, repeatParams),                    \
                          skhost::maskLanes(mask, isSetMask, repeatTime));                                                \
    }                                                                                                                     \
    template <class T, bool isSetMask = true>                                                                             \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const skhost::Plain<T> &scalar,                \
                     const uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {            \
        SKHOST_REQUIRE(NAME, T);                                                                                          \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, &scalar, repeatParams),                    \
                          skhost::maskBits<T>(mask, isSetMask, repeatTime));                                              \
    }
SKHOST_SCALAR_OPS(SKHOST_SCALAR)
#undef SKHOST_SCALAR

#define SKHOST_MIXED_SCALAR(NAME, ...)                                                                                    \
    template <class T, class U> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src,                    \
                                                 const skhost::Plain<U> &scalar, const int32_t &count) {                  \
        SKHOST_REQUIRE(NAME, T);                                                                                          \
        SKHOST_REQUIRE(NAME, U);                                                                                          \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, &scalar), skhost::countLanes(count));      \
    }                                                                                                                     \
    template <class T, class U, bool isSetMask = true>                                                                    \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src, const skhost::Plain<U> &scalar, uint64_t mask, \
                     const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                                   \
        SKHOST_REQUIRE(NAME, T);                                                                                          \
        SKHOST_REQUIRE(NAME, U);                                                                                          \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, &scalar, repeatParams),                    \
                          skhost::maskLanes(mask, isSetMask, repeatTime));                                                \
    }                                                                                                                     \
    template <class T, class U, bool isSetMask = true>                                                                    \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src, const skhost::Plain<U> &scalar,                \
                     const uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {            \
        SKHOST_REQUIRE(NAME, T);                                                                                          \
        SKHOST_REQUIRE(NAME, U);                                                                                          \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, &scalar, repeatParams),                    \
                          skhost::maskBits<T>(mask, isSetMask, repeatTime));                                              \
    }
SKHOST_MIXED_SCALAR_OPS(SKHOST_MIXED_SCALAR)
#undef SKHOST_MIXED_SCALAR

#define SKHOST_UNARY(NAME, ...)                                                                                       \
    template <class T> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count) { \
        SKHOST_REQUIRE(NAME, T);                                                                                      \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, nullptr), skhost::countLanes(count));  \
    }                                                                                                                 \
    template <class T, bool isSetMask = true> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src,  \
                                                               uint64_t mask, const uint8_t repeatTime,               \
                                                               const UnaryRepeatParams &repeatParams) {               \
        SKHOST_REQUIRE(NAME, T);                                                                                      \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, nullptr, repeatParams),                \
                          skhost::maskLanes(mask, isSetMask, repeatTime));                                            \
    }                                                                                                                 \
    template <class T, bool isSetMask = true> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src,  \
                                                               const uint64_t mask[], const uint8_t repeatTime,       \
                                                               const UnaryRepeatParams &repeatParams) {               \
        SKHOST_REQUIRE(NAME, T);                                                                                      \
        skhost::runVector(skhost::unaryCall(#NAME, skhost::Op::NAME, dst, src, nullptr, repeatParams),                \
                          skhost::maskBits<T>(mask, isSetMask, repeatTime));                                          \
    }
SKHOST_UNARY_OPS(SKHOST_UNARY)
#undef SKHOST_UNARY

}  // namespace AscendC

namespace skhost {

template <class T>
VectorCall copyCall(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::CopyRepeatParams &p) {
    return {"Copy",
            Op::Copy,
            1,
            operand(dst, "dst", p.dstStride, p.dstRepeatSize),
            {operand(src, "src", p.srcStride, p.srcRepeatSize), {}},
            nullptr};
}
template <class T> VectorCall fillCall(const AscendC::LocalTensor<T> &dst, const T &value, uint32_t block, uint32_t repeat) {
    return {"Duplicate", Op::Duplicate, 0, operand(dst, "dst", block, repeat), {}, &value};
}

}  // namespace skhost

namespace AscendC {

template <class T, bool isSetMask = true> inline void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                                           const uint64_t mask, const uint8_t repeatTime,
                                                           const CopyRepeatParams &repeatParams) {
    SKHOST_REQUIRE(Copy, T);
    skhost::runVector(skhost::copyCall(dst, src, repeatParams), skhost::maskLanes(mask, isSetMask, repeatTime));
}
template <class T, bool isSetMask = true> inline void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                                           const uint64_t mask[], const uint8_t repeatTime,
                                                           const CopyRepeatParams &repeatParams) {
    SKHOST_REQUIRE(Copy, T);
    skhost::runVector(skhost::copyCall(dst, src, repeatParams), skhost::maskBits<T>(mask, isSetMask, repeatTime));
}

template <class T> inline void Duplicate(const LocalTensor<T> &dst, const skhost::Plain<T> &value, const int32_t &count) {
    SKHOST_REQUIRE(Duplicate, T);
    skhost::runVector(skhost::fillCall(dst, value, 1, skhost::kContiguous), skhost::countLanes(count));
}
template <class T, bool isSetMask = true> inline void Duplicate(const LocalTensor<T> &dst, const skhost::Plain<T> &value,
                                                                uint64_t mask, const uint8_t repeatTime,
                                                                const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
    SKHOST_REQUIRE(Duplicate, T);
    skhost::runVector(skhost::fillCall(dst, value, dstBlockStride, dstRepeatStride),
                      skhost::maskLanes(mask, isSetMask, repeatTime));
}
template <class T, bool isSetMask = true> inline void Duplicate(const LocalTensor<T> &dst, const skhost::Plain<T> &value,
                                                                const uint64_t mask[], const uint8_t repeatTime,
                                                                const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
    SKHOST_REQUIRE(Duplicate, T);
    skhost::runVector(skhost::fillCall(dst, value, dstBlockStride, dstRepeatStride),
                      skhost::maskBits<T>(mask, isSetMask, repeatTime));
}

}  // namespace AscendC
