// Reductions over repeats, blocks, pairs and whole tensors.
#include <cstring>
#include <vector>

#include "api_walk.h"

namespace skhost {
namespace {

// Adjacent pairs, then pairs of pairs, rounding to T after every addition. `count` is a power of two; lanes that take no
// part are zero.
template <class T> T tree(T *values, uint32_t count) {
    for (; count > 1; count /= 2)
        for (uint32_t i = 0; i < count / 2; ++i)
            values[i] = static_cast<T>(static_cast<typename Lane<T>::Type>(values[2 * i]) +
                                       static_cast<typename Lane<T>::Type>(values[2 * i + 1]));
    return values[0];
}

template <class T> struct Best {
    T value;
    uint32_t index;
    bool found;
};

template <class T> bool better(T a, T b, Reduction what) {
    using L = typename Lane<T>::Type;
    return what == Reduction::MAX ? static_cast<L>(a) > static_cast<L>(b) : static_cast<L>(a) < static_cast<L>(b);
}

// The first lane with the extreme value.
template <class T> Best<T> extreme(const T *values, const bool *active, uint32_t count, Reduction what) {
    Best<T> best = {T(0), 0, false};
    for (uint32_t i = 0; i < count; ++i)
        if (active[i] && (!best.found || better(values[i], best.value, what))) best = {values[i], i, true};
    return best;
}

// An index is stored as an unsigned integer as wide as T, in the bits of a T.
template <class T> T indexBits(uint32_t index) {
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>
        bits = 0;
    bits = static_cast<decltype(bits)>(index);
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

template <class T> struct Lanes256 {
    T values[256];
    bool active[256];
};
template <class T> void loadRepeat(Lanes256<T> &lanes, const Strided &src, const Extent &extent, uint32_t repeat) {
    for (uint32_t lane = 0; lane < extent.perRepeat; ++lane) {
        lanes.active[lane] = extent.has(repeat, lane);
        lanes.values[lane] = T(0);
        if (lanes.active[lane]) std::memcpy(&lanes.values[lane], src.at(repeat, lane), sizeof(T));
    }
}

template <class T> void put(const LocalView &dst, uint64_t index, T value, const char *api) {
    uint8_t *at = reach(dst, index * sizeof(T), sizeof(T), {api, "dst", PIPE_V, true, sizeof(T), in(Memory::UB)});
    std::memcpy(at, &value, sizeof(T));
}

}  // namespace

void reduceRepeats(const char *api, Reduction what, const LocalView &dst, const Operand &src, const Lanes &lanes,
                   uint32_t dstStride, AscendC::ReduceOrder order) {
    using AscendC::ReduceOrder;
    issue(PIPE_V);
    withLane(src.type, [&](auto zero) {
        using T = decltype(zero);
        const Extent extent = extentOf(lanes, sizeof(T), api);
        const Strided from = reachStrided(src, extent, false, api);
        Lanes256<T> loaded;
        for (uint32_t r = 0; r < extent.repeats; ++r) {
            loadRepeat(loaded, from, extent, r);
            if (what == Reduction::SUM) {
                const T sum = tree(loaded.values, extent.perRepeat);
                self().accumulator = static_cast<float>(sum);
                put(dst, uint64_t{r} * dstStride, sum, api);
                continue;
            }
            const Best<T> best = extreme(loaded.values, loaded.active, extent.perRepeat, what);
            if (!best.found) continue;
            const T index = indexBits<T>(best.index);
            const uint64_t pair = uint64_t{r} * dstStride * 2, single = uint64_t{r} * dstStride;
            switch (order) {
                case ReduceOrder::ORDER_VALUE_INDEX:
                    put(dst, pair, best.value, api), put(dst, pair + 1, index, api);
                    break;
                case ReduceOrder::ORDER_INDEX_VALUE:
                    put(dst, pair, index, api), put(dst, pair + 1, best.value, api);
                    break;
                case ReduceOrder::ORDER_ONLY_VALUE:
                    put(dst, single, best.value, api);
                    break;
                case ReduceOrder::ORDER_ONLY_INDEX:
                    put(dst, single, index, api);
                    break;
            }
        }
    });
}

void reduceBlocks(const char *api, Reduction what, const LocalView &dst, const Operand &src, const Lanes &lanes,
                  uint32_t dstStride) {
    issue(PIPE_V);
    withLane(src.type, [&](auto zero) {
        using T = decltype(zero);
        const Extent extent = extentOf(lanes, sizeof(T), api);
        const Strided from = reachStrided(src, extent, false, api);
        Lanes256<T> loaded;
        for (uint32_t r = 0; r < extent.repeats; ++r) {
            loadRepeat(loaded, from, extent, r);
            for (uint32_t block = 0; block < 8; ++block) {
                const uint32_t first = block * from.perBlock;
                const Best<T> best = extreme(loaded.values + first, loaded.active + first, from.perBlock, what);
                if (!best.found) continue;  // a block without a lane keeps what dst held
                const T value = what == Reduction::SUM ? tree(loaded.values + first, from.perBlock) : best.value;
                put(dst, uint64_t{r} * dstStride * 8 + block, value, api);
            }
        }
    });
}

void reducePairs(const char *api, const LocalView &dst, const Operand &src, const Lanes &lanes, uint32_t dstStride) {
    issue(PIPE_V);
    withLane(src.type, [&](auto zero) {
        using T = decltype(zero);
        const Extent extent = extentOf(lanes, sizeof(T), api);
        const Strided from = reachStrided(src, extent, false, api);
        Lanes256<T> loaded;
        for (uint32_t r = 0; r < extent.repeats; ++r) {
            loadRepeat(loaded, from, extent, r);
            for (uint32_t lane = 0; lane < extent.perRepeat; lane += 2)
                if (loaded.active[lane] || loaded.active[lane + 1])
                    put(dst, uint64_t{r} * dstStride * (extent.perRepeat / 2) + lane / 2, tree(loaded.values + lane, 2), api);
        }
    });
}

void reduceAll(const char *api, Reduction what, const LocalView &dst, const Operand &src, const LocalView &room,
               const Lanes &lanes, bool index) {
    issue(PIPE_V);
    withLane(src.type, [&](auto zero) {
        using T = decltype(zero);
        const Extent extent = extentOf(lanes, sizeof(T), api);
        if (!extent.repeats) return;
        const Strided from = reachStrided(src, extent, false, api);
        // dav-2201 keeps a result of every repeat there. dav-3510 needs no room.
        if (self().arch == 2201 && extent.repeats > 1)
            reach(room, 0, uint64_t{extent.repeats} * sizeof(T), {api, "sharedTmpBuffer", PIPE_V, true, 32, in(Memory::UB)});
        Lanes256<T> loaded;
        std::vector<T> level;
        Best<T> best = {T(0), 0, false};
        for (uint32_t r = 0; r < extent.repeats; ++r) {
            loadRepeat(loaded, from, extent, r);
            if (what == Reduction::SUM) {
                level.push_back(tree(loaded.values, extent.perRepeat));
                continue;
            }
            const Best<T> one = extreme(loaded.values, loaded.active, extent.perRepeat, what);
            if (one.found && (!best.found || better(one.value, best.value, what)))
                best = {one.value, static_cast<uint32_t>((from.at(r, one.index) - from.base) / sizeof(T)), true};
        }
        if (what != Reduction::SUM) {
            if (!best.found) return;
            put(dst, 0, best.value, api);
            if (index) put(dst, 1, indexBits<T>(best.index), api);
            return;
        }
        while (level.size() > 1) {  // the results of the repeats are reduced the same way
            std::vector<T> next;
            for (size_t at = 0; at < level.size(); at += extent.perRepeat) {
                T values[256] = {};
                for (size_t i = 0; i < extent.perRepeat && at + i < level.size(); ++i) values[i] = level[at + i];
                next.push_back(tree(values, extent.perRepeat));
            }
            level.swap(next);
        }
        self().accumulator = static_cast<float>(level[0]);
        put(dst, 0, level[0], api);
    });
}

}  // namespace skhost
