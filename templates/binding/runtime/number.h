// Python numbers as kernel scalars: exact or refused, floats rounded once, to nearest even.
#pragma once

#include <torch/csrc/utils/object_ptr.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "entry.h"
#include "refusal.h"

namespace skrules::binding {

// The bits of the binary float with so many exponent and fraction bits that is nearest to `value`; ties go to even, and
// what lies beyond the largest finite number is infinity. Not by way of a narrower type: that would round twice.
inline uint64_t encodeFloat(double value, int exponentBits, int fractionBits) {
    constexpr int kFraction = 52;
    constexpr int kBias = 1023;
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const uint64_t sign = (bits >> 63) << (exponentBits + fractionBits);
    const uint64_t infinity = ((uint64_t{1} << exponentBits) - 1) << fractionBits;
    if (std::isnan(value)) return sign | infinity | uint64_t{1} << (fractionBits - 1);
    if (std::isinf(value)) return sign | infinity;

    const int stored = static_cast<int>(bits >> kFraction & 0x7FF);
    const uint64_t hidden = stored ? uint64_t{1} << kFraction : 0;
    const uint64_t significand = (bits & ((uint64_t{1} << kFraction) - 1)) | hidden;
    int exponent = stored - kBias + (1 << (exponentBits - 1)) - 1;
    int shift = kFraction - fractionBits;
    if (exponent < 1) {  // a subnormal of the target
        shift += 1 - exponent;
        exponent = 1;
    }
    if (shift > kFraction + 1) return sign;  // below half of the smallest
    uint64_t rounded = significand >> shift;
    const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    if (rest > half || (rest == half && (rounded & 1))) ++rounded;
    // The hidden bit, and a carry of the rounding, count the exponent up by one.
    const uint64_t magnitude = (static_cast<uint64_t>(exponent - 1) << fractionBits) + rounded;
    return sign | (magnitude < infinity ? magnitude : infinity);
}

[[noreturn]] inline void refuseType(const Parameter &parameter, const char *wanted, PyObject *value) {
    refuse(PyExc_TypeError, parameter.title() + " takes " + wanted + ", got " + shown(value) + " (" + typeName(value) + ")");
}

[[noreturn]] inline void refuseRange(const Parameter &parameter, const std::string &range, PyObject *value) {
    refuse(PyExc_ValueError, parameter.title() + " takes " + range + ", got " + shown(value));
}

inline void convertInteger(const Parameter &parameter, PyObject *value, void *to) {
    // A tensor has __index__ too, but reading it would wait for the device; most likely it is in the wrong place.
    if (!PyIndex_Check(value) || THPVariable_Check(value)) refuseType(parameter, "an int", value);
    PyObject *integer = PyNumber_Index(value);
    if (!integer) throw Raised{};
    const uint32_t size = parameter.argument->size;
    const bool isSigned = parameter.argument->scalar == SKRULES_SIGNED;
    const int bits = static_cast<int>(size) * 8;
    bool fits = true;
    uint64_t result = 0;
    if (isSigned) {
        int overflow = 0;
        const int64_t wide = PyLong_AsLongLongAndOverflow(integer, &overflow);
        const int64_t highest = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
        fits = !overflow && wide <= highest && wide >= -highest - 1;
        result = static_cast<uint64_t>(wide);
    } else {
        result = PyLong_AsUnsignedLongLong(integer);
        fits = !(result == UINT64_MAX && PyErr_Occurred()) && (bits == 64 || result >> bits == 0);
        PyErr_Clear();  // OverflowError: too large, or negative
    }
    Py_DECREF(integer);
    if (!fits) {
        const uint64_t highest = UINT64_MAX >> (64 - bits + (isSigned ? 1 : 0));
        const std::string lowest = isSigned ? "-" + std::to_string(highest + 1) : "0";
        refuseRange(parameter, lowest + ".." + std::to_string(highest), value);
    }
    std::memcpy(to, &result, size);  // little endian, as are all hosts of these devices
}

// An int as a double that rounds to any narrower float as the int itself does: where it is inexact, its last bit is odd, so
// that it lies on no tie. What `PyFloat_AsDouble` gives is rounded already, and would be rounded twice.
inline double roundToOdd(PyObject *value, double nearest) {
    if (!std::isfinite(nearest) || std::fabs(nearest) < 9007199254740992.0) return nearest;  // 2^53: exact below
    THPObjectPtr integer(PyNumber_Index(value));
    THPObjectPtr back(integer ? PyLong_FromDouble(nearest) : nullptr);
    if (!back) throw Raised{};
    const int isExact = PyObject_RichCompareBool(integer.get(), back.get(), Py_EQ);
    const int isBelow = isExact ? 0 : PyObject_RichCompareBool(integer.get(), back.get(), Py_LT);
    if (isExact < 0 || isBelow < 0) throw Raised{};
    if (isExact) return nearest;
    const bool isAway = isBelow ? nearest > 0 : nearest < 0;  // the double is further from zero than the int
    const double inner = isAway ? std::nextafter(nearest, 0.0) : nearest;
    uint64_t bits;
    std::memcpy(&bits, &inner, sizeof(bits));
    bits |= 1;
    double odd;
    std::memcpy(&odd, &bits, sizeof(odd));
    return odd;
}

inline void convertFloat(const Parameter &parameter, PyObject *value, void *to) {
    if (THPVariable_Check(value)) refuseType(parameter, "a float", value);
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        const bool tooLarge = PyErr_ExceptionMatches(PyExc_OverflowError);
        if (!tooLarge && !PyErr_ExceptionMatches(PyExc_TypeError)) throw Raised{};
        PyErr_Clear();
        if (tooLarge) refuseRange(parameter, "what a double can hold", value);
        refuseType(parameter, "a float", value);
    }
    if (parameter.argument->size == sizeof(double)) {
        std::memcpy(to, &number, sizeof(number));
        return;
    }
    if (PyIndex_Check(value)) number = roundToOdd(value, number);
    struct Format {
        int exponent;
        int fraction;
        const char *range;
    };
    const Format format = parameter.argument->scalar == SKRULES_HALF       ? Format{5, 10, "-65504..65504"}
                          : parameter.argument->scalar == SKRULES_BFLOAT16 ? Format{8, 7, "-3.3895314e38..3.3895314e38"}
                                                                           : Format{8, 23, "-3.4028235e38..3.4028235e38"};
    const uint64_t bits = encodeFloat(number, format.exponent, format.fraction);
    if (std::isfinite(number) && bits == encodeFloat(std::copysign(INFINITY, number), format.exponent, format.fraction)) {
        refuseRange(parameter, std::string(format.range) + " or an infinity", value);
    }
    std::memcpy(to, &bits, parameter.argument->size);
}

inline void convertBool(const Parameter &parameter, PyObject *value, void *to) {
    const std::string type = typeName(value);
    const bool isBool = PyBool_Check(value) || type == "numpy.bool" || type == "numpy.bool_";
    if (!isBool) refuseType(parameter, "a bool", value);
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) throw Raised{};
    const uint8_t byte = truth ? 1 : 0;
    std::memcpy(to, &byte, sizeof(byte));
}

inline void convertScalar(const Parameter &parameter, PyObject *value, void *to) {
    switch (parameter.argument->scalar) {
        case SKRULES_SIGNED:
        case SKRULES_UNSIGNED:
            return convertInteger(parameter, value, to);
        case SKRULES_BOOL:
            return convertBool(parameter, value, to);
        default:
            return convertFloat(parameter, value, to);
    }
}

}  // namespace skrules::binding
