#include "api_walk.h"

#include <cstring>

namespace skhost {
namespace {

constexpr uint32_t kBlockBits = 256;    // a block of 32 bytes
constexpr uint32_t kRepeatBits = 2048;  // a repeat of 256 bytes

struct Walked {
    const Operand *operand;
    uint32_t bits;          // per element
    uint32_t perBlock;      // elements
    uint32_t repeatStride;  // blocks
    uint8_t *base;
    bool write;

    uint64_t byteOf(uint32_t repeat, uint32_t lane) const {
        const uint64_t block = uint64_t{repeat} * repeatStride + uint64_t{lane / perBlock} * operand->blockStride;
        return block * 32 + uint64_t{lane % perBlock} * bits / 8;
    }
};

int64_t elementCount(uint64_t count, const char *api) {
    if (count > INT32_MAX) fail("%s: count %lld", api, static_cast<long long>(static_cast<int32_t>(count)));
    return static_cast<int64_t>(count);
}

bool overlap(const Walked &a, uint64_t aBytes, const Walked &b, uint64_t bBytes) {
    return a.base < b.base + bBytes && b.base < a.base + aBytes;
}

}  // namespace

LaneSet selectLanes(const Lanes &lanes, uint32_t perRepeat, const char *api) {
    LaneSet set = {{0, 0, 0, 0}, -1};
    Core &core = self();
    if (lanes.form == Lanes::COUNT) {
        set.total = elementCount(lanes.count, api);
        // The instruction sets the registers itself and leaves them at "all lanes".
        core.counterMode = false;
        core.mask[0] = core.mask[1] = ~0ull;
        return set;
    }
    if (!lanes.set) {
        if (core.counterMode)
            set.total = static_cast<int64_t>(core.mask[0]);
        else {
            set.bits[0] = core.mask[0];
            set.bits[1] = core.mask[1];
            if (perRepeat < 128) set.bits[1] = 0;
            if (perRepeat < 64) set.bits[0] &= (1ull << perRepeat) - 1;
        }
        return set;
    }
    if (lanes.form == Lanes::MASK_BITS) {
        set.bits[0] = core.mask[0] = lanes.bits[0];
        set.bits[1] = core.mask[1] = lanes.bits[1];
        if (perRepeat < 64 && set.bits[0] >> perRepeat)
            fail("%s: mask {0x%llx, 0x%llx} selects lanes beyond the %u elements of one repeat", api,
                 static_cast<unsigned long long>(lanes.bits[0]), static_cast<unsigned long long>(lanes.bits[1]), perRepeat);
        return set;
    }
    if (core.counterMode) {
        core.mask[0] = lanes.count;
        core.mask[1] = 0;
        set.total = elementCount(lanes.count, api);
        return set;
    }
    if (lanes.count > perRepeat || lanes.count == 0)
        fail("%s: mask %llu is not in 1..%u, the elements of one repeat", api, static_cast<unsigned long long>(lanes.count),
             perRepeat);
    for (uint64_t lane = 0; lane < lanes.count; ++lane) set.bits[lane >> 6] |= 1ull << (lane & 63);
    core.mask[0] = set.bits[0];
    core.mask[1] = set.bits[1];
    return set;
}

void walkLanes(const VectorCall &call, const Lanes &lanes, RunFunction function, const void *context) {
    issue(PIPE_V);
    Walked walked[3] = {};
    const int operands = 1 + call.sources;
    uint32_t widest = 8;
    for (int i = 0; i < operands; ++i) {
        const Operand &operand = i ? call.src[i - 1] : call.dst;
        const uint32_t bits = elementBits(operand.type);
        walked[i] = {&operand, bits, kBlockBits / bits, operand.repeatStride, nullptr, i == 0};
        widest = larger(widest, bits);
    }
    const uint32_t perRepeat = kRepeatBits / widest;
    const LaneSet set = selectLanes(lanes, perRepeat, call.api);

    uint32_t repeats = lanes.repeats;
    uint32_t top = perRepeat;  // lanes beyond are never active
    if (set.total >= 0) {
        if (set.total == 0) {
            warn("%s: count 0", call.api);
            return;
        }
        repeats = static_cast<uint32_t>((set.total + perRepeat - 1) / perRepeat);
        if (repeats == 1) top = static_cast<uint32_t>(set.total);
    } else {
        while (top > 0 && !set.has(top - 1)) --top;
    }
    if (!repeats || !top) return;
    const uint32_t lastTop = set.total >= 0 ? static_cast<uint32_t>(set.total - int64_t{repeats - 1} * perRepeat) : top;

    bool sideBySide = set.total >= 0;  // one run for everything
    uint64_t bytes[3];
    for (int i = 0; i < operands; ++i) {
        Walked &w = walked[i];
        const uint32_t fullStride = perRepeat / w.perBlock;
        if (w.repeatStride == ~0u) w.repeatStride = fullStride;
        sideBySide = sideBySide && w.operand->blockStride == 1 && w.repeatStride == fullStride;
        // The furthest byte may be that of a full repeat before a short last one.
        bytes[i] = w.byteOf(repeats - 1, lastTop - 1) + (w.bits + 7) / 8;
        if (repeats > 1) bytes[i] = larger(bytes[i], w.byteOf(repeats - 2, top - 1) + (w.bits + 7) / 8);
        bytes[i] = larger(bytes[i], w.byteOf(0, (repeats == 1 ? lastTop : top) - 1) + (w.bits + 7) / 8);
        const Use use = {call.api, w.operand->name, PIPE_V, w.write, 32, in(Memory::UB)};
        if (w.operand->blockStride == 1 || !g_raceTracking)
            w.base = reach(w.operand->view, 0, bytes[i], use);
        else {  // tell the tracker only the blocks that are used
            for (uint32_t r = 0; r < repeats; ++r)
                for (uint32_t lane = 0; lane < (r + 1 == repeats ? lastTop : top); lane += w.perBlock)
                    reach(w.operand->view, w.byteOf(r, lane), 32, use);
            w.base = reach(w.operand->view, 0, 0, use);
        }
    }

    // A repeat reads all its lanes before it writes one. Where dst overlaps a source at another address, only copies of
    // the lanes keep that order.
    bool hazard = false;
    for (int i = 1; i < operands; ++i) {
        const bool same = walked[i].base == walked[0].base && walked[i].bits == walked[0].bits &&
                          walked[i].operand->blockStride == walked[0].operand->blockStride &&
                          walked[i].repeatStride == walked[0].repeatStride;
        hazard = hazard || (!same && overlap(walked[0], bytes[0], walked[i], bytes[i]));
    }
    if (sideBySide && !hazard) {
        function({walked[0].base, {walked[1].base, walked[2].base}, static_cast<size_t>(set.total)}, context);
        return;
    }

    uint32_t step = perRepeat;  // lanes that surely lie side by side
    for (int i = 0; i < operands; ++i)
        if (walked[i].operand->blockStride != 1) step = smaller(step, walked[i].perBlock);
    alignas(32) uint8_t copies[2][512];
    for (uint32_t r = 0; r < repeats; ++r) {
        const uint32_t limit = set.total >= 0 ? (r + 1 == repeats ? lastTop : perRepeat) : top;
        for (int i = 1; hazard && i < operands; ++i)
            for (uint32_t lane = 0; lane < limit; ++lane) {
                const uint8_t *from = walked[i].base + walked[i].byteOf(r, lane);
                std::memcpy(copies[i - 1] + uint64_t{lane} * walked[i].bits / 8, from, (walked[i].bits + 7) / 8);
            }
        for (uint32_t lane = 0; lane < limit;) {
            if (set.total < 0 && !set.has(lane)) {
                ++lane;
                continue;
            }
            uint32_t end = lane + 1;
            while (end < limit && end % step && (set.total >= 0 || set.has(end))) ++end;
            Run run = {walked[0].base + walked[0].byteOf(r, lane), {nullptr, nullptr}, end - lane};
            for (int i = 1; i < operands; ++i)
                run.src[i - 1] =
                    hazard ? copies[i - 1] + uint64_t{lane} * walked[i].bits / 8 : walked[i].base + walked[i].byteOf(r, lane);
            function(run, context);
            lane = end;
        }
    }
}

Extent extentOf(const Lanes &lanes, uint32_t elementBytes, const char *api) {
    const uint32_t perRepeat = kRepeatBits / 8 / elementBytes;
    Extent extent = {perRepeat, lanes.repeats, perRepeat, selectLanes(lanes, perRepeat, api)};
    const int64_t total = extent.set.total;
    if (total == 0) warn("%s: count 0", api);
    if (total >= 0) {
        extent.repeats = static_cast<uint32_t>((total + perRepeat - 1) / perRepeat);
        extent.lastLanes = extent.repeats ? static_cast<uint32_t>(total - int64_t{extent.repeats - 1} * perRepeat) : 0;
    } else {
        while (extent.lastLanes > 0 && !extent.set.has(extent.lastLanes - 1)) --extent.lastLanes;
    }
    return extent;
}

Strided reachStrided(const Operand &operand, const Extent &extent, bool write, const char *api) {
    const uint32_t bytes = elementBits(operand.type) / 8;
    Strided strided = {nullptr, bytes, 32 / bytes, operand.blockStride, operand.repeatStride == ~0u ? 8 : operand.repeatStride};
    uint64_t end = 0;
    if (extent.repeats && extent.lastLanes) {
        const uint32_t full = extent.set.total >= 0 ? extent.perRepeat : extent.lastLanes;
        end = static_cast<uint64_t>(strided.at(extent.repeats - 1, extent.lastLanes - 1) - strided.at(0, 0)) + bytes;
        if (extent.repeats > 1)
            end = larger(end, static_cast<uint64_t>(strided.at(extent.repeats - 2, full - 1) - strided.at(0, 0)) + bytes);
    }
    strided.base = reach(operand.view, 0, end, {api, operand.name, PIPE_V, write, 32, in(Memory::UB)});
    return strided;
}

}  // namespace skhost
