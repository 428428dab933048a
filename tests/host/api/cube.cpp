// One tile through the cube unit: GM -> L1 -> L0 -> L0C -> GM.
#include "harness.h"

using namespace AscendC;

constexpr uint32_t kRows = 16;
uint32_t up(uint32_t size, uint32_t to) { return (size + to - 1) / to; }

template <HardEvent event> void hand() {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
}

// A [m, k] and B [k, n] from GM into L0A and L0B.
template <class T> void loadOperands(const LocalTensor<T> &a2, const LocalTensor<T> &b2, GM_ADDR a, GM_ADDR b, const Options &o) {
    constexpr uint32_t c0 = 32 / sizeof(T);
    const uint16_t m = o.m, n = o.n, k = o.k;
    const uint16_t mBlocks = up(m, kRows), nBlocks = up(n, kRows), kBlocks = up(k, c0);
    LocalMemAllocator<Hardware::L1> l1;
    const auto a1 = l1.Alloc<TPosition::A1, T>(mBlocks * kRows * kBlocks * c0);
    const uint32_t square = c0 > kRows ? c0 : kRows;
    const uint16_t bRows = up(k, square) * square, bColumns = up(n, square) * square;
    const auto b1 = l1.Alloc<TPosition::B1, T>(bRows * bColumns);
    DataCopy(a1, global<T>(a), Nd2NzParams(1, m, k, 0, k, mBlocks * kRows, 1, 0));
    DataCopy(b1, global<T>(b), Nd2NzParams(1, k, n, 0, n, bRows, 1, 0));
    hand<HardEvent::MTE2_MTE1>();
    if (m == 1) {  // GEMV: the row as it is
        DataCopy(a1, global<T>(a), kBlocks * c0);
        hand<HardEvent::MTE2_MTE1>();
        LoadData(a2, a1, LoadData2DParams(0, up(kBlocks * 32, 512), 1, 0, 0, false, 0));
#if __NPU_ARCH__ == 3510
    } else {
        LoadData(a2, a1, LoadData2DParamsV2(0, 0, mBlocks, kBlocks, mBlocks, mBlocks, false, 0));
#else
    } else {
        for (uint32_t i = 0; i < mBlocks; ++i)
            LoadData(a2[i * kBlocks * kRows * c0], a1[i * kRows * c0], LoadData2DParams(0, kBlocks, mBlocks, 0, 0, false, 0));
#endif
    }
    if constexpr (sizeof(T) == 2) {
        for (uint32_t i = 0; i < kBlocks; ++i)
            LoadData(b2[i * nBlocks * 256], b1[i * 256], LoadData2DParams(0, nBlocks, bRows / 16, 0, 0, true, 0));
    } else {
        // Squares of 32 x 32 (one byte) or 16 x 16 (four bytes), one row of squares at a time.
        const uint16_t squares = bColumns / square, deep = bRows / square;
        for (uint32_t i = 0; i < deep; ++i)
            if constexpr (sizeof(T) == 1)  // a square gives two fractals side by side in N
                LoadDataWithTranspose(b2[i * squares * 1024], b1[i * 1024], LoadData2dTransposeParams(0, squares, deep, 1, 0));
            else  // and here two fractals, one under the other in K
                for (uint32_t j = 0; j < squares; ++j) {
                    const auto square4 = b1[j * bRows * 16 + i * 128];
                    const auto room = l1.Alloc<TPosition::B1, T>(256);
                    DataCopy(room, square4, DataCopyParams(1, 16, 0, 0));
                    DataCopy(room[128], square4[bRows * 8], DataCopyParams(1, 16, 0, 0));
                    LoadDataWithTranspose(b2[i * 2 * nBlocks * 128 + j * 128], room,
                                          LoadData2dTransposeParams(0, 1, 0, 0, nBlocks - 1));
                }
    }
    hand<HardEvent::MTE1_M>();
}

