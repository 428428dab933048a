// What the device API asks of the runtime library. The templates of the API only collect types, sizes and strides here;
// everything else is compiled once, in toolchains/host/runtime/api_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "skrules_host/api/enums.h"
#include "skrules_host/api/types.h"
#include "skrules_host/core.h"

namespace skhost {

// Where a tensor lies in on-chip memory. It is an address only: whether the core has such a memory is checked at use,
// because a mix kernel may name memories of the other core. `end` is where the buffer it was cut from ends.
struct LocalView {
    Memory memory = Memory::UB;
    bool bound = false;
    uint32_t offset = 0;
    uint32_t end = 0;
};

// One use of an operand. `memories` has a bit per Memory that is allowed.
struct Use {
    const char *api;
    const char *operand;
    pipe_t pipe;
    bool write;
    uint32_t align;
    uint32_t memories;
};
constexpr uint32_t in(Memory memory) { return 1u << static_cast<int>(memory); }
constexpr uint32_t kAnyLocal = 0xfeu;

// The address of bytes [from, from + bytes) of a tensor, for one use. Fails when the tensor is empty, lies in a memory
// that this core lacks or this operand may not lie in, is not aligned, or does not have so many bytes.
uint8_t *reach(const LocalView &view, uint64_t from, uint64_t bytes, const Use &use);

// ---- vector elementwise -----------------------------------------------------------------------------------------------
struct Operand {
    LocalView view;
    DType type;
    uint32_t blockStride = 1;   // in blocks of 32 bytes
    uint32_t repeatStride = 8;  // in blocks of 32 bytes
    const char *name = "";
};
// The lanes of an instruction. Three forms: `count` elements from the start; `repeats` of `count` lanes; `repeats` of the
// lanes whose bits are set. With `set` false (isSetMask = false) the mask registers decide.
struct Lanes {
    enum Form : uint8_t { COUNT, MASK_COUNT, MASK_BITS } form;
    bool set;
    uint32_t repeats;
    uint64_t count;
    uint64_t bits[2];
};
inline Lanes countLanes(int64_t count) { return {Lanes::COUNT, true, 0, static_cast<uint64_t>(count), {0, 0}}; }
inline Lanes maskLanes(uint64_t mask, bool set, uint32_t repeats) { return {Lanes::MASK_COUNT, set, repeats, mask, {0, 0}}; }
inline Lanes maskLanes(const uint64_t *mask, bool set, uint32_t repeats, bool wide) {
    return {Lanes::MASK_BITS, set, repeats, 0, {set ? mask[0] : 0, set && wide ? mask[1] : 0}};
}

enum class Op : uint16_t;
struct VectorCall {
    const char *api;
    Op op;
    uint8_t sources;  // 0, 1 or 2 tensors
    Operand dst;
    Operand src[2];
    const void *scalar;  // of the type of src[0]; nullptr without
};
void runVector(const VectorCall &call, const Lanes &lanes);
void runCast(const VectorCall &call, const Lanes &lanes, AscendC::RoundMode mode);

// ---- vector, the rest ---
// `bits` receives the result, or nothing when it is the compare mask register.
void runCompare(const VectorCall &call, const LocalView *bits, AscendC::CMPMODE mode, const Lanes &lanes);
void runSelect(const VectorCall &call, const LocalView &bits, AscendC::SELMODE mode, const Lanes &lanes);
void moveCompareMask(const LocalView &tensor, bool toRegister);

enum class Reduction : uint8_t { SUM, MAX, MIN };

// One result a repeat. `dstStride` counts results.
void reduceRepeats(const char *api, Reduction what, const LocalView &dst, const Operand &src, const Lanes &lanes,
                   uint32_t dstStride, AscendC::ReduceOrder order);
// One result a block of 32 bytes; `dstStride` counts the 8 results of a repeat.
void reduceBlocks(const char *api, Reduction what, const LocalView &dst, const Operand &src, const Lanes &lanes,
                  uint32_t dstStride);
// One result two neighbours; `dstStride` counts the results of a whole repeat (128 bytes).
void reducePairs(const char *api, const LocalView &dst, const Operand &src, const Lanes &lanes, uint32_t dstStride);
// One result altogether, and its index behind it when `index` is set.
void reduceAll(const char *api, Reduction what, const LocalView &dst, const Operand &src, const LocalView &room,
               const Lanes &lanes, bool index);

void transpose16(const LocalView &dst, const LocalView &src);
void gather(const LocalView &dst, const LocalView &src, const LocalView &offsets, uint32_t base, uint32_t elementBytes,
            const Lanes &lanes, uint32_t dstRepeatStride);
// Whole blocks of 32 bytes, each from its offset in bytes.
void gatherBlocks(const LocalView &dst, const LocalView &src, const LocalView &offsets, uint32_t repeats, uint32_t dstBlock,
                  uint32_t dstRepeat);
// The elements whose bit is set, side by side. The bits are those of a tensor, or one of the built-in patterns 1..7.
struct GatherBits {
    const LocalView *tensor;  // nullptr: the pattern
    uint32_t repeatStride;    // of the tensor, in blocks
    uint8_t pattern;
};
// `perRepeat` elements a repeat, whose blocks and repeats lie `blockStride` and `repeatStride` blocks apart; the number of
// elements kept.
uint64_t gatherMasked(const LocalView &dst, const LocalView &src, const GatherBits &bits, uint32_t elementBytes,
                      uint32_t perRepeat, uint32_t repeats, uint32_t blockStride, uint32_t repeatStride);
void broadcastBlocks(const LocalView &dst, const LocalView &src, uint32_t elementBytes, uint32_t repeats, uint32_t dstBlock,
                     uint32_t dstRepeat);
void createIndex(const LocalView &dst, DType type, double first, uint64_t count);

}  // namespace skhost
