// Parameter structs of data movement and vector instructions. Fields, defaults and the order of constructor arguments are
// those of the API documentation.
#pragma once

#include <cstdint>

#include "skrules_host/api/types.h"

namespace AscendC {

struct BinaryRepeatParams {
    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dstBlock, uint8_t src0Block, uint8_t src1Block, uint8_t dstRepeat, uint8_t src0Repeat,
                       uint8_t src1Repeat)
        : dstBlkStride(dstBlock),
          src0BlkStride(src0Block),
          src1BlkStride(src1Block),
          dstRepStride(dstRepeat),
          src0RepStride(src0Repeat),
          src1RepStride(src1Repeat) {}
    uint32_t blockNumber = 8;
    uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
    uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
    bool repeatStrideMode = false, strideSizeMode = false;
};

struct UnaryRepeatParams {
    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dstBlock, uint16_t srcBlock, uint8_t dstRepeat, uint8_t srcRepeat, bool half = false)
        : dstBlkStride(dstBlock), srcBlkStride(srcBlock), dstRepStride(dstRepeat), srcRepStride(srcRepeat), halfBlock(half) {}
    uint32_t blockNumber = 8;
    uint16_t dstBlkStride = 1, srcBlkStride = 1;
    uint8_t dstRepStride = 8, srcRepStride = 8;
    bool repeatStrideMode = false, strideSizeMode = false, halfBlock = false;
};

struct CopyRepeatParams {
    CopyRepeatParams() = default;
    CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dstRepeat, uint16_t srcRepeat)
        : dstStride(dst), srcStride(src), dstRepeatSize(dstRepeat), srcRepeatSize(srcRepeat) {}
    uint16_t dstStride = 1, srcStride = 1, dstRepeatSize = 8, srcRepeatSize = 8;
};

struct BrcbRepeatParams {
    BrcbRepeatParams() = default;
    BrcbRepeatParams(uint16_t dstBlock, uint16_t dstRepeat) : dstBlkStride(dstBlock), dstRepStride(dstRepeat) {}
    uint32_t blockNumber = 8;
    uint16_t dstBlkStride = 1, dstRepStride = 8;
};

struct GatherRepeatParams {
    GatherRepeatParams() = default;
    GatherRepeatParams(uint8_t dstBlock, uint8_t dstRepeat) : dstRepStride(dstRepeat), dstBlkStride(dstBlock) {}
    uint32_t blockNumber = 8;
    uint16_t dstRepStride = 8;
    uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
    uint8_t src0RepStride = 8, src1RepStride = 8;
    bool repeatStrideMode = false, strideSizeMode = false;
};

struct GatherMaskParams {
    GatherMaskParams() = default;
    GatherMaskParams(uint8_t block, uint16_t repeats, uint16_t src0Repeat, uint8_t src1Repeat)
        : src0BlockStride(block), repeatTimes(repeats), src0RepeatStride(src0Repeat), src1RepeatStride(src1Repeat) {}
    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 0, src0RepeatStride = 8;
    uint8_t src1RepeatStride = 8;
};

struct DataCopyParams {
    DataCopyParams() : srcGap(0), dstGap(0) {}
    DataCopyParams(uint16_t count, uint16_t length, uint16_t src, uint16_t dst)
        : blockCount(count), blockLen(length), srcGap(src), dstGap(dst) {}
    uint16_t blockCount = 1, blockLen = 0;
    union {
        uint16_t srcGap, srcStride;
    };
    union {
        uint16_t dstGap, dstStride;
    };
};

struct DataCopyExtParams {
    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, int64_t src, int64_t dst, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(src), dstStride(dst), rsv(reserved) {}
    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    int64_t srcStride = 0, dstStride = 0;
    uint32_t rsv = 0;
};

struct DataCopyPadParams {
    DataCopyPadParams() = default;
    DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <class T> struct DataCopyPadExtParams {
    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0;
    T paddingValue = T(0);
};

struct Nd2NzParams {
    Nd2NzParams() = default;
    Nd2NzParams(uint16_t count, uint16_t rows, uint32_t columns, uint64_t srcMatrix, uint64_t srcRow, uint16_t dstC0,
                uint16_t dstRow, uint32_t dstMatrix)
        : ndNum(count),
          nValue(rows),
          dValue(columns),
          srcNdMatrixStride(srcMatrix),
          srcDValue(srcRow),
          dstNzC0Stride(dstC0),
          dstNzNStride(dstRow),
          dstNzMatrixStride(dstMatrix) {}
    uint16_t ndNum = 0, nValue = 0;
    uint32_t dValue = 0;
    uint64_t srcNdMatrixStride = 0, srcDValue = 0;
    uint16_t dstNzC0Stride = 0, dstNzNStride = 0;
    uint32_t dstNzMatrixStride = 0;
};

}  // namespace AscendC
