// Element types of the device: half, bfloat16_t, int4b_t, and the tags by which the runtime library knows a type.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

using half = _Float16;  // arithmetic in every expression and correctly rounded after each operation

// g++ 12 has no bfloat16: the upper 16 bits of a float, rounded to nearest even.
struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;  // trivial, like the builtin type
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, half>>> constexpr bfloat16_t(T value)
        : bits(round(static_cast<float>(value))) {}
    operator float() const {
        const uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &wide, sizeof(value));
        return value;
    }
    bfloat16_t &operator+=(float other) { return *this = bfloat16_t(static_cast<float>(*this) + other); }
    bfloat16_t &operator-=(float other) { return *this = bfloat16_t(static_cast<float>(*this) - other); }
    bfloat16_t &operator*=(float other) { return *this = bfloat16_t(static_cast<float>(*this) * other); }
    bfloat16_t &operator/=(float other) { return *this = bfloat16_t(static_cast<float>(*this) / other); }

  private:
    static constexpr uint16_t round(float value) {
        const uint32_t wide = __builtin_bit_cast(uint32_t, value);
        if ((wide & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(wide >> 16 | 0x40u);  // stays a quiet NaN
        return static_cast<uint16_t>((wide + 0x7fffu + (wide >> 16 & 1u)) >> 16);
    }
};

namespace AscendC {
using ::bfloat16_t;
using ::half;

template <class A, class B> struct IsSameType : std::is_same<A, B> {};
template <bool condition, class A, class B> using Conditional = std::conditional<condition, A, B>;

// Two elements share a byte; the one with the even index has the low four bits.
struct int4b_t {
    uint8_t pair;
};
}  // namespace AscendC

namespace skhost {

enum class DType : uint8_t {
    INT4,
    INT8,
    UINT8,
    INT16,
    UINT16,
    INT32,
    UINT32,
    INT64,
    UINT64,
    HALF,
    BFLOAT16,
    FLOAT,
    DOUBLE,
    OTHER
};
constexpr int kDTypes = 14;

constexpr uint32_t bit(DType type) { return 1u << static_cast<int>(type); }

template <class T> constexpr DType dtypeOf() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, AscendC::int4b_t>)
        return DType::INT4;
    else if constexpr (std::is_same_v<U, half>)
        return DType::HALF;
    else if constexpr (std::is_same_v<U, bfloat16_t>)
        return DType::BFLOAT16;
    else if constexpr (std::is_same_v<U, float>)
        return DType::FLOAT;
    else if constexpr (std::is_same_v<U, double>)
        return DType::DOUBLE;
    else if constexpr (std::is_integral_v<U> || std::is_enum_v<U>) {
        constexpr bool sign = std::is_signed_v<U>;
        if constexpr (sizeof(U) == 1)
            return sign ? DType::INT8 : DType::UINT8;
        else if constexpr (sizeof(U) == 2)
            return sign ? DType::INT16 : DType::UINT16;
        else if constexpr (sizeof(U) == 4)
            return sign ? DType::INT32 : DType::UINT32;
        else
            return sign ? DType::INT64 : DType::UINT64;
    } else
        return DType::OTHER;
}

template <class T> constexpr uint32_t bitsOf() { return std::is_same_v<T, AscendC::int4b_t> ? 4 : 8 * sizeof(T); }
template <class T> constexpr uint64_t bytesOf(uint64_t elements) { return elements * bitsOf<T>() / 8; }

// A parameter type that takes no part in deduction: `Adds(dst, src, 2.0f, n)` is legal on half.
template <class T> struct NonDeduced {
    using Type = T;
};
template <class T> using Plain = typename NonDeduced<T>::Type;

template <class> constexpr bool kNever = false;  // a false that depends on a template parameter

}  // namespace skhost
