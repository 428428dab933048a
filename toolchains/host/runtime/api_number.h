// Arithmetic of the vector unit on single elements, and wide conversions of half and bfloat16_t. Private to the runtime.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "skrules_host/api/types.h"

namespace skhost {

void halfToFloat(float *to, const half *from, size_t count);
void floatToHalf(half *to, const float *from, size_t count);  // to nearest even

// The type in which a lane computes. A float holds every half and bfloat16_t, and rounding its result once more is exact
// for + - * / and sqrt (24 >= 2 * 11 + 2 bits).
template <class T> struct Lane {
    using Type = T;
};
template <> struct Lane<half> {
    using Type = float;
};
template <> struct Lane<bfloat16_t> {
    using Type = float;
};

template <class T> T larger(T a, T b) { return a > b ? a : b; }
template <class T> T smaller(T a, T b) { return a < b ? a : b; }
template <class T> T rectified(T a) { return a > 0 ? a : T(0); }
inline float exponential(float a) { return std::exp(a); }
inline float logarithm(float a) { return std::log(a); }
inline float root(float a) { return std::sqrt(a); }
template <class T> T quotient(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return a / b;
    else {
        if (b == 0) return T(0);  // no value is right here; a trap of the host would be wrong
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
        return static_cast<T>(a / b);
    }
}
template <class T> T shiftedLeft(T a, T b) {
    if (b < 0 || static_cast<uint64_t>(b) >= 8 * sizeof(T)) return T(0);
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
}
template <class T> T shiftedRight(T a, T b) {
    if (b < 0 || static_cast<uint64_t>(b) >= 8 * sizeof(T)) return a < 0 ? static_cast<T>(-1) : T(0);
    return static_cast<T>(a >> b);
}

// Calls `use(T())` with the element type behind a tag; `use` sees only the numbers.
template <class Use> void withNumber(DType type, Use use) {
    switch (type) {
        case DType::INT8:
            return use(int8_t());
        case DType::UINT8:
            return use(uint8_t());
        case DType::INT16:
            return use(int16_t());
        case DType::UINT16:
            return use(uint16_t());
        case DType::INT32:
            return use(int32_t());
        case DType::UINT32:
            return use(uint32_t());
        case DType::INT64:
            return use(int64_t());
        case DType::UINT64:
            return use(uint64_t());
        case DType::HALF:
            return use(half());
        case DType::BFLOAT16:
            return use(bfloat16_t());
        case DType::FLOAT:
            return use(float());
        case DType::DOUBLE:
            return use(double());
        default:
            return;
    }
}

// The same for the types of vector instructions, which know no double.
template <class Use> void withLane(DType type, Use use) {
    withNumber(type, [&](auto zero) {
        if constexpr (!std::is_same_v<decltype(zero), double>) use(zero);
    });
}

constexpr uint32_t elementBits(DType type) {
    switch (type) {
        case DType::INT4:
            return 4;
        case DType::INT8:
        case DType::UINT8:
        case DType::OTHER:
            return 8;
        case DType::INT16:
        case DType::UINT16:
        case DType::HALF:
        case DType::BFLOAT16:
            return 16;
        case DType::INT32:
        case DType::UINT32:
        case DType::FLOAT:
            return 32;
        default:
            return 64;
    }
}
const char *typeName(DType type);

}  // namespace skhost
