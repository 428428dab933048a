// Compare and Select.
#include <cstring>

#include "api_walk.h"

namespace skhost {
namespace {

template <class T> typename Lane<T>::Type load(const uint8_t *from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return static_cast<typename Lane<T>::Type>(value);
}

template <class L> bool holds(L a, L b, AscendC::CMPMODE mode) {
    switch (mode) {
        case AscendC::CMPMODE::LT:
            return a < b;
        case AscendC::CMPMODE::GT:
            return a > b;
        case AscendC::CMPMODE::EQ:
            return a == b;
        case AscendC::CMPMODE::LE:
            return a <= b;
        case AscendC::CMPMODE::GE:
            return a >= b;
        default:
            return a != b;
    }
}

void put(uint8_t *bits, uint64_t index, bool value) {
    uint8_t &byte = bits[index / 8];
    byte = static_cast<uint8_t>((byte & ~(1u << index % 8)) | static_cast<unsigned>(value) << index % 8);
}

}  // namespace

void runCompare(const VectorCall &call, const LocalView *bits, AscendC::CMPMODE mode, const Lanes &lanes) {
    issue(PIPE_V);
    const DType type = call.src[0].type;
    const uint32_t bytes = elementBits(type) / 8;
    if (lanes.form == Lanes::COUNT && lanes.count * bytes % 256)
        fail("%s: %llu elements = %llu bytes is not a multiple of 256", call.api, static_cast<unsigned long long>(lanes.count),
             static_cast<unsigned long long>(lanes.count * bytes));
    Extent extent = extentOf(lanes, bytes, call.api);
    if (extent.set.total < 0) {  // the instruction compares every lane of a repeat whatever the mask says
        extent.lastLanes = extent.perRepeat;
        extent.set = {{~0ull, ~0ull, ~0ull, ~0ull}, -1};
    }
    const Strided a = reachStrided(call.src[0], extent, false, call.api);
    const Strided b = call.scalar ? a : reachStrided(call.src[1], extent, false, call.api);
    uint8_t room[32] = {};
    uint8_t *result = room;
    if (bits)
        result = reach(*bits, 0, (uint64_t{extent.repeats} * extent.perRepeat + 7) / 8,
                       {call.api, "dst", PIPE_V, true, 32, in(Memory::UB)});
    withNumber(type, [&](auto zero) {
        using T = decltype(zero);
        for (uint32_t r = 0; r < extent.repeats; ++r)
            for (uint32_t lane = 0; lane < extent.perRepeat && extent.has(r, lane); ++lane) {
                const auto right = load<T>(call.scalar ? static_cast<const uint8_t *>(call.scalar) : b.at(r, lane));
                put(result, uint64_t{r} * extent.perRepeat + lane, holds(load<T>(a.at(r, lane)), right, mode));
            }
    });
    if (!bits) std::memcpy(self().compareMask, room, sizeof(self().compareMask));
}

void runSelect(const VectorCall &call, const LocalView &bits, AscendC::SELMODE mode, const Lanes &lanes) {
    issue(PIPE_V);
    using AscendC::SELMODE;
    if ((mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) != (call.scalar != nullptr))
        fail("Select: the mode says src1 is a %s", call.scalar ? "tensor" : "scalar");
    const uint32_t bytes = elementBits(call.dst.type) / 8;
    const Extent extent = extentOf(lanes, bytes, call.api);
    const bool sameEachRepeat = mode == SELMODE::VSEL_CMPMASK_SPR;
    const Strided a = reachStrided(call.src[0], extent, false, call.api);
    const Strided b = call.scalar ? a : reachStrided(call.src[1], extent, false, call.api);
    const Strided d = reachStrided(call.dst, extent, true, call.api);
    const uint64_t selected = uint64_t{sameEachRepeat ? 1 : extent.repeats} * extent.perRepeat;
    const uint64_t needed = extent.set.total >= 0 && !sameEachRepeat ? static_cast<uint64_t>(extent.set.total) : selected;
    const uint8_t *mask = reach(bits, 0, (needed + 7) / 8, {call.api, "selMask", PIPE_V, false, 32, in(Memory::UB)});
    for (uint32_t r = 0; r < extent.repeats; ++r) {
        uint8_t chosen[256];
        for (uint32_t lane = 0; lane < extent.perRepeat; ++lane) {
            if (!extent.has(r, lane)) continue;
            const uint64_t index = (sameEachRepeat ? 0 : uint64_t{r} * extent.perRepeat) + lane;
            const uint8_t *other = call.scalar ? static_cast<const uint8_t *>(call.scalar) : b.at(r, lane);
            std::memcpy(chosen + lane * bytes, mask[index / 8] >> index % 8 & 1 ? a.at(r, lane) : other, bytes);
        }
        for (uint32_t lane = 0; lane < extent.perRepeat; ++lane)
            if (extent.has(r, lane)) std::memcpy(d.at(r, lane), chosen + lane * bytes, bytes);
    }
}

void moveCompareMask(const LocalView &tensor, bool toRegister) {
    issue(PIPE_V);
    uint64_t (&mask)[2] = self().compareMask;
    uint8_t *at = reach(tensor, 0, sizeof(mask),
                        {toRegister ? "SetCmpMask" : "GetCmpMask", "tensor", PIPE_V, !toRegister, 16, in(Memory::UB)});
    if (toRegister)
        std::memcpy(mask, at, sizeof(mask));
    else
        std::memcpy(at, mask, sizeof(mask));
}

}  // namespace skhost
