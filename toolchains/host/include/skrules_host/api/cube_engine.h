// What the cube instructions ask of the runtime library.
#pragma once

#include "skrules_host/api/engine.h"

namespace skhost {

// Fractals of 512 bytes from L1 to L0A or L0B. `start`, `stride` and `gap` count fractals.
struct FractalLoad {
    uint32_t start, repeats, stride, gap;
    bool transpose;
};
void loadFractals(const LocalView &dst, const LocalView &src, const FractalLoad &load, uint32_t elementBytes);

// A grid of mStep x kStep fractals out of an NZ matrix.
struct GridLoad {
    uint32_t mStart, kStart, mStep, kStep;
    int64_t srcStride;
    uint32_t dstStride;
    bool transpose;
};
void loadGrid(const LocalView &dst, const LocalView &src, const GridLoad &load, uint32_t elementBytes);

// Square blocks, transposed on the way: 16 x 16 of two or four bytes, 32 x 32 of one.
struct TransposedLoad {
    uint32_t start, repeats, stride, gap, fractalGap;
};
void loadTransposed(const LocalView &dst, const LocalView &src, const TransposedLoad &load, uint32_t elementBytes);

// C (+)= A x B. Where C starts from: zero, what it holds, the bias row in `bias` or at the start of the bias table.
enum class Start : uint8_t { ZERO, HELD, BIAS };
struct MatrixProduct {
    LocalView c, a, b;
    DType cType, aType, bType;
    uint32_t m, n, k;
    bool alignK;  // k rounded up to 16 floats instead of 8
    bool vector;  // m == 1 reads A as one row (GEMV) unless disabled
    Start start;
    LocalView bias;
    DType biasType;
};
void multiply(const MatrixProduct &product);

// L0C to GM or L1, through conversion, quantisation and relu.
struct FixpipeMove {
    const char *api;
    void *global;     // destination in GM, or nullptr
    LocalView local;  // destination in L1
    LocalView src;
    DType dstType, srcType;
    bool rows;   // row major, else NZ
    bool split;  // NZ of float in blocks of 8 columns
    bool relu;
    uint32_t n, m, srcStride;
    uint64_t dstStride;  // elements of a row, or bytes from one block column to the next
    uint32_t matrices, srcMatrix, dstMatrix;
    QuantMode_t quant;
    uint64_t scalar;
    const LocalView *scales;  // of the vector quantisations
};
void fixpipe(const FixpipeMove &move);

}  // namespace skhost
