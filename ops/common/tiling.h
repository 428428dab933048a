// How work is shared by cores. The number of cores is an argument: only a kernel itself knows how many run it.
#ifndef OPS_COMMON_TILING_H
#define OPS_COMMON_TILING_H

#include "kernel_operator.h"

struct Share {
    uint32_t first;
    uint32_t count;
};

__aicore__ inline uint32_t CeilDiv(uint32_t value, uint32_t by)
{
    return value / by + (value % by != 0 ? 1 : 0);
}

__aicore__ inline uint32_t MinOf(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// The share of one of `cores` cores in `total` items. Shares begin at a multiple of `unit` and differ by at most one unit.
__aicore__ inline Share ShareOf(uint32_t total, uint32_t unit, uint32_t cores, uint32_t core)
{
    const uint32_t units = CeilDiv(total, unit);
    const uint32_t each = units / cores;
    const uint32_t rest = units % cores;
    const uint32_t firstUnit = core * each + MinOf(core, rest);
    const uint32_t lastUnit = firstUnit + each + (core < rest ? 1 : 0);
    const uint32_t first = MinOf(firstUnit * unit, total);
    return {first, MinOf(lastUnit * unit, total) - first};
}

#endif  // OPS_COMMON_TILING_H
