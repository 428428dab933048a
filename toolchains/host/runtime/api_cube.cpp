// The cube unit. Layouts: L1 holds NZ; L0A holds Zz on dav-2201 and Nz on dav-3510; L0B holds Zn; L0C holds NZ.
#pragma GCC optimize("O2", "tree-vectorize", "wrapv")

#include <cstring>
#include <vector>

#include "api_number.h"
#include "skrules_host/api/cube_engine.h"

namespace skhost {
namespace {

constexpr uint32_t kFractal = 512;  // bytes; 16 rows of 32 bytes
constexpr uint32_t kL0 = in(Memory::L0A) | in(Memory::L0B);

uint32_t blocks(uint32_t size, uint32_t block) { return (size + block - 1) / block; }

Use loadUse(const char *api, bool write) {
    return {api, write ? "dst" : "src", PIPE_MTE1, write, write ? 512u : 32u, write ? kL0 : in(Memory::L1)};
}

// Rows and columns of one square fractal (16 x 16 elements of two bytes) change places.
void turnFractal(uint8_t *to, const uint8_t *from) {
    for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t column = 0; column < 16; ++column)
            std::memcpy(to + (column * 16 + row) * 2, from + (row * 16 + column) * 2, 2);
}

void loadFractal(const LocalView &dst, uint64_t to, const LocalView &src, uint64_t from, bool transpose, uint32_t elementBytes,
                 const char *api) {
    if (transpose && elementBytes != 2) fail("%s: ifTranspose is emulated for elements of 2 bytes, not of %u", api, elementBytes);
    const uint8_t *source = reach(src, from * kFractal, kFractal, loadUse(api, false));
    uint8_t *target = reach(dst, to * kFractal, kFractal, loadUse(api, true));
    if (transpose)
        turnFractal(target, source);
    else
        std::memcpy(target, source, kFractal);
}

// The elements of an operand as numbers that accumulate: float, or int32_t for integer products.
template <class T, class L> void take(L *to, const uint8_t *from, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, from + i * sizeof(T), sizeof(T));
        to[i] = static_cast<L>(static_cast<typename Lane<T>::Type>(value));
    }
}
template <class L> void takeTyped(L *to, DType type, const uint8_t *from, size_t count) {
    if (type == DType::HALF) {
        if constexpr (std::is_same_v<L, float>) return halfToFloat(to, reinterpret_cast<const half *>(from), count);
    }
    withNumber(type, [&](auto zero) { take<decltype(zero)>(to, from, count); });
}

// Row-major B from Zn: fractals of 16 columns x c0 rows, in rows of fractals.
template <class L> std::vector<L> unpackB(const MatrixProduct &p, const uint8_t *b, uint32_t c0, uint32_t columns) {
    const uint32_t bytes = elementBits(p.bType) / 8, n1 = columns / 16;
    std::vector<L> rows(static_cast<size_t>(p.k) * columns), line(c0);
    for (uint32_t k0 = 0; k0 < p.k; k0 += c0)
        for (uint32_t n = 0; n < columns; ++n) {
            takeTyped(line.data(), p.bType, b + ((static_cast<size_t>(k0 / c0) * n1 + n / 16) * 16 + n % 16) * c0 * bytes, c0);
            for (uint32_t i = 0; i < c0 && k0 + i < p.k; ++i) rows[static_cast<size_t>(k0 + i) * columns + n] = line[i];
        }
    return rows;
}

// Where element (m, k) of A begins a run of up to c0 elements.
size_t rowOfA(const MatrixProduct &p, uint32_t m, uint32_t k, uint32_t c0, uint32_t m1, uint32_t k1) {
    if (p.vector) return k;
    const size_t fractal =
        self().arch == 3510 ? static_cast<size_t>(k / c0) * m1 + m / 16 : static_cast<size_t>(m / 16) * k1 + k / c0;
    return (fractal * 16 + m % 16) * c0;
}

