// Vector instructions on operands of any content: z = f(x, y), in each of the documented forms.
#include "harness.h"

using namespace AscendC;

enum Form { COUNT, MASK_COUNT, MASK_BITS, MASK_REGISTERS, COUNTER };

// Calls an instruction in the form that the options ask for. OPERANDS are its leading arguments.
#define ANY_FORM(NAME, T, PARAMS, ...)                                        \
    switch (o.form) {                                                         \
        case COUNT:                                                           \
            NAME(__VA_ARGS__, o.count);                                       \
            break;                                                            \
        case MASK_COUNT:                                                      \
            NAME(__VA_ARGS__, o.mask[0], o.repeats, PARAMS);                  \
            break;                                                            \
        case MASK_BITS: {                                                     \
            uint64_t mask[2] = {o.mask[0], o.mask[1]};                        \
            NAME(__VA_ARGS__, mask, o.repeats, PARAMS);                       \
            break;                                                            \
        }                                                                     \
        case MASK_REGISTERS:                                                  \
            SetMaskNorm();                                                    \
            SetVectorMask<T>(o.mask[1], o.mask[0]);                           \
            NAME<T, false>(__VA_ARGS__, MASK_PLACEHOLDER, o.repeats, PARAMS); \
            ResetMask();                                                      \
            break;                                                            \
        case COUNTER:                                                         \
            SetMaskCount();                                                   \
            NAME(__VA_ARGS__, static_cast<uint64_t>(o.count), 1, PARAMS);     \
            SetMaskNorm();                                                    \
            break;                                                            \
    }

template <class T> constexpr bool kReal = !std::is_integral_v<T>;
template <class T> constexpr bool kShort = std::is_integral_v<T> && sizeof(T) == 2;

template <class T> void binary(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, Options o) {
    const auto x = load<T>(0, a, o.extra), y = load<T>(1, b, o.extra), z = load<T>(2, c, o.extra);
    BinaryRepeatParams p;
    if (o.mode) p = {1, 2, 1, 8, 16, 0};  // every other block of x; y the same in each repeat
    if constexpr (!std::is_unsigned_v<T>) {
        if (o.op == 0) ANY_FORM(Add, T, p, z, x, y)
        if (o.op == 1) ANY_FORM(Sub, T, p, z, x, y)
        if (o.op == 2) ANY_FORM(Mul, T, p, z, x, y)
        if (o.op == 3) ANY_FORM(Max, T, p, z, x, y)
        if (o.op == 4) ANY_FORM(Min, T, p, z, x, y)
    }
    if constexpr (kReal<T>) {
        if (o.op == 5) ANY_FORM(Div, T, p, z, x, y)
        if (o.op == 6) ANY_FORM(AddRelu, T, p, z, x, y)
        if (o.op == 7) ANY_FORM(FusedMulAdd, T, p, z, x, y)
    }
    if constexpr (kShort<T>) {
        if (o.op == 8) ANY_FORM(And, T, p, z, x, y)
        if (o.op == 9) ANY_FORM(Or, T, p, z, x, y)
    }
    store(c, z, o.extra);
}

