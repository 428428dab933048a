// DataCopy and DataCopyPad between GM and on-chip memories, and between on-chip memories.
#pragma once

#include "skrules_host/api/params.h"
#include "skrules_host/api/tensor.h"

namespace skhost {

// `count` pieces of `length` bytes; the next piece begins `step` bytes after the last one on that side.
struct Pieces {
    uint64_t count, length;
    int64_t globalStep, localStep;
};
void copyIn(const LocalView &to, const void *from, const Pieces &pieces, const char *api);
void copyOut(void *to, const LocalView &from, const Pieces &pieces, DType type, const char *api);
void copyLocal(const LocalView &to, const LocalView &from, uint64_t count, uint64_t length, uint64_t srcGap, uint64_t dstGap,
               DType type);
void checkBlocks(uint64_t elements, uint64_t bytes, const char *api);  // bytes % 32, with the way out

struct Padding {
    bool enabled;
    uint32_t left, right;  // bytes
    uint32_t element;      // bytes
    uint64_t value;
    bool compact = false;  // pieces lie side by side on chip, and only the last one is filled up to a block
};
void copyInPadded(const LocalView &to, const void *from, uint64_t count, uint64_t length, int64_t srcGap, int64_t dstGap,
                  const Padding &padding);
void copyOutPadded(void *to, const LocalView &from, uint64_t count, uint64_t length, int64_t srcGap, int64_t dstGap, DType type,
                   bool compact = false);

// Rows of an ND matrix into fractals: an element is `element` bytes, a C0 block 32 bytes.
struct NdToNz {
    uint32_t matrices, rows, columns, element;
    uint64_t srcMatrix, srcRow;  // elements
    uint32_t dstC0, dstRow;      // blocks of 32 bytes
    uint64_t dstMatrix;          // elements
};
void copyNdToNz(const LocalView &to, const void *from, const NdToNz &shape);

template <class T> uint64_t rawBits(T value) {
    uint64_t bits = 0;
    static_assert(sizeof(T) <= sizeof(bits));
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

}  // namespace skhost

namespace AscendC {

template <class T> inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count) {
    const uint64_t bytes = skhost::bytesOf<T>(count);
    skhost::checkBlocks(count, bytes, "DataCopy(GM->local)");
    skhost::copyIn(dst.view, src.address, {1, bytes, 0, 0}, "DataCopy(GM->local)");
}
template <class T> inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &params) {
    const int64_t length = params.blockLen * 32;
    skhost::copyIn(dst.view, src.address,
                   {params.blockCount, static_cast<uint64_t>(length), length + params.srcGap * 32, length + params.dstGap * 32},
                   "DataCopy(GM->local)");
}
template <class T> inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count) {
    const uint64_t bytes = skhost::bytesOf<T>(count);
    skhost::checkBlocks(count, bytes, "DataCopy(local->GM)");
    skhost::copyOut(dst.address, src.view, {1, bytes, 0, 0}, skhost::dtypeOf<T>(), "DataCopy(local->GM)");
}
template <class T> inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params) {
    const int64_t length = params.blockLen * 32;
    skhost::copyOut(dst.address, src.view,
                    {params.blockCount, static_cast<uint64_t>(length), length + params.dstGap * 32, length + params.srcGap * 32},
                    skhost::dtypeOf<T>(), "DataCopy(local->GM)");
}
template <class T> inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count) {
    const uint64_t bytes = skhost::bytesOf<T>(count);
    skhost::checkBlocks(count, bytes, "DataCopy(local->local)");
    skhost::copyLocal(dst.view, src.view, 1, bytes / 32, 0, 0, skhost::dtypeOf<T>());
}
template <class T> inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params) {
    skhost::copyLocal(dst.view, src.view, params.blockCount, params.blockLen, params.srcGap, params.dstGap, skhost::dtypeOf<T>());
}
template <class T> inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &params) {
    skhost::copyNdToNz(dst.view, src.address,
                       {params.ndNum, params.nValue, params.dValue, sizeof(T), params.srcNdMatrixStride, params.srcDValue,
                        params.dstNzC0Stride, params.dstNzNStride, params.dstNzMatrixStride});
}

template <class T> inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &params,
                                           const DataCopyPadExtParams<skhost::Plain<T>> &pad) {
    skhost::copyInPadded(dst.view, src.address, params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                         {pad.isPad, static_cast<uint32_t>(pad.leftPadding * sizeof(T)),
                          static_cast<uint32_t>(pad.rightPadding * sizeof(T)), sizeof(T), skhost::rawBits(pad.paddingValue)});
}
template <class T> inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &params,
                                           const DataCopyPadParams &pad) {
    skhost::copyInPadded(dst.view, src.address, params.blockCount, params.blockLen, params.srcGap, params.dstGap,
                         {pad.isPad, static_cast<uint32_t>(pad.leftPadding * sizeof(T)),
                          static_cast<uint32_t>(pad.rightPadding * sizeof(T)), sizeof(T), pad.paddingValue});
}
template <class T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &params) {
    skhost::copyOutPadded(dst.address, src.view, params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                          skhost::dtypeOf<T>());
}
template <class T> inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params) {
    skhost::copyOutPadded(dst.address, src.view, params.blockCount, params.blockLen, params.srcGap, params.dstGap,
                          skhost::dtypeOf<T>());
}

// With a mode. Only for kernels: the runtime library has no arch.
#ifdef __NPU_ARCH__
template <class T, PaddingMode mode> inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                                                             const DataCopyExtParams &params,
                                                             const DataCopyPadExtParams<skhost::Plain<T>> &pad) {
    static_assert(__NPU_ARCH__ == 3510 || skhost::kNever<T>, "DataCopyPad with a PaddingMode needs dav-3510");
    if constexpr (mode == PaddingMode::Normal) return DataCopyPad(dst, src, params, pad);
    skhost::copyInPadded(dst.view, src.address, params.blockCount, params.blockLen, params.srcStride, 0,
                         {pad.isPad, 0, 0, sizeof(T), skhost::rawBits(pad.paddingValue), true});
}
template <class T, PaddingMode mode>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &params) {
    static_assert(__NPU_ARCH__ == 3510 || skhost::kNever<T>, "DataCopyPad with a PaddingMode needs dav-3510");
    if constexpr (mode == PaddingMode::Normal) return DataCopyPad(dst, src, params);
    skhost::copyOutPadded(dst.address, src.view, params.blockCount, params.blockLen, 0, params.dstStride, skhost::dtypeOf<T>(),
                          true);
}
#endif

}  // namespace AscendC