template <class C> void multiplyAs(const MatrixProduct &p, const uint8_t *a, const uint8_t *b, const uint8_t *bias, uint8_t *c) {
    using L = std::conditional_t<std::is_integral_v<C>, int32_t, float>;
    const uint32_t bytes = elementBits(p.aType) / 8, c0 = 32 / bytes;
    const uint32_t m1 = blocks(p.m, 16), columns = blocks(p.n, 16) * 16;
    const uint32_t k1 = p.alignK && bytes == 4 ? blocks(p.k, 16) * 2 : blocks(p.k, c0);
    const std::vector<L> right = unpackB<L>(p, b, c0, columns);
    std::vector<L> row(columns), left(c0);
    for (uint32_t m = 0; m < p.m; ++m) {
        const auto cell = [&](uint32_t n) { return c + ((static_cast<size_t>(n / 16) * m1 * 16 + m) * 16 + n % 16) * sizeof(C); };
        if (p.start == Start::ZERO)
            row.assign(columns, L(0));
        else if (p.start == Start::BIAS)
            takeTyped(row.data(), p.biasType, bias, p.n);
        else
            for (uint32_t n = 0; n < p.n; ++n) take<C>(&row[n], cell(n), 1);
        for (uint32_t k0 = 0; k0 < p.k; k0 += c0) {
            takeTyped(left.data(), p.aType, a + rowOfA(p, m, k0, c0, m1, k1) * bytes, c0);
            for (uint32_t i = 0; i < c0 && k0 + i < p.k; ++i) {
                const L x = left[i];
                const L *line = &right[static_cast<size_t>(k0 + i) * columns];
                L *sum = row.data();
                for (uint32_t n = 0; n < columns; ++n) sum[n] += x * line[n];
            }
        }
        for (uint32_t n = 0; n < p.n; ++n) {
            const C value = static_cast<C>(row[n]);
            std::memcpy(cell(n), &value, sizeof(C));
        }
    }
}

// Types of a product: A and B, C, and the bias that may start it.
struct ProductTypes {
    DType operands, c;
};
constexpr ProductTypes kProducts[] = {
    {DType::HALF, DType::FLOAT}, {DType::BFLOAT16, DType::FLOAT}, {DType::FLOAT, DType::FLOAT}, {DType::INT8, DType::INT32}};

// The conversions of Fixpipe: what goes in, what comes out, which factor is used.
enum class Factor : uint8_t { NONE, SCALAR, VECTOR };
struct QuantRow {
    QuantMode_t mode;
    DType src;
    uint32_t dst;
    Factor factor;
    const char *name;
};
constexpr uint32_t k8 = bit(DType::INT8) | bit(DType::UINT8);
constexpr QuantRow kQuants[] = {
    {NoQuant, DType::FLOAT, bit(DType::FLOAT), Factor::NONE, "NoQuant"},
    {NoQuant, DType::INT32, bit(DType::INT32), Factor::NONE, "NoQuant"},
    {F322F16, DType::FLOAT, bit(DType::HALF), Factor::NONE, "F322F16"},
    {F322BF16, DType::FLOAT, bit(DType::BFLOAT16), Factor::NONE, "F322BF16"},
    {DEQF16, DType::INT32, bit(DType::HALF), Factor::SCALAR, "DEQF16"},
    {VDEQF16, DType::INT32, bit(DType::HALF), Factor::VECTOR, "VDEQF16"},
    {QF322B8_PRE, DType::FLOAT, k8, Factor::SCALAR, "QF322B8_PRE"},
    {VQF322B8_PRE, DType::FLOAT, k8, Factor::VECTOR, "VQF322B8_PRE"},
    {REQ8, DType::INT32, k8, Factor::SCALAR, "REQ8"},
    {VREQ8, DType::INT32, k8, Factor::VECTOR, "VREQ8"},
};

// Whether a row of the table leads from S to T.
template <class S, class T> constexpr bool converts() {
    for (const QuantRow &row : kQuants)
        if (row.src == dtypeOf<S>() && row.dst & bit(dtypeOf<T>())) return true;
    return false;
}

const QuantRow &quantOf(const FixpipeMove &move) {
    const char *name = "?";
    for (const QuantRow &row : kQuants) {
        if (row.mode != move.quant) continue;
        name = row.name;
        if (row.src == move.srcType && row.dst & bit(move.dstType)) return row;
    }
    fail("%s: quantPre %s does not convert %s to %s", move.api, name, typeName(move.srcType), typeName(move.dstType));
}

// The factor of a quantisation: a float of which the hardware keeps 10 bits of mantissa, and an offset of 9 bits.
struct Scale {
    float factor;
    int offset;
};
Scale scaleOf(uint64_t word) {
    const uint32_t bits = static_cast<uint32_t>(word) & 0xffffe000u;
    Scale scale;
    std::memcpy(&scale.factor, &bits, sizeof(bits));
    scale.offset = static_cast<int>(word >> 37 & 0x1ff);
    if (scale.offset >= 256) scale.offset -= 512;
    return scale;
}

template <class T> T saturated(double value) {
    const double whole = std::nearbyint(value);
    constexpr double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return std::isnan(whole) ? T(0) : static_cast<T>(whole < low ? low : whole > high ? high : whole);
}

