// Data movement between GM and on-chip memories: DataCopy, DataCopyPad, ND to NZ.
#include <cstring>

#include "api_number.h"
#include "skrules_host/api/data_copy.h"

namespace skhost {
namespace {

constexpr uint32_t kFromGlobal = in(Memory::UB) | in(Memory::L1);
constexpr const char *kPadIn = "DataCopyPad(GM->UB)";
constexpr const char *kPadOut = "DataCopyPad(UB->GM)";

uint64_t up32(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

// One write to GM, combined with what is there when an atomic mode is set.
void store(void *to, const uint8_t *from, uint64_t bytes, DType type, const char *api) {
    const int atomic = self().atomicOp;
    if (!atomic) {
        std::memcpy(to, from, bytes);
        return;
    }
    bool done = false;
    withNumber(type, [&](auto zero) {
        using T = decltype(zero);
        using L = typename Lane<T>::Type;
        done = true;
        for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
            T old, value;
            std::memcpy(&old, static_cast<uint8_t *>(to) + at, sizeof(T));
            std::memcpy(&value, from + at, sizeof(T));
            const L a = static_cast<L>(old), b = static_cast<L>(value);
            const T result = static_cast<T>(atomic == 1 ? static_cast<L>(a + b) : atomic == 2 ? larger(a, b) : smaller(a, b));
            std::memcpy(static_cast<uint8_t *>(to) + at, &result, sizeof(T));
        }
    });
    if (!done) fail("%s: atomic mode is set, but %s has no arithmetic", api, typeName(type));
}

}  // namespace

void checkBlocks(uint64_t elements, uint64_t bytes, const char *api) {
    if (bytes % 32)
        fail("%s: %llu elements = %llu bytes is not a multiple of 32 (use DataCopyPad)", api,
             static_cast<unsigned long long>(elements), static_cast<unsigned long long>(bytes));
    if (!bytes) warn("%s of 0 elements", api);
}

void copyIn(const LocalView &to, const void *from, const Pieces &pieces, const char *api) {
    issue(PIPE_MTE2);
    const uint8_t *source = static_cast<const uint8_t *>(from);
    for (uint64_t i = 0; i < pieces.count && pieces.length; ++i) {
        const uint8_t *piece = source + static_cast<int64_t>(i) * pieces.globalStep;
        checkGlobal(piece, pieces.length, api, "src");
        uint8_t *target =
            reach(to, i * static_cast<uint64_t>(pieces.localStep), pieces.length, {api, "dst", PIPE_MTE2, true, 32, kFromGlobal});
        std::memcpy(target, piece, pieces.length);
    }
}

void copyOut(void *to, const LocalView &from, const Pieces &pieces, DType type, const char *api) {
    issue(PIPE_MTE3);
    uint8_t *target = static_cast<uint8_t *>(to);
    for (uint64_t i = 0; i < pieces.count && pieces.length; ++i) {
        uint8_t *piece = target + static_cast<int64_t>(i) * pieces.globalStep;
        const uint8_t *source = reach(from, i * static_cast<uint64_t>(pieces.localStep), pieces.length,
                                      {api, "src", PIPE_MTE3, false, 32, kFromGlobal});
        checkGlobal(piece, pieces.length, api, "dst");
        store(piece, source, pieces.length, type, api);
    }
}

void copyLocal(const LocalView &to, const LocalView &from, uint64_t count, uint64_t length, uint64_t srcGap, uint64_t dstGap,
               DType type) {
    const char *api = "DataCopy(local->local)";
    const bool widensBias = to.memory == Memory::BT && type == DType::HALF;
    const pipe_t pipe = from.memory == Memory::L1 ? PIPE_MTE1 : to.memory == Memory::UB ? PIPE_V : PIPE_MTE3;
    // Into the bias table the units are 64 bytes on dav-2201, into the Fixpipe buffer 128 bytes.
    const uint64_t unit = to.memory == Memory::BT && self().arch == 2201 ? 64 : to.memory == Memory::FB ? 128 : 32;
    if (widensBias) fail("%s: half in L1 to float in BT is not emulated; keep the bias in float", api);
    issue(pipe);
    const uint64_t bytes = length * unit;
    for (uint64_t i = 0; i < count && bytes; ++i) {
        const uint8_t *source = reach(from, i * (length + srcGap) * unit, bytes, {api, "src", pipe, false, 32, kFromGlobal});
        uint8_t *target = reach(to, i * (length + dstGap) * unit, bytes,
                                {api, "dst", pipe, true, 32, kFromGlobal | in(Memory::BT) | in(Memory::FB)});
        std::memmove(target, source, bytes);
    }
}

void copyInPadded(const LocalView &to, const void *from, uint64_t count, uint64_t length, int64_t srcGap, int64_t dstGap,
                  const Padding &padding) {
    issue(PIPE_MTE2);
    const uint64_t left = padding.enabled ? padding.left : 0, right = padding.enabled ? padding.right : 0;
    if (left > 32 || right > 32)
        fail("%s: %llu bytes of padding on one side, at most 32 are allowed", kPadIn,
             static_cast<unsigned long long>(larger(left, right)));
    const uint64_t used = left + length + right;
    for (uint64_t i = 0; i < count && length; ++i) {
        // What this piece fills on chip: whole blocks, and in compact mode only with the last piece.
        const uint64_t begin = padding.compact ? i * length : i * (up32(used) + static_cast<uint64_t>(dstGap) * 32);
        const uint64_t row = !padding.compact ? up32(used) : i + 1 < count ? length : up32(begin + length) - begin;
        const uint8_t *source =
            static_cast<const uint8_t *>(from) + static_cast<int64_t>(i) * (static_cast<int64_t>(length) + srcGap);
        checkGlobal(source, length, kPadIn, "src");
        uint8_t *target = reach(to, begin, row, {kPadIn, "dst", PIPE_MTE2, true, padding.compact && i ? 1u : 32u, kFromGlobal});
        const auto fill = [&](uint64_t begin, uint64_t end, uint64_t value) {
            for (uint64_t at = begin; at < end; ++at)
                target[at] = static_cast<uint8_t>(value >> (at - begin) % padding.element * 8);
        };
        fill(0, left, padding.value);
        std::memcpy(target + left, source, length);
        // With padding on, the rest of the last block is padding too; without, its content is undefined on the device and
        // zero here.
        fill(left + length, row, padding.enabled ? padding.value : 0);
    }
}

void copyOutPadded(void *to, const LocalView &from, uint64_t count, uint64_t length, int64_t srcGap, int64_t dstGap, DType type,
                   bool compact) {
    issue(PIPE_MTE3);
    for (uint64_t i = 0; i < count && length; ++i) {
        uint8_t *target = static_cast<uint8_t *>(to) + static_cast<int64_t>(i) * (static_cast<int64_t>(length) + dstGap);
        const uint64_t begin = compact ? i * length : i * (up32(length) + static_cast<uint64_t>(srcGap) * 32);
        const uint8_t *source =
            reach(from, begin, length, {kPadOut, "src", PIPE_MTE3, false, compact && i ? 1u : 32u, kFromGlobal});
        checkGlobal(target, length, kPadOut, "dst");
        store(target, source, length, type, kPadOut);
    }
}

void copyNdToNz(const LocalView &to, const void *from, const NdToNz &shape) {
    const char *api = "DataCopy(ND2NZ)";
    issue(PIPE_MTE2);
    const uint32_t c0 = 32 / shape.element;
    const uint8_t *source = static_cast<const uint8_t *>(from);
    for (uint32_t matrix = 0; matrix < shape.matrices; ++matrix)
        for (uint32_t row = 0; row < shape.rows; ++row) {
            const uint8_t *line = source + (matrix * shape.srcMatrix + row * shape.srcRow) * shape.element;
            checkGlobal(line, uint64_t{shape.columns} * shape.element, api, "src");
            for (uint32_t column = 0; column < shape.columns; column += c0) {
                const uint64_t at = matrix * shape.dstMatrix * shape.element +
                                    (uint64_t{column / c0} * shape.dstC0 + uint64_t{row} * shape.dstRow) * 32;
                uint8_t *block = reach(to, at, 32, {api, "dst", PIPE_MTE2, true, 32, in(Memory::L1)});
                const uint32_t bytes = smaller(c0, shape.columns - column) * shape.element;
                std::memcpy(block, line + uint64_t{column} * shape.element, bytes);
                std::memset(block + bytes, 0, 32 - bytes);  // undefined on the device
            }
        }
}

}  // namespace skhost
