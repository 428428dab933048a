// What a launcher needs to know of the types of kernel parameters. Included at the end of an adapted kernel file, after
// the device API, so that `half` and `bfloat16_t` are the device's own types; it knows nothing else of a toolchain.
#pragma once

#include <cstdint>
#include <type_traits>

#include "skrules_descriptor.h"

namespace skrules {

// A parameter as a launch passes it: an array is a pointer, a reference the value behind it.
template <class T> using Value = std::decay_t<T>;

template <class T> constexpr skrules_scalar scalarClass() {
    // The device's floats come first: to some compilers they are arithmetic types as well.
    if constexpr (std::is_same_v<T, half>) {
        return SKRULES_HALF;
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
        return SKRULES_BFLOAT16;
    } else if constexpr (std::is_enum_v<T>) {
        return scalarClass<std::underlying_type_t<T>>();
    } else if constexpr (std::is_same_v<T, bool>) {
        return SKRULES_BOOL;
    } else if constexpr (sizeof(T) > sizeof(uint64_t)) {
        return SKRULES_NOT_SCALAR;
    } else if constexpr (std::is_integral_v<T>) {
        return std::is_signed_v<T> ? SKRULES_SIGNED : SKRULES_UNSIGNED;
    } else if constexpr (std::is_floating_point_v<T>) {
        return SKRULES_FLOAT;
    } else {
        return SKRULES_NOT_SCALAR;
    }
}

// Whether a type can carry what the contract says it carries.
template <class T> constexpr bool fits(skrules_kind kind) {
    using V = Value<T>;
    switch (kind) {
        case SKRULES_TENSOR:
        case SKRULES_TENSOR_LIST:
            return std::is_pointer_v<V>;
        case SKRULES_SCALAR:
            return scalarClass<V>() != SKRULES_NOT_SCALAR;
        case SKRULES_HOST_STRUCT:
            return std::is_trivially_copyable_v<V> && !std::is_pointer_v<V>;
    }
    return false;
}

template <class T> constexpr skrules_argument describe() {
    using V = Value<T>;
    return {static_cast<uint32_t>(sizeof(V)), static_cast<uint32_t>(alignof(V)), scalarClass<V>()};
}

// `argument` points to the parameter by value.
template <class T> Value<T> take(const void *argument) { return *static_cast<const Value<T> *>(argument); }

// A parameter as a runtime wrapper gets it.
template <class T, skrules_kind kind> using Passed =
    std::conditional_t<kind == SKRULES_TENSOR, const skrules_tensor &,
                       std::conditional_t<kind == SKRULES_TENSOR_LIST, const skrules_list &, Value<T>>>;

template <class T, skrules_kind kind> Passed<T, kind> pass(const void *argument) {
    return *static_cast<const std::remove_reference_t<Passed<T, kind>> *>(argument);
}

// A wrapper's function must be of exactly this type: a conversion would change values without a word.
template <class Context, class... P> using Wrapper = const char *(*)(const Context &, P...);
template <class Function> constexpr bool accepts(Function) { return true; }
template <class Function> constexpr bool accepts(...) { return false; }

}  // namespace skrules
