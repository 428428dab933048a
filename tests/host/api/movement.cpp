// GatherMask, Gatherb, DataCopyPad in compact mode, reductions by bits, flags in the spelling of C.
#include "harness.h"

using namespace AscendC;

// c holds the kept elements, d how many they are.
template <class T, class U> void gatherMask(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR d, Options o) {
    const auto x = load<T>(0, a, o.extra), z = load<T>(2, c, o.extra);
    const bool counted = o.count != 0;
    const uint32_t perRepeat = o.count;
    uint64_t kept = 0;
    if (o.op == 0)
        GatherMask(z, x, static_cast<uint8_t>(o.mode), counted, perRepeat, {1, static_cast<uint16_t>(o.repeats), 8, 0}, kept);
    if (o.op == 1) {
        const auto bits = load<U>(1, b, 256);
        const GatherMaskParams params{static_cast<uint8_t>(o.k), static_cast<uint16_t>(o.repeats), static_cast<uint16_t>(o.m),
                                      static_cast<uint8_t>(o.n)};
        GatherMask(z, x, bits, counted, perRepeat, params, kept);
    }
    if (o.op == 2) GatherMask(x, x, static_cast<uint8_t>(o.mode), counted, perRepeat, {1, 1, 0, 0}, kept);
    store(c, o.op == 2 ? x : z, o.extra);
    const auto report = local<uint64_t>(3, 32);
    report.SetValue(0, kept);
    store(d, report, 8);
}

void gatherBlocks(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, Options o) {
    const auto z = load<float>(2, c, o.extra);
    Gatherb(z, load<float>(0, a, o.extra), load<uint32_t>(1, b, o.repeats * 32), static_cast<uint8_t>(o.repeats),
            {static_cast<uint8_t>(o.m), static_cast<uint8_t>(o.n)});
    store(c, z, o.extra);
}

// One result of all repeats, in the lanes whose bits are set.
template <class T> void reduceBits(GM_ADDR a, GM_ADDR, GM_ADDR c, GM_ADDR, Options o) {
    const auto x = load<T>(0, a, o.extra), z = load<T>(2, c, 32), room = local<T>(1);
    uint64_t bits[2] = {o.mask[0], o.mask[1]};
    if (o.op == 0) ReduceSum(z, x, room, bits, o.repeats, 8);
    if (o.op == 1) ReduceMax(z, x, room, bits, o.repeats, 8, true);
    if (o.op == 2) ReduceMin(z, x, room, bits, o.repeats, 8);
    store(c, z, 32);
}

// Doubles a in the C spelling of synchronisation; a mistake for every `op` but 0.
void flags(GM_ADDR a, GM_ADDR, GM_ADDR, GM_ADDR, Options o) {
    const auto x = local<float>(0, 256);
    DataCopy(x, global<float>(a), 64);
    if (o.op != 1) set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
    Add(x, x, x, 64);
    pipe_barrier(PIPE_V);
    if (o.op == 2) set_flag(PIPE_FIX, PIPE_V, EVENT_ID0);
    if (o.op == 3) set_flag(PIPE_V, PIPE_MTE3, static_cast<event_t>(9));
    pipe_barrier(PIPE_ALL);
    DataCopy(global<float>(a), x, 64);
}

#if __NPU_ARCH__ == 3510
// a to UB and on to b, `count` pieces of `extra` bytes that lie m bytes apart in a and n bytes in b; c shows UB.
void compact(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, Options o) {
    const auto t = local<int8_t>(0);
    const auto pieces = static_cast<uint16_t>(o.count);
    const auto bytes = static_cast<uint32_t>(o.extra);
    const DataCopyPadExtParams<int8_t> pad{o.mode != 0, 0, 0, static_cast<int8_t>(o.mode)};
    DataCopyPad<int8_t, PaddingMode::Compact>(t, global<int8_t>(a), DataCopyExtParams{pieces, bytes, o.m, 0, 0}, pad);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad<int8_t, PaddingMode::Compact>(global<int8_t>(b), t, DataCopyExtParams{pieces, bytes, 0, o.n, 0});
    DataCopy(global<int8_t>(c), t, o.k);
}
void normal(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR, Options o) {
    const auto t = local<int8_t>(0);
    const DataCopyExtParams params{static_cast<uint16_t>(o.count), static_cast<uint32_t>(o.extra), 0, 0, 0};
    DataCopyPad<int8_t, PaddingMode::Normal>(t, global<int8_t>(a), params, DataCopyPadExtParams<int8_t>{});
    PipeBarrier<PIPE_ALL>();
    DataCopyPad<int8_t, PaddingMode::Normal>(global<int8_t>(b), t, params);
}
#endif

const Entry kEntries[] = {
    {"gather_mask_half", 0, 1, gatherMask<half, uint16_t>},
    {"gather_mask_float", 0, 1, gatherMask<float, uint32_t>},
    {"gather_blocks", 0, 1, gatherBlocks},
    {"reduce_bits_half", 0, 1, reduceBits<half>},
    {"reduce_bits_float", 0, 1, reduceBits<float>},
    {"flags", 0, 1, flags},
#if __NPU_ARCH__ == 3510
    {"gather_mask_int8", 0, 1, gatherMask<int8_t, uint8_t>},
    {"compact", 0, 1, compact},
    {"normal", 0, 1, normal},
#endif
};
const int kEntryCount = sizeof(kEntries) / sizeof(kEntries[0]);