template <class T> void unary(GM_ADDR a, GM_ADDR, GM_ADDR c, GM_ADDR, Options o) {
    const auto x = load<T>(0, a, o.extra), z = load<T>(2, c, o.extra);
    const T s = static_cast<T>(o.scalar);
    const UnaryRepeatParams p;
    if constexpr (!std::is_unsigned_v<T>) {
        if (o.op == 0) ANY_FORM(Adds, T, p, z, x, s)
        if (o.op == 1) ANY_FORM(Muls, T, p, z, x, s)
        if (o.op == 2) ANY_FORM(Maxs, T, p, z, x, s)
        if (o.op == 3) ANY_FORM(Mins, T, p, z, x, s)
    }
    if constexpr (kReal<T>) {
        if (o.op == 4) ANY_FORM(LeakyRelu, T, p, z, x, s)
        if (o.op == 5) ANY_FORM(Abs, T, p, z, x)
        if (o.op == 6) ANY_FORM(Exp, T, p, z, x)
        if (o.op == 7) ANY_FORM(Ln, T, p, z, x)
        if (o.op == 8) ANY_FORM(Sqrt, T, p, z, x)
        if (o.op == 9) ANY_FORM(Rsqrt, T, p, z, x)
        if (o.op == 10) ANY_FORM(Reciprocal, T, p, z, x)
        if (o.op == 11) ANY_FORM(Relu, T, p, z, x)
        if (o.op == 12) Axpy(z, x, s, o.count);
    } else {
        if (o.op == 13) ANY_FORM(ShiftLeft, T, p, z, x, s)
        if (o.op == 14) ANY_FORM(ShiftRight, T, p, z, x, s)
    }
    if constexpr (kShort<T>)
        if (o.op == 15) ANY_FORM(Not, T, p, z, x)
    if (o.op == 16) Duplicate(z, s, o.count);
    if (o.op == 17) Duplicate(z, s, o.mask[0], o.repeats, 2, 16);
    if (o.op == 18) Copy(z, x, o.mask[0], o.repeats, {1, 1, 8, 8});
    store(c, z, o.extra);
}

void wide(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, Options o) {  // half sources, float destination
    const auto x = load<half>(0, a, o.extra / 2), y = load<half>(1, b, o.extra / 2);
    const auto z = load<float>(2, c, o.extra);
    if (o.op == 0) MulAddDst(z, x, y, o.count);
    if (o.op == 1) MulAddDst(z, x, y, uint64_t{64}, o.repeats, {1, 1, 1, 8, 4, 4});
    if (o.op == 2) Axpy(z, x, static_cast<half>(o.scalar), o.count);
    store(c, z, o.extra);
}

