// Transpose, Gather, Brcb, CreateVecIndex.
#include <cstring>

#include "api_walk.h"

namespace skhost {
namespace {

Use vectorUse(const char *api, const char *operand, bool write, uint32_t align = 32) {
    return {api, operand, PIPE_V, write, align, in(Memory::UB)};
}

}  // namespace

void transpose16(const LocalView &dst, const LocalView &src) {
    issue(PIPE_V);
    uint16_t matrix[16][16], turned[16][16];
    std::memcpy(matrix, reach(src, 0, sizeof(matrix), vectorUse("Transpose", "src", false)), sizeof(matrix));
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 16; ++column) turned[column][row] = matrix[row][column];
    std::memcpy(reach(dst, 0, sizeof(turned), vectorUse("Transpose", "dst", true)), turned, sizeof(turned));
}

void gather(const LocalView &dst, const LocalView &src, const LocalView &offsets, uint32_t base, uint32_t elementBytes,
            const Lanes &lanes, uint32_t dstRepeatStride) {
    const char *api = "Gather";
    issue(PIPE_V);
    const Extent extent = extentOf(lanes, elementBytes, api);
    if (!extent.repeats || !extent.lastLanes) return;
    const uint64_t lastOffset = uint64_t{extent.repeats - 1} * extent.perRepeat + extent.lastLanes;
    const uint8_t *offset = reach(offsets, 0, lastOffset * sizeof(uint32_t), vectorUse(api, "srcOffset", false));
    reach(src, base, 0, vectorUse(api, "src", false, 1));
    const uint64_t repeatBytes = lanes.form == Lanes::COUNT ? 256 : uint64_t{dstRepeatStride} * 32;
    for (uint32_t r = 0; r < extent.repeats; ++r)
        for (uint32_t lane = 0; lane < extent.perRepeat; ++lane) {
            if (!extent.has(r, lane)) continue;
            uint32_t at;
            std::memcpy(&at, offset + (uint64_t{r} * extent.perRepeat + lane) * sizeof(at), sizeof(at));
            const uint8_t *from = reach(src, uint64_t{base} + at, elementBytes, vectorUse(api, "src", false, elementBytes));
            std::memcpy(
                reach(dst, r * repeatBytes + lane * elementBytes, elementBytes, vectorUse(api, "dst", true, elementBytes)), from,
                elementBytes);
        }
}

void broadcastBlocks(const LocalView &dst, const LocalView &src, uint32_t elementBytes, uint32_t repeats, uint32_t dstBlock,
                     uint32_t dstRepeat) {
    const char *api = "Brcb";
    issue(PIPE_V);
    const uint8_t *from = reach(src, 0, uint64_t{repeats} * 8 * elementBytes, vectorUse(api, "src", false));
    for (uint32_t r = 0; r < repeats; ++r)
        for (uint32_t block = 0; block < 8; ++block) {
            uint8_t *to =
                reach(dst, (uint64_t{r} * dstRepeat + uint64_t{block} * dstBlock) * 32, 32, vectorUse(api, "dst", true));
            for (uint32_t at = 0; at < 32; at += elementBytes)
                std::memcpy(to + at, from + (r * 8 + block) * elementBytes, elementBytes);
        }
}

void createIndex(const LocalView &dst, DType type, double first, uint64_t count) {
    issue(PIPE_V);
    uint8_t *to = reach(dst, 0, count * elementBits(type) / 8, vectorUse("CreateVecIndex", "dst", true));
    withNumber(type, [&](auto zero) {
        using T = decltype(zero);
        for (uint64_t i = 0; i < count; ++i) {
            const T value = static_cast<T>(static_cast<typename Lane<T>::Type>(first + static_cast<double>(i)));
            std::memcpy(to + i * sizeof(T), &value, sizeof(T));
        }
    });
}

}  // namespace skhost