// One element of C as it leaves the pipe, in the bytes of its new type.
template <class S, class T> T converted(S value, const Scale &scale, Factor factor, bool relu) {
    if constexpr (std::is_same_v<S, T>)
        return relu ? rectified(value) : value;
    else {
        double x = static_cast<double>(value);
        if (factor != Factor::NONE) x = x * static_cast<double>(scale.factor);
        if (relu) x = x > 0 ? x : 0;
        if constexpr (std::is_integral_v<T>)
            return saturated<T>(x + (factor == Factor::NONE ? 0 : scale.offset));
        else
            return static_cast<T>(static_cast<float>(x));
    }
}

template <class T> void combine(uint8_t *to, T value) {
    const int atomic = self().atomicOp;
    if (atomic) {
        using L = typename Lane<T>::Type;
        T old;
        std::memcpy(&old, to, sizeof(T));
        const L a = static_cast<L>(old), b = static_cast<L>(value);
        value = static_cast<T>(atomic == 1 ? static_cast<L>(a + b) : atomic == 2 ? larger(a, b) : smaller(a, b));
    }
    std::memcpy(to, &value, sizeof(T));
}

template <class S, class T> void moveAs(const FixpipeMove &move, const QuantRow &quant) {
    const uint32_t width = move.rows ? 16 : sizeof(T) == 1 ? 32 : move.split ? 8 : 16;  // columns of a block of the destination
    for (uint32_t matrix = 0; matrix < move.matrices; ++matrix)
        for (uint32_t n0 = 0; n0 < move.n; n0 += width) {
            const uint32_t columns = smaller(width, move.n - n0);
            for (uint32_t m = 0; m < move.m; ++m) {
                const uint64_t to = move.rows
                                        ? (uint64_t{matrix} * move.dstMatrix + uint64_t{m} * move.dstStride + n0) * sizeof(T)
                                        : uint64_t{n0 / width} * move.dstStride + uint64_t{m} * width * sizeof(T);
                const uint8_t *runs[2] = {};  // the 16 columns of a block of L0C lie side by side
                for (uint32_t i = 0; i < columns; i += 16) {
                    const uint64_t from = uint64_t{matrix} * move.srcMatrix * 256 +
                                          (uint64_t{(n0 + i) / 16} * move.srcStride + m) * 16 + (n0 + i) % 16;
                    runs[i / 16] = reach(move.src, from * sizeof(S), smaller(16u, columns - i) * sizeof(S),
                                         {move.api, "src", PIPE_FIX, false, sizeof(S), in(Memory::L0C)});
                }
                uint8_t *target = static_cast<uint8_t *>(move.global) + to;
                if (move.global)
                    checkGlobal(target, columns * sizeof(T), move.api, "dst");
                else
                    target = reach(move.local, to, columns * sizeof(T), {move.api, "dst", PIPE_FIX, true, 1, in(Memory::L1)});
                for (uint32_t i = 0; i < columns; ++i) {
                    S value;
                    std::memcpy(&value, runs[i / 16] + i % 16 * sizeof(S), sizeof(S));
                    uint64_t word = move.scalar;
                    if (quant.factor == Factor::VECTOR)
                        std::memcpy(&word,
                                    reach(*move.scales, uint64_t{n0 + i} * 8, 8,
                                          {move.api, "cbufWorkspace", PIPE_FIX, false, 8, in(Memory::L1) | in(Memory::FB)}),
                                    8);
                    combine(target + i * sizeof(T), converted<S, T>(value, scaleOf(word), quant.factor, move.relu));
                }
            }
        }
}

}  // namespace

void loadFractals(const LocalView &dst, const LocalView &src, const FractalLoad &load, uint32_t elementBytes) {
    issue(PIPE_MTE1);
    for (uint32_t r = 0; r < load.repeats; ++r)
        loadFractal(dst, uint64_t{r} * (1 + load.gap), src, load.start + uint64_t{r} * load.stride, load.transpose, elementBytes,
                    "LoadData(2D)");
}

void loadGrid(const LocalView &dst, const LocalView &src, const GridLoad &load, uint32_t elementBytes) {
    issue(PIPE_MTE1);
    for (uint32_t k = 0; k < load.kStep; ++k)
        for (uint32_t m = 0; m < load.mStep; ++m) {
            const int64_t from = (int64_t{load.kStart} + k) * load.srcStride + load.mStart + m;
            if (from < 0)
                fail("LoadData(2Dv2): srcStride %lld leads before the start of src", static_cast<long long>(load.srcStride));
            const uint64_t to = load.transpose ? uint64_t{m} * load.dstStride + k : uint64_t{k} * load.dstStride + m;
            loadFractal(dst, to, src, static_cast<uint64_t>(from), load.transpose, elementBytes, "LoadData(2Dv2)");
        }
}

