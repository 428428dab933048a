// Instructions that move elements about: Transpose, Gather, Gatherb, GatherMask, Brcb, CreateVecIndex.
#pragma once

#include "skrules_host/api/params.h"
#include "skrules_host/api/vector.h"

namespace AscendC {

// A 16 x 16 matrix of 2-byte elements.
template <class T> inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src) {
    static_assert(sizeof(T) == 2, "Transpose: a 16 x 16 matrix of 2-byte elements");
    skhost::transpose16(dst.view, src.view);
}
template <class T> inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                      const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset,
                                      const uint32_t count) {
    skhost::gather(dst.view, src.view, srcOffset.view, srcBaseOffset, sizeof(T), skhost::countLanes(count), 0);
}
template <class T> inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                      const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset, const uint64_t mask,
                                      const uint8_t repeatTime, const uint16_t dstRepStride) {
    skhost::gather(dst.view, src.view, srcOffset.view, srcBaseOffset, sizeof(T), skhost::maskLanes(mask, true, repeatTime),
                   dstRepStride);
}
template <class T> inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                      const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset, const uint64_t mask[],
                                      const uint8_t repeatTime, const uint16_t dstRepStride) {
    skhost::gather(dst.view, src.view, srcOffset.view, srcBaseOffset, sizeof(T), skhost::maskBits<T>(mask, true, repeatTime),
                   dstRepStride);
}
// Eight blocks of 32 bytes a repeat, each from its offset in bytes.
template <class T> inline void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
                                       const uint8_t repeatTime, const GatherRepeatParams &repeatParams) {
    skhost::gatherBlocks(dst.view, src.view, offset.view, repeatTime, repeatParams.dstBlkStride, repeatParams.dstRepStride);
}
}  // namespace AscendC

namespace skhost {
// In normal mode a repeat has 256 bytes; in counter mode (`counted`) it has `mask` elements.
template <class T> uint64_t gatherMask(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                                       const GatherBits &bits, bool counted, uint32_t mask,
                                       const AscendC::GatherMaskParams &params) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || (sizeof(T) == 1 && __NPU_ARCH__ == 3510),
                  "GatherMask does not support this element type on this arch");
    return gatherMasked(dst.view, src.view, bits, sizeof(T), counted ? mask : 256 / sizeof(T), params.repeatTimes,
                        params.src0BlockStride, params.src0RepeatStride);
}
}  // namespace skhost

namespace AscendC {
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;
constexpr GatherMaskMode defaultGahterMaskMode = defaultGatherMaskMode;  // as older programs spell it

// The elements whose bit in `src1Pattern` is 1; each repeat begins `src1RepeatStride` blocks further in the bits.
template <class T, class U, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams &gatherMaskParams, uint64_t &rsvdCnt) {
    static_assert(std::is_unsigned_v<U> && sizeof(U) == sizeof(T), "GatherMask: bits come in unsigned integers as wide as T");
    static_assert(mode == defaultGatherMaskMode, "GatherMaskMode::VERSION_V1 is not emulated by the host toolchain");
    rsvdCnt = skhost::gatherMask(dst, src0, {&src1Pattern.view, gatherMaskParams.src1RepeatStride, 0}, reduceMode, mask,
                                 gatherMaskParams);
}
// A built-in pattern: 1 and 2 keep every other element, 3 to 6 every fourth, 7 all.
template <class T, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const uint8_t src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams &gatherMaskParams, uint64_t &rsvdCnt) {
    static_assert(mode == defaultGatherMaskMode, "GatherMaskMode::VERSION_V1 is not emulated by the host toolchain");
    rsvdCnt = skhost::gatherMask(dst, src0, {nullptr, 0, src1Pattern}, reduceMode, mask, gatherMaskParams);
}
// Eight elements a repeat, each spread over a block of 32 bytes.
template <class T> inline void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint8_t repeatTime,
                                    const BrcbRepeatParams &repeatParams) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Brcb: 2-byte and 4-byte elements");
    skhost::broadcastBlocks(dst.view, src.view, sizeof(T), repeatTime, repeatParams.dstBlkStride, repeatParams.dstRepStride);
}
template <class T> inline void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count) {
    skhost::createIndex(dst.view, skhost::dtypeOf<T>(), static_cast<double>(firstValue), count);
}

}  // namespace AscendC
