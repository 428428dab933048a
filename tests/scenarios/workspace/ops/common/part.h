#pragma once

// Elements that each of `blocks` blocks takes; the last one takes what is left.
__aicore__ inline uint32_t PartOf(uint32_t total, uint32_t block, uint32_t blocks, uint32_t unit) {
    const uint32_t part = (total / unit + blocks - 1) / blocks * unit;
    const uint32_t start = part * block;
    return start >= total ? 0 : (total - start < part ? total - start : part);
}
