// Where the fields of an Args struct lie, to compare with the argument block. The size alone does not show a missing
// alignas(4) that padding hides, or two fields in the wrong order.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace skhost {

constexpr size_t kMaxFields = 24;  // structs with more are checked by size only

struct AnyField {
    template <class T> operator T() const;
};
template <class A, size_t... I> constexpr auto takesFields(std::index_sequence<I...>, int)
    -> decltype(A{((void)I, AnyField{})...}, true) {
    return true;
}
template <class A, class Indices> constexpr bool takesFields(Indices, long) { return false; }
// C++ lets an aggregate be initialised with at most as many values as it has fields.
template <class A, size_t N> constexpr bool hasFields() {
    if constexpr (N == 0 || N > kMaxFields || !std::is_aggregate_v<A>) {
        return false;
    } else {
        return takesFields<A>(std::make_index_sequence<N>(), 0) && !takesFields<A>(std::make_index_sequence<N + 1>(), 0);
    }
}

template <class A, class... F> void offsetsOf(const A &object, size_t *at, const F &...fields) {
    const auto *base = reinterpret_cast<const unsigned char *>(&object);
    // By way of `void`: GCC refuses to reinterpret the address of a __restrict__ pointer here. A field may be volatile.
    ((*at++ = static_cast<size_t>(
          static_cast<const volatile unsigned char *>(static_cast<const volatile void *>(__builtin_addressof(fields))) - base)),
     ...);
}

#define SKRULES_HOST_FIELDS(count, ...)     \
    if constexpr (N == (count)) {           \
        const auto &[__VA_ARGS__] = object; \
        offsetsOf(object, at, __VA_ARGS__); \
    } else

// Byte offsets of the N fields of A.
template <class A, size_t N> void fieldOffsets(const A &object, size_t *at) {
    SKRULES_HOST_FIELDS(1, a)
    SKRULES_HOST_FIELDS(2, a, b)
    SKRULES_HOST_FIELDS(3, a, b, c)
    SKRULES_HOST_FIELDS(4, a, b, c, d)
    SKRULES_HOST_FIELDS(5, a, b, c, d, e)
    SKRULES_HOST_FIELDS(6, a, b, c, d, e, f)
    SKRULES_HOST_FIELDS(7, a, b, c, d, e, f, g)
    SKRULES_HOST_FIELDS(8, a, b, c, d, e, f, g, h)
    SKRULES_HOST_FIELDS(9, a, b, c, d, e, f, g, h, i)
    SKRULES_HOST_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
    SKRULES_HOST_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
    SKRULES_HOST_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
    SKRULES_HOST_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    SKRULES_HOST_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    SKRULES_HOST_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    SKRULES_HOST_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    SKRULES_HOST_FIELDS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    SKRULES_HOST_FIELDS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    SKRULES_HOST_FIELDS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    SKRULES_HOST_FIELDS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    SKRULES_HOST_FIELDS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    SKRULES_HOST_FIELDS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    SKRULES_HOST_FIELDS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    SKRULES_HOST_FIELDS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x) {}
}

#undef SKRULES_HOST_FIELDS

}  // namespace skhost
