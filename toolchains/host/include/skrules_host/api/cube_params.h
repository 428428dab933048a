// Parameter structs of the cube instructions. Fields, defaults and the order of constructor arguments are those of the API
// documentation.
#pragma once

#include <cstdint>

#include "skrules_host/api/enums.h"

namespace AscendC {

struct LoadData2DParams {
    LoadData2DParams() = default;
    LoadData2DParams(uint16_t start, uint8_t repeats, uint16_t stride, uint8_t id, uint16_t gap, bool transpose, uint8_t mode)
        : startIndex(start),
          dstGap(gap),
          srcStride(stride),
          ifTranspose(transpose),
          repeatTimes(repeats),
          sid(id),
          addrMode(mode) {}
    uint16_t startIndex = 0, dstGap = 0, srcStride = 0;
    bool ifTranspose = false;
    uint8_t repeatTimes = 0, sid = 0, addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct LoadData2DParamsV2 {
    LoadData2DParamsV2() = default;
    LoadData2DParamsV2(uint32_t mStart, uint32_t kStart, uint16_t m, uint16_t k, int32_t src, uint16_t dst, bool transpose,
                       uint8_t id)
        : mStartPosition(mStart),
          kStartPosition(kStart),
          mStep(m),
          kStep(k),
          srcStride(src),
          dstStride(dst),
          ifTranspose(transpose),
          sid(id) {}
    uint32_t mStartPosition = 0, kStartPosition = 0;
    uint16_t mStep = 0, kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;
};

struct LoadData2dTransposeParams {
    LoadData2dTransposeParams() = default;
    LoadData2dTransposeParams(uint16_t start, uint8_t repeats, uint16_t stride, uint16_t gap, uint16_t fractalGap,
                              uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeats), srcStride(stride), dstGap(gap), dstFracGap(fractalGap), addrMode(mode) {}
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
    uint8_t addrMode = 0;
};

struct MmadParams {
    MmadParams() = default;
    MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, bool bias, int32_t offset, bool sparse, bool winogradA,
               bool winogradB)
        : m(rows),
          n(columns),
          k(depth),
          isBias(bias),
          fmOffset(offset),
          enSsparse(sparse),
          enWinogradA(winogradA),
          enWinogradB(winogradB) {}
    MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, uint8_t unit, bool source, bool initial)
        : m(rows), n(columns), k(depth), unitFlag(unit), cmatrixSource(source), cmatrixInitVal(initial) {}
    uint16_t m = 0, n = 0, k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false, enWinogradA = false, enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false, cmatrixSource = false, cmatrixInitVal = true;
#if __NPU_ARCH__ == 3510
    bool disableGemv = false;
#endif
};

struct FixpipeConfig {
    CO2Layout format;
    bool isToUB;
    constexpr FixpipeConfig(CO2Layout layout, bool toUb = false) : format(layout), isToUB(toUb) {}
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
    FixpipeParamsV220() = default;
    FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t src, uint32_t dst, bool relu)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), reluEn(relu) {}
    FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t src, uint32_t dst, bool relu, QuantMode_t quant, int64_t scalar,
                      uint16_t matrices, uint16_t srcMatrix, uint16_t dstMatrix, uint8_t unit, bool split = false)
        : nSize(n),
          mSize(m),
          srcStride(src),
          dstStride(dst),
          quantPre(quant),
          deqScalar(static_cast<uint64_t>(scalar)),
          ndNum(matrices),
          srcNdStride(srcMatrix),
          dstNdStride(dstMatrix),
          reluEn(relu),
          unitFlag(unit),
          isChannelSplit(split) {}
    uint16_t nSize = 0, mSize = 0, srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

struct Nz2NdParams {
    Nz2NdParams() = default;
    Nz2NdParams(uint16_t matrices, uint16_t srcMatrix, uint16_t dstMatrix)
        : ndNum(matrices), srcNdStride(srcMatrix), dstNdStride(dstMatrix) {}
    uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
};
template <CO2Layout format> struct TransformParams;
template <> struct TransformParams<CO2Layout::NZ> {
    using PARAMS = uint8_t;
};
template <> struct TransformParams<CO2Layout::ROW_MAJOR> {
    using PARAMS = Nz2NdParams;
};

template <CO2Layout format = CO2Layout::ROW_MAJOR> struct FixpipeParamsArch3510 {
    FixpipeParamsArch3510() = default;
    FixpipeParamsArch3510(uint16_t n, uint16_t m, uint16_t src, uint32_t dst)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst) {}
    uint16_t nSize = 0, mSize = 0, srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0, dualDstCtl = 0;
    bool subBlockId = false;
    typename TransformParams<format>::PARAMS params = {};
    bool isChannelSplit = false;
};
template <CO2Layout format = CO2Layout::ROW_MAJOR> using FixpipeParamsC310 = FixpipeParamsArch3510<format>;

}  // namespace AscendC
