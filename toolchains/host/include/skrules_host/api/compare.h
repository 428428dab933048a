// Compare and Select: a bit an element, the first element in the lowest bit.
#pragma once

#include "skrules_host/api/vector.h"

namespace skhost {

template <class T> VectorCall compareCall(const char *api, const AscendC::LocalTensor<T> &src0,
                                          const AscendC::LocalTensor<T> &src1, const AscendC::BinaryRepeatParams &p) {
    return binaryCall(api, Op::Copy, src0, src0, src1, p);
}

}  // namespace skhost

namespace AscendC {

template <class T, class U> inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                                CMPMODE cmpMode, uint32_t count) {
    skhost::runCompare(skhost::binaryCall("Compare", skhost::Op::Copy, src0, src0, src1), &dst.view, cmpMode,
                       skhost::countLanes(count));
}
template <class T, class U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                    const uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    skhost::runCompare(skhost::compareCall("Compare", src0, src1, repeatParams), &dst.view, cmpMode,
                       skhost::maskLanes(mask, isSetMask, repeatTime));
}
template <class T, class U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                    const uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    skhost::runCompare(skhost::compareCall("Compare", src0, src1, repeatParams), &dst.view, cmpMode,
                       skhost::maskBits<T>(mask, isSetMask, repeatTime));
}
// Into the compare mask register, for Select in VSEL_CMPMASK_SPR mode.
template <class T, bool isSetMask = true> inline void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                                              CMPMODE cmpMode, const uint64_t mask,
                                                              const BinaryRepeatParams &repeatParams) {
    skhost::runCompare(skhost::compareCall("Compare", src0, src1, repeatParams), nullptr, cmpMode,
                       skhost::maskLanes(mask, isSetMask, 1));
}
template <class T, bool isSetMask = true> inline void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                                              CMPMODE cmpMode, const uint64_t mask[],
                                                              const BinaryRepeatParams &repeatParams) {
    skhost::runCompare(skhost::compareCall("Compare", src0, src1, repeatParams), nullptr, cmpMode,
                       skhost::maskBits<T>(mask, isSetMask, 1));
}
template <class T> inline void GetCmpMask(const LocalTensor<T> &dst) { skhost::moveCompareMask(dst.view, false); }
template <class T> inline void SetCmpMask(const LocalTensor<T> &src) { skhost::moveCompareMask(src.view, true); }

#define SKHOST_COMPARE_SCALAR(NAME)                                                                                         \
    template <class T, class U> inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0,                     \
                                                 const skhost::Plain<T> src1, CMPMODE cmpMode, uint32_t count) {            \
        skhost::runCompare(skhost::unaryCall(#NAME, skhost::Op::Copy, src0, src0, &src1), &dst.view, cmpMode,               \
                           skhost::countLanes(count));                                                                      \
    }                                                                                                                       \
    template <class T, class U, bool isSetMask = true>                                                                      \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const skhost::Plain<T> src1, CMPMODE cmpMode,   \
                     const uint64_t mask, uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                      \
        skhost::runCompare(skhost::unaryCall(#NAME, skhost::Op::Copy, src0, src0, &src1, repeatParams), &dst.view, cmpMode, \
                           skhost::maskLanes(mask, isSetMask, repeatTime));                                                 \
    }                                                                                                                       \
    template <class T, class U, bool isSetMask = true>                                                                      \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const skhost::Plain<T> src1, CMPMODE cmpMode,   \
                     const uint64_t mask[], uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                    \
        skhost::runCompare(skhost::unaryCall(#NAME, skhost::Op::Copy, src0, src0, &src1, repeatParams), &dst.view, cmpMode, \
                           skhost::maskBits<T>(mask, isSetMask, repeatTime));                                               \
    }
SKHOST_COMPARE_SCALAR(Compares)
SKHOST_COMPARE_SCALAR(CompareScalar)
#undef SKHOST_COMPARE_SCALAR

template <class T, class U> inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                                               const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE selMode,
                                               uint32_t count) {
    skhost::runSelect(skhost::binaryCall("Select", skhost::Op::Copy, dst, src0, src1), selMask.view, selMode,
                      skhost::countLanes(count));
}
template <class T, class U, bool isSetMask = true> inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                                                                      const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                                                      SELMODE selMode, uint64_t mask, uint8_t repeatTime,
                                                                      const BinaryRepeatParams &repeatParams) {
    skhost::runSelect(skhost::binaryCall("Select", skhost::Op::Copy, dst, src0, src1, repeatParams), selMask.view, selMode,
                      skhost::maskLanes(mask, isSetMask, repeatTime));
}
template <class T, class U, bool isSetMask = true> inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                                                                      const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                                                      SELMODE selMode, const uint64_t mask[], uint8_t repeatTime,
                                                                      const BinaryRepeatParams &repeatParams) {
    skhost::runSelect(skhost::binaryCall("Select", skhost::Op::Copy, dst, src0, src1, repeatParams), selMask.view, selMode,
                      skhost::maskBits<T>(mask, isSetMask, repeatTime));
}
template <class T, class U> inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                                               const LocalTensor<T> &src0, const skhost::Plain<T> src1, SELMODE selMode,
                                               uint32_t count) {
    skhost::runSelect(skhost::unaryCall("Select", skhost::Op::Copy, dst, src0, &src1), selMask.view, selMode,
                      skhost::countLanes(count));
}
template <class T, class U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                   const skhost::Plain<T> src1, SELMODE selMode, uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &p) {
    const UnaryRepeatParams params(p.dstBlkStride, p.src0BlkStride, p.dstRepStride, p.src0RepStride);
    skhost::runSelect(skhost::unaryCall("Select", skhost::Op::Copy, dst, src0, &src1, params), selMask.view, selMode,
                      skhost::maskLanes(mask, isSetMask, repeatTime));
}

}  // namespace AscendC
