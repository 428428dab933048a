// Instructions that move elements about: Transpose, Gather, Brcb, CreateVecIndex.
#pragma once

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
