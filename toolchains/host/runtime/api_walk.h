// Walks the lanes of a vector instruction: masks, repeats and strides become runs of lanes that lie side by side in every
// operand. Private to the runtime.
#pragma once

#include "api_number.h"
#include "skrules_host/api/engine.h"

namespace skhost {

// The addresses of one run of `count` lanes.
struct Run {
    uint8_t *dst;
    const uint8_t *src[2];
    size_t count;
};
using RunFunction = void (*)(const Run &run, const void *context);

// Checks every operand of `call`, then hands out the runs in the order of the hardware: repeat by repeat.
void walkLanes(const VectorCall &call, const Lanes &lanes, RunFunction function, const void *context);

// The lanes of one repeat that a mask selects, from the operand or the mask registers. With `total` >= 0 the counter mode
// is on: that many elements altogether, repeats follow.
struct LaneSet {
    uint64_t bits[4];
    int64_t total;
    bool has(uint32_t lane) const { return bits[lane >> 6] >> (lane & 63) & 1; }
};
LaneSet selectLanes(const Lanes &lanes, uint32_t perRepeat, const char *api);

// An operand laid out in blocks and repeats, for instructions that are no plain loop over lanes.
struct Strided {
    uint8_t *base;
    uint32_t elementBytes, perBlock, blockStride, repeatStride;
    uint8_t *at(uint32_t repeat, uint32_t lane) const {
        const uint64_t block = uint64_t{repeat} * repeatStride + uint64_t{lane / perBlock} * blockStride;
        return base + block * 32 + uint64_t{lane % perBlock} * elementBytes;
    }
};
// How often and how far an instruction runs over operands of `elementBytes`.
struct Extent {
    uint32_t perRepeat, repeats, lastLanes;
    LaneSet set;
    bool has(uint32_t repeat, uint32_t lane) const {
        return set.total >= 0 ? uint64_t{repeat} * perRepeat + lane < static_cast<uint64_t>(set.total) : set.has(lane);
    }
};
Extent extentOf(const Lanes &lanes, uint32_t elementBytes, const char *api);
Strided reachStrided(const Operand &operand, const Extent &extent, bool write, const char *api);

}  // namespace skhost