template <class S, class D> void cast(GM_ADDR a, GM_ADDR, GM_ADDR c, GM_ADDR, Options o) {
    const auto x = load<S>(0, a, skhost::bytesOf<S>(o.count));
    const auto z = local<D>(2);
    const RoundMode mode = static_cast<RoundMode>(o.mode);
    if (o.form == COUNT)
        Cast(z, x, mode, o.count);
    else {
        const uint32_t lanes = 256 / (sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
        const uint8_t out = lanes * skhost::bitsOf<D>() / 256, in = lanes * skhost::bitsOf<S>() / 256;
        Cast<D, S>(z, x, mode, lanes, o.count / lanes, {1, 1, out, in});
    }
    store(c, z, skhost::bytesOf<D>(o.count));
}

template <class T> void compare(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR d, Options o) {
    const uint32_t bytes = o.count * sizeof(T);
    const auto x = load<T>(0, a, bytes), y = load<T>(1, b, bytes);
    const auto bits = local<uint8_t>(2);
    const auto chosen = local<T>(3);
    const CMPMODE mode = static_cast<CMPMODE>(o.mode);
    const uint32_t lanes = 256 / sizeof(T);
    if (o.form == COUNT)
        Compare(bits, x, y, mode, o.count);
    else if (o.form == MASK_COUNT)
        Compare(bits, x, y, mode, lanes, o.count / lanes, {1, 1, 1, 8, 8, 8});
    else
        Compares(bits, x, static_cast<T>(o.scalar), mode, o.count);
    if (o.op == 0) Select(chosen, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, o.count);
    if (o.op == 1) Select(chosen, bits, x, static_cast<T>(o.scalar), SELMODE::VSEL_TENSOR_SCALAR_MODE, o.count);
    if (o.op == 2)
        Select(chosen, bits, x, y, SELMODE::VSEL_CMPMASK_SPR, static_cast<uint64_t>(lanes), o.count / lanes, {1, 1, 1, 8, 8, 8});
    store(c, bits, o.count / 8);
    store(d, chosen, bytes);
}

template <class T> void reduce(GM_ADDR a, GM_ADDR, GM_ADDR c, GM_ADDR, Options o) {
    const auto x = load<T>(0, a, o.extra);
    const auto work = local<T>(1);
    const auto z = load<T>(2, c, o.extra);
    const int32_t lanes = 256 / sizeof(T);
    if (o.op == 0) ReduceSum(z, x, work, o.count);
    if (o.op == 1) ReduceMax(z, x, work, o.count, true);
    if (o.op == 2) ReduceMin(z, x, work, o.count, true);
    if (o.op == 3) WholeReduceSum(z, x, static_cast<int32_t>(o.mask[0]), o.repeats, 1, 1, 8);
    if (o.op == 4) WholeReduceMax(z, x, lanes, o.repeats, 1, 1, 8);
    if (o.op == 5) WholeReduceMin(z, x, lanes, o.repeats, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    if (o.op == 6) BlockReduceSum(z, x, o.repeats, lanes, 1, 1, 8);
    if (o.op == 7) BlockReduceMax(z, x, o.repeats, lanes, 1, 1, 8);
    if (o.op == 8) PairReduceSum(z, x, o.repeats, lanes, 1, 1, 8);
    if (o.op == 9) ReduceSum(z, x, work, static_cast<int32_t>(o.mask[0]), o.repeats, 8);
    if (o.op == 10) {
        uint64_t mask[2] = {o.mask[0], o.mask[1]};
        WholeReduceSum(z, x, mask, o.repeats, 1, 1, 8);
    }
    if (o.op == 11) ReduceRepeat<ReduceType::SUM, T, T>(z, x, lanes, o.repeats, 1, 1, 8);
    if (o.op == 12) ReduceDataBlock<ReduceType::MIN, T, T>(z, x, lanes, o.repeats, 1, 1, 8);
    store(c, z, o.extra);
}

void permute(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, Options o) {
    const auto x = load<half>(0, a, 4096);
    const auto z = local<half>(2);
    if (o.op == 0) Transpose(z, x);
    if (o.op == 1) Gather(z, x, load<uint32_t>(1, b, o.count * 4), 64, o.count);
    if (o.op == 2) Brcb(z, x, o.repeats, {1, 8});
    if (o.op == 3) CreateVecIndex(z, static_cast<half>(o.scalar), o.count);
    store(c, z, o.extra);
}

const Entry kEntries[] = {
    {"binary_half", 0, 1, binary<half>},
    {"binary_float", 0, 1, binary<float>},
    {"binary_int16", 0, 1, binary<int16_t>},
    {"binary_int32", 0, 1, binary<int32_t>},
    {"binary_uint16", 0, 1, binary<uint16_t>},
    {"unary_half", 0, 1, unary<half>},
    {"unary_float", 0, 1, unary<float>},
    {"unary_int16", 0, 1, unary<int16_t>},
    {"unary_int32", 0, 1, unary<int32_t>},
    {"wide", 0, 1, wide},
    {"cast_float_half", 0, 1, cast<float, half>},
    {"cast_half_float", 0, 1, cast<half, float>},
    {"cast_float_bfloat16", 0, 1, cast<float, bfloat16_t>},
    {"cast_bfloat16_float", 0, 1, cast<bfloat16_t, float>},
    {"cast_float_int32", 0, 1, cast<float, int32_t>},
    {"cast_float_int16", 0, 1, cast<float, int16_t>},
    {"cast_half_int8", 0, 1, cast<half, int8_t>},
    {"cast_int32_float", 0, 1, cast<int32_t, float>},
    {"cast_int32_int16", 0, 1, cast<int32_t, int16_t>},
    {"cast_float_float", 0, 1, cast<float, float>},
    {"cast_half_int4", 0, 1, cast<half, int4b_t>},
    {"cast_int4_half", 0, 1, cast<int4b_t, half>},
    {"compare_half", 0, 1, compare<half>},
    {"compare_float", 0, 1, compare<float>},
    {"reduce_half", 0, 1, reduce<half>},
    {"reduce_float", 0, 1, reduce<float>},
    {"permute", 0, 1, permute},
};
const int kEntryCount = sizeof(kEntries) / sizeof(kEntries[0]);
