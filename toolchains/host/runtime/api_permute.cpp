// Transpose, Gather, Gatherb, GatherMask, Brcb, CreateVecIndex.
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

void gatherBlocks(const LocalView &dst, const LocalView &src, const LocalView &offsets, uint32_t repeats, uint32_t dstBlock,
                  uint32_t dstRepeat) {
    const char *api = "Gatherb";
    issue(PIPE_V);
    const uint8_t *offset = reach(offsets, 0, uint64_t{repeats} * 8 * sizeof(uint32_t), vectorUse(api, "offset", false));
    if (!dstBlock) dstBlock = 1;
    for (uint32_t r = 0; r < repeats; ++r)
        for (uint32_t block = 0; block < 8; ++block) {
            uint32_t at;
            std::memcpy(&at, offset + (uint64_t{r} * 8 + block) * sizeof(at), sizeof(at));
            const uint64_t to = (uint64_t{r} * dstRepeat + uint64_t{block} * dstBlock) * 32;
            const uint8_t *from = reach(src, at, 32, vectorUse(api, "src", false));
            std::memcpy(reach(dst, to, 32, vectorUse(api, "dst", true)), from, 32);
        }
}

uint64_t gatherMasked(const LocalView &dst, const LocalView &src, const GatherBits &bits, uint32_t elementBytes,
                      uint32_t perRepeat, uint32_t repeats, uint32_t blockStride, uint32_t repeatStride) {
    const char *api = "GatherMask";
    issue(PIPE_V);
    if (!bits.tensor && (bits.pattern < 1 || bits.pattern > 7)) fail("%s: pattern %u is none of 1..7", api, bits.pattern);
    // The instruction sets the mask registers itself and leaves them at "all lanes".
    Core &core = self();
    core.counterMode = false;
    core.mask[0] = core.mask[1] = ~0ull;
    // By index modulo 4: which elements a built-in pattern keeps.
    constexpr uint8_t kPatterns[] = {0, 0b0101, 0b1010, 0b0001, 0b0010, 0b0100, 0b1000, 0b1111};
    const uint32_t perBlock = 32 / elementBytes;
    reach(dst, 0, 0, vectorUse(api, "dst", true));
    uint64_t kept = 0;
    for (uint32_t r = 0; r < repeats; ++r) {
        const uint8_t *mask = nullptr;
        if (bits.tensor)
            mask = reach(*bits.tensor, uint64_t{r} * bits.repeatStride * 32, (uint64_t{perRepeat} + 7) / 8,
                         vectorUse(api, "src1Pattern", false));
        for (uint32_t first = 0; first < perRepeat; first += perBlock) {
            const uint32_t count = smaller(perBlock, perRepeat - first);
            const uint64_t block = uint64_t{r} * repeatStride + uint64_t{first / perBlock} * blockStride;
            const uint8_t *from = reach(src, block * 32, uint64_t{count} * elementBytes, vectorUse(api, "src0", false));
            uint8_t chosen[32];
            uint32_t length = 0;
            for (uint32_t lane = 0; lane < count; ++lane) {
                const uint32_t element = first + lane;
                const bool keep = mask ? mask[element / 8] >> element % 8 & 1 : kPatterns[bits.pattern] >> element % 4 & 1;
                if (!keep) continue;
                std::memcpy(chosen + length, from + lane * elementBytes, elementBytes);
                length += elementBytes;
            }
            if (!length) continue;
            std::memcpy(reach(dst, kept * elementBytes, length, vectorUse(api, "dst", true, elementBytes)), chosen, length);
            kept += length / elementBytes;
        }
    }
    return kept;
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