template <class T, class C> LocalTensor<C> product(GM_ADDR a, GM_ADDR b, GM_ADDR bias, const Options &o) {
    LocalMemAllocator<Hardware::L0A> l0a;
    LocalMemAllocator<Hardware::L0B> l0b;
    LocalMemAllocator<Hardware::L0C> l0c;
    const auto a2 = l0a.Alloc<T>(32 * 1024 / sizeof(T)), b2 = l0b.Alloc<T>(32 * 1024 / sizeof(T));
    const auto c = l0c.Alloc<C>(64 * 1024 / sizeof(C));
    loadOperands(a2, b2, a, b, o);
    MmadParams params(o.m, o.n, o.k, 0, false, true);
    if (o.op == 2) {
        const LocalTensor<C> inL1(TPosition::C1, 400 * 1024, 256), inTable(TPosition::C2, 0, 128);
        DataCopy(inL1, global<C>(bias), up(o.n, 8) * 8);
        hand<HardEvent::MTE2_MTE1>();
        const uint16_t blocks = up(o.n * sizeof(C), __NPU_ARCH__ == 2201 ? 64 : 32);
        DataCopy(inTable, inL1, DataCopyParams(1, blocks, 0, 0));
        hand<HardEvent::MTE1_M>();
        Mmad(c, a2, b2, inTable, params);
    } else {
        Mmad(c, a2, b2, params);
    }
    if (o.op == 1) {  // once more on top
        params.cmatrixInitVal = false;
        PipeBarrier<PIPE_M>();
        Mmad(c, a2, b2, params);
    }
    hand<HardEvent::M_FIX>();
    return c;
}

template <class T, class C, class D> void multiply(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR d, Options o) {
    InitSocState();
    const auto c = product<T, C>(a, b, bias, o);
    FixpipeParamsV220 params(o.n, o.m, up(o.m, kRows) * kRows, o.n, o.extra != 0);
    params.quantPre = static_cast<QuantMode_t>(o.mode);
    uint32_t factor;
    std::memcpy(&factor, &o.scalar, sizeof(factor));
    params.deqScalar = factor;
    if (o.form == 0)
        Fixpipe(global<D>(d), c, params);
    else {
        params.dstStride = o.m * 16 * sizeof(D) / 32;
        Fixpipe<D, C, CFG_NZ>(global<D>(d), c, params);
    }
}

#if __NPU_ARCH__ == 3510
void newParams(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR d, Options o) {
    const auto c = product<half, float>(a, b, bias, o);
    if (o.form == 0) {
        FixpipeParamsArch3510<CO2Layout::ROW_MAJOR> params(o.n, o.m, up(o.m, kRows) * kRows, o.n);
        Fixpipe<float, float, CFG_ROW_MAJOR>(global<float>(d), c, params);
    } else {
        FixpipeParamsArch3510<CO2Layout::NZ> params(o.n, o.m, up(o.m, kRows) * kRows, o.m * 16);
        Fixpipe<float, float, CFG_NZ>(global<float>(d), c, params);
    }
}
#else
void newParams(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, Options) {}
#endif

// Wrong uses, by number.
void wrong(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR d, Options o) {
    const LocalTensor<half> a1(TPosition::A1, 0, 256), a2(TPosition::A2, 0, 256), b2(TPosition::B2, 0, 256);
    const LocalTensor<float> c(TPosition::CO1, 0, 256), ub(TPosition::VECCALC, 0, 256);
    const MmadParams params(16, 16, 16, 0, false, true);
    if (o.op == 0) Mmad(c, a2, a2, params);
    if (o.op == 1) Mmad(c, a2[16], b2, params);
    if (o.op == 2) LoadData(a2, a2, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    if (o.op == 3) LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    if (o.op == 4) Add(ub, ub, ub, 64);
    if (o.op == 5) Fixpipe(global<half>(d), c, FixpipeParamsV220(16, 16, 16, 16, false));
    if (o.op == 6) Fixpipe(global<float>(d), c, FixpipeParamsV220(16, 16, 16, 64, false));
    if (o.op == 7) Fixpipe(global<float>(d), c, FixpipeParamsV220(16, 32, 32, 16, false));
    if (o.op == 8) DataCopy(a2, global<half>(a), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
    if (o.op == 9) Mmad(c, a2, b2, MmadParams(32, 16, 16, 0, false, true));
    (void)b;
}

const Entry kEntries[] = {
    {"half_float", 1, 0, multiply<half, float, float>},
    {"half_half", 1, 0, multiply<half, float, half>},
    {"bf16_bf16", 1, 0, multiply<bfloat16_t, float, bfloat16_t>},
    {"half_int8", 1, 0, multiply<half, float, int8_t>},
    {"int8_int32", 1, 0, multiply<int8_t, int32_t, int32_t>},
    {"int8_half", 1, 0, multiply<int8_t, int32_t, half>},
    {"float_float", 1, 0, multiply<float, float, float>},
    {"new_params", 1, 0, newParams},
    {"wrong", 1, 0, wrong},
};
const int kEntryCount = sizeof(kEntries) / sizeof(kEntries[0]);
