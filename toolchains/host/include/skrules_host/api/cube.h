// The cube unit: LoadData, Mmad, Fixpipe.
#pragma once

#include "skrules_host/api/cube_engine.h"
#include "skrules_host/api/cube_params.h"
#include "skrules_host/api/tensor.h"

namespace skhost {

template <class T> constexpr bool readsVector(const T &params) {
#if __NPU_ARCH__ == 3510
    return params.m == 1 && !params.disableGemv;
#else
    return params.m == 1;
#endif
}

template <class T, class A, class B> MatrixProduct product(const AscendC::LocalTensor<T> &c, const AscendC::LocalTensor<A> &a,
                                                           const AscendC::LocalTensor<B> &b, const AscendC::MmadParams &p) {
    if (p.enSsparse || p.enWinogradA || p.enWinogradB || p.isBias || p.fmOffset)
        fail("Mmad: isBias, fmOffset, enSsparse and enWinogradA/B are deprecated and not emulated");
    const Start start = p.cmatrixInitVal ? Start::ZERO : p.cmatrixSource ? Start::BIAS : Start::HELD;
    return {c.view,
            a.view,
            b.view,
            dtypeOf<T>(),
            dtypeOf<A>(),
            dtypeOf<B>(),
            p.m,
            p.n,
            p.k,
            p.kDirectionAlign,
            readsVector(p),
            start,
            viewAt(AscendC::TPosition::C2, 0, 0),
            dtypeOf<T>()};
}

// The stride from one block column to the next: in units of 32 bytes before dav-3510, in elements since.
template <class T, class S> FixpipeMove fixpipeMove(const AscendC::LocalTensor<S> &src, const AscendC::FixpipeParamsV220 &p,
                                                    AscendC::CO2Layout format, const LocalView *scales) {
    const bool rows = format == AscendC::CO2Layout::ROW_MAJOR;
    return {"Fixpipe",
            nullptr,
            {},
            src.view,
            dtypeOf<T>(),
            dtypeOf<S>(),
            rows,
            p.isChannelSplit,
            p.reluEn,
            p.nSize,
            p.mSize,
            p.srcStride,
            rows ? uint64_t{p.dstStride} : uint64_t{p.dstStride} * 32,
            rows ? p.ndNum : 1u,
            p.srcNdStride,
            p.dstNdStride,
            p.quantPre,
            p.deqScalar,
            scales};
}
template <class T, class S, AscendC::CO2Layout layout>
FixpipeMove fixpipeMove(const AscendC::LocalTensor<S> &src, const AscendC::FixpipeParamsArch3510<layout> &p,
                        AscendC::CO2Layout format, const LocalView *scales) {
    if (format != layout) fail("Fixpipe: the parameters are for another layout than the config says");
    FixpipeMove move = {"Fixpipe",
                        nullptr,
                        {},
                        src.view,
                        dtypeOf<T>(),
                        dtypeOf<S>(),
                        layout == AscendC::CO2Layout::ROW_MAJOR,
                        p.isChannelSplit,
                        p.reluEn,
                        p.nSize,
                        p.mSize,
                        p.srcStride,
                        p.dstStride,
                        1,
                        0,
                        0,
                        p.quantPre,
                        p.deqScalar,
                        scales};
    if constexpr (layout == AscendC::CO2Layout::ROW_MAJOR) {
        move.matrices = p.params.ndNum;
        move.srcMatrix = p.params.srcNdStride;
        move.dstMatrix = p.params.dstNdStride;
    } else
        move.dstStride = p.dstStride * sizeof(T);
    return move;
}

}  // namespace skhost

namespace AscendC {

template <class T> inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &params) {
    skhost::loadFractals(dst.view, src.view,
                         {params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.ifTranspose}, sizeof(T));
}
template <class T> inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParamsV2 &params) {
    static_assert(__NPU_ARCH__ == 3510 || skhost::kNever<T>, "LoadData with LoadData2DParamsV2 needs dav-3510");
    skhost::loadGrid(dst.view, src.view,
                     {params.mStartPosition, params.kStartPosition, params.mStep, params.kStep, params.srcStride,
                      params.dstStride, params.ifTranspose},
                     sizeof(T));
}
template <class T>
inline void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2dTransposeParams &params) {
    skhost::loadTransposed(dst.view, src.view,
                           {params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.dstFracGap},
                           sizeof(T));
}

template <class T, class A, class B>
inline void Mmad(const LocalTensor<T> &dst, const LocalTensor<A> &fm, const LocalTensor<B> &filter, const MmadParams &params) {
    skhost::multiply(skhost::product(dst, fm, filter, params));
}
template <class T, class A, class B, class Bias> inline void Mmad(const LocalTensor<T> &dst, const LocalTensor<A> &fm,
                                                                  const LocalTensor<B> &filter, const LocalTensor<Bias> &bias,
                                                                  const MmadParams &params) {
    skhost::MatrixProduct product = skhost::product(dst, fm, filter, params);
    product.start = skhost::Start::BIAS;
    product.bias = bias.view;
    product.biasType = skhost::dtypeOf<Bias>();
    skhost::multiply(product);
}

// `Params` is FixpipeParamsV220 or FixpipeParamsArch3510<layout>.
template <class T, class S, const FixpipeConfig &config = CFG_ROW_MAJOR, class Params>
inline void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<S> &src, const Params &params) {
    skhost::FixpipeMove move = skhost::fixpipeMove<T>(src, params, config.format, nullptr);
    move.global = dst.address;
    skhost::fixpipe(move);
}
template <class T, class S, const FixpipeConfig &config = CFG_ROW_MAJOR, class Params>
inline void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<S> &src, const LocalTensor<uint64_t> &cbufWorkspace,
                    const Params &params) {
    skhost::FixpipeMove move = skhost::fixpipeMove<T>(src, params, config.format, &cbufWorkspace.view);
    move.global = dst.address;
    skhost::fixpipe(move);
}
template <class T, class S, const FixpipeConfig &config = CFG_ROW_MAJOR, class Params>
inline void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<S> &src, const Params &params) {
    static_assert(!config.isToUB, "Fixpipe from L0C to UB is not emulated by the host toolchain");
    skhost::FixpipeMove move = skhost::fixpipeMove<T>(src, params, config.format, nullptr);
    move.local = dst.view;
    skhost::fixpipe(move);
}

}  // namespace AscendC
