// Cast: rounding modes, saturation to integers, packed four-bit integers.
#include <cstring>
#include <initializer_list>

#include "api_walk.h"

namespace skhost {
namespace {

using AscendC::RoundMode;

struct Context {
    DType dst, src;
    RoundMode mode;
};

double rounded(double x, RoundMode mode) {
    switch (mode) {
        case RoundMode::CAST_FLOOR:
            return std::floor(x);
        case RoundMode::CAST_CEIL:
            return std::ceil(x);
        case RoundMode::CAST_ROUND:
            return std::round(x);
        case RoundMode::CAST_TRUNC:
        case RoundMode::CAST_ZERO:
            return std::trunc(x);
        default:
            return std::nearbyint(x);
    }
}

template <class T> T nearest(double x) {
    if constexpr (std::is_same_v<T, bfloat16_t>) {
        // Through a float that is rounded to odd, so that the second rounding sees that bits were lost.
        float f = static_cast<float>(x);
        if (std::isfinite(f) && static_cast<double>(f) != x) {
            if (std::fabs(static_cast<double>(f)) > std::fabs(x)) f = std::nextafter(f, 0.0f);
            uint32_t bits;
            std::memcpy(&bits, &f, sizeof(bits));
            bits |= 1;
            std::memcpy(&f, &bits, sizeof(bits));
        }
        return bfloat16_t(f);
    } else
        return static_cast<T>(x);
}
template <class T> double wide(T value) { return static_cast<double>(static_cast<typename Lane<T>::Type>(value)); }

// The neighbour of a floating point value away from zero (+1) or towards it (-1), by its bits.
template <class T> T neighbour(T value, int away) {
    std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t> bits;
    std::memcpy(&bits, &value, sizeof(T));
    bits = static_cast<decltype(bits)>(bits + away);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

// x in the format of T, with directed rounding where it does not fit exactly.
template <class T> T inFormat(double x, RoundMode mode) {
    const T near = nearest<T>(x);
    const double value = wide(near);
    if (value == x || std::isnan(x) || std::isinf(x)) return near;
    const T inner = std::fabs(value) > std::fabs(x) ? neighbour(near, -1) : near;  // towards zero
    const T outer = neighbour(inner, 1);
    switch (mode) {
        case RoundMode::CAST_FLOOR:
            return x < 0 ? outer : inner;
        case RoundMode::CAST_CEIL:
            return x < 0 ? inner : outer;
        case RoundMode::CAST_TRUNC:
        case RoundMode::CAST_ZERO:
            return inner;
        case RoundMode::CAST_ROUND: {
            const double below = std::fabs(x) - std::fabs(wide(inner)), above = std::fabs(wide(outer)) - std::fabs(x);
            return above <= below ? outer : inner;
        }
        case RoundMode::CAST_ODD: {
            uint32_t bits = 0;
            std::memcpy(&bits, &inner, sizeof(T));
            return bits & 1 ? inner : outer;
        }
        default:
            return near;
    }
}

template <class D, class S> D convert(S value, RoundMode mode) {
    if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
        constexpr __int128 low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
        const __int128 x = value;
        return static_cast<D>(x < low ? low : x > high ? high : x);
    } else if constexpr (std::is_integral_v<D>) {
        const double x = rounded(wide(value), mode);
        if (std::isnan(x)) return D(0);
        constexpr D low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
        return x <= static_cast<double>(low) ? low : x >= static_cast<double>(high) ? high : static_cast<D>(x);
    } else if constexpr (std::is_same_v<D, S>) {
        return mode == RoundMode::CAST_NONE ? value : nearest<D>(rounded(wide(value), mode));  // to whole numbers
    } else {
        return inFormat<D>(wide(value), mode);
    }
}

template <class S> void toInt4(const Run &run, RoundMode mode) {
    for (size_t i = 0; i < run.count; ++i) {
        S value;
        std::memcpy(&value, run.src[0] + i * sizeof(S), sizeof(S));
        const int x = smaller(7, larger(-8, static_cast<int>(convert<int8_t>(value, mode))));
        uint8_t &pair = run.dst[i / 2];
        pair = static_cast<uint8_t>(i & 1 ? (pair & 0x0f) | x << 4 : (pair & 0xf0) | (x & 0x0f));
    }
}
template <class D> void fromInt4(const Run &run, RoundMode mode) {
    for (size_t i = 0; i < run.count; ++i) {
        const int x = run.src[0][i / 2] >> (i & 1 ? 4 : 0) & 0x0f;
        const D value = convert<D>(static_cast<int8_t>(x >= 8 ? x - 16 : x), mode);
        std::memcpy(run.dst + i * sizeof(D), &value, sizeof(D));
    }
}

void castRun(const Run &run, const void *pointer) {
    const Context &context = *static_cast<const Context *>(pointer);
    const RoundMode mode = context.mode;
    const bool toNearest = mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_EVEN;
    if (context.dst == DType::FLOAT && context.src == DType::HALF)
        return halfToFloat(reinterpret_cast<float *>(run.dst), reinterpret_cast<const half *>(run.src[0]), run.count);
    if (context.dst == DType::HALF && context.src == DType::FLOAT && toNearest)
        return floatToHalf(reinterpret_cast<half *>(run.dst), reinterpret_cast<const float *>(run.src[0]), run.count);
    if (context.dst == DType::INT4) return withLane(context.src, [&](auto zero) { toInt4<decltype(zero)>(run, mode); });
    withLane(context.dst, [&](auto d) {
        using D = decltype(d);
        if (context.src == DType::INT4) return fromInt4<D>(run, mode);
        withLane(context.src, [&](auto s) {
            using S = decltype(s);
            for (size_t i = 0; i < run.count; ++i) {
                S value;
                std::memcpy(&value, run.src[0] + i * sizeof(S), sizeof(S));
                const D result = convert<D>(value, mode);
                std::memcpy(run.dst + i * sizeof(D), &result, sizeof(D));
            }
        });
    });
}

}  // namespace

void runCast(const VectorCall &call, const Lanes &lanes, RoundMode mode) {
    const DType dst = call.dst.type, src = call.src[0].type;
    if (mode == RoundMode::CAST_HYBRID || mode == RoundMode::UNKNOWN)
        fail("Cast: round mode %d is not emulated", static_cast<int>(mode));
    for (const DType type : {dst, src})
        if (type == DType::OTHER || type == DType::DOUBLE)
            fail("Cast from %s to %s is not supported", typeName(src), typeName(dst));
    if ((dst == DType::INT4 || src == DType::INT4) && lanes.form == Lanes::MASK_BITS)
        fail("Cast of int4b_t with a bit mask is not emulated: lanes share bytes");
    const Context context = {dst, src, mode};
    walkLanes(call, lanes, castRun, &context);
}

}  // namespace skhost