void loadTransposed(const LocalView &dst, const LocalView &src, const TransposedLoad &load, uint32_t elementBytes) {
    const char *api = "LoadDataWithTranspose";
    if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4)
        fail("%s: elements of %u bytes are not emulated", api, elementBytes);
    issue(PIPE_MTE1);
    const uint32_t side = elementBytes == 1 ? 32 : 16, c0 = 32 / elementBytes, fractals = elementBytes == 2 ? 1 : 2;
    for (uint32_t r = 0; r < load.repeats; ++r) {
        const uint64_t from = (load.start + uint64_t{r} * load.stride) * fractals * kFractal;
        const uint64_t to = uint64_t{r} * (1 + load.gap) * kFractal, next = uint64_t{1 + load.fractalGap} * kFractal;
        const uint8_t *source = reach(src, from, fractals * kFractal, loadUse(api, false));
        uint8_t *targets[2] = {};
        for (uint32_t f = 0; f < fractals; ++f) targets[f] = reach(dst, to + f * next, kFractal, loadUse(api, true));
        for (uint32_t row = 0; row < side; ++row)
            for (uint32_t column = 0; column < side; ++column) {
                // One byte: fractals under one another, each 16 x 32. Four bytes: beside one another, each 16 x 8.
                const uint64_t at = elementBytes == 4 ? (column / 8) * 128 + row * 8 + column % 8 : row * c0 + column;
                const uint64_t place = elementBytes == 4 ? column * 8 + row % 8 : (column % 16) * c0 + row;
                uint8_t *target = targets[elementBytes == 4 ? row / 8 : elementBytes == 1 ? column / 16 : 0];
                std::memcpy(target + place * elementBytes, source + at * elementBytes, elementBytes);
            }
    }
}

void multiply(const MatrixProduct &p) {
    issue(PIPE_M);
    bool known = false;
    for (const ProductTypes &types : kProducts)
        known = known || (types.operands == p.aType && p.aType == p.bType && types.c == p.cType);
    if (!known) fail("Mmad: %s x %s to %s is not supported", typeName(p.aType), typeName(p.bType), typeName(p.cType));
    if (!p.m || !p.n || !p.k) {
        warn("Mmad: m=%u, n=%u, k=%u computes nothing", p.m, p.n, p.k);
        return;
    }
    const uint32_t bytes = elementBits(p.aType) / 8, c0 = 32 / bytes, m1 = blocks(p.m, 16), n1 = blocks(p.n, 16);
    const uint32_t k1 = p.alignK && bytes == 4 ? blocks(p.k, 16) * 2 : blocks(p.k, c0);
    const uint64_t aBytes = p.vector ? uint64_t{blocks(p.k, c0)} * 32 : uint64_t{m1} * k1 * kFractal;
    const uint8_t *a = reach(p.a, 0, aBytes, {"Mmad", "fm (A)", PIPE_M, false, 512, in(Memory::L0A)});
    const uint8_t *b =
        reach(p.b, 0, uint64_t{blocks(p.k, c0)} * n1 * kFractal, {"Mmad", "filter (B)", PIPE_M, false, 512, in(Memory::L0B)});
    uint8_t *c = reach(p.c, 0, uint64_t{m1} * n1 * 256 * 4, {"Mmad", "dst (C)", PIPE_M, true, 64, in(Memory::L0C)});
    const uint8_t *bias = nullptr;
    if (p.start == Start::BIAS)
        bias = reach(p.bias, 0, uint64_t{p.n} * elementBits(p.biasType) / 8,
                     {"Mmad", "bias", PIPE_M, false, 32, in(Memory::BT) | in(Memory::L0C)});
    if (p.cType == DType::INT32)
        multiplyAs<int32_t>(p, a, b, bias, c);
    else
        multiplyAs<float>(p, a, b, bias, c);
}

void fixpipe(const FixpipeMove &move) {
    issue(PIPE_FIX);
    const QuantRow &quant = quantOf(move);
    if ((quant.factor == Factor::VECTOR) != (move.scales != nullptr))
        fail("%s: quantPre %s %s a tensor of factors", move.api, quant.name, move.scales ? "takes no" : "needs");
    if (!move.m || !move.n || !move.matrices) {
        warn("%s: mSize=%u, nSize=%u, ndNum=%u moves nothing", move.api, move.m, move.n, move.matrices);
        return;
    }
    if (!move.dstStride) fail("%s: dstStride is 0", move.api);
    if (move.srcStride < move.m) fail("%s: srcStride %u is less than mSize %u", move.api, move.srcStride, move.m);
    if (!move.global) reach(move.local, 0, 0, {move.api, "dst", PIPE_FIX, true, 32, in(Memory::L1)});
    withNumber(move.dstType, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (converts<int32_t, T>())
            if (move.srcType == DType::INT32) return moveAs<int32_t, T>(move, quant);
        if constexpr (converts<float, T>()) moveAs<float, T>(move, quant);
    });
}

}  // namespace skhost
