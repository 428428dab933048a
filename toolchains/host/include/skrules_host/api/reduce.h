// Reductions. Sums are pairwise trees in the precision of the element type, as the vector unit adds.
#pragma once

#include "skrules_host/api/vector.h"

namespace skhost {

template <class T> Operand reduced(const AscendC::LocalTensor<T> &src, int32_t block, int32_t repeat) {
    return operand(src, "src", static_cast<uint32_t>(block), static_cast<uint32_t>(repeat));
}
template <class T> constexpr bool reduces() { return (kFloats | kIntegers) & bit(dtypeOf<T>()); }

}  // namespace skhost

#define SKHOST_REQUIRE_REDUCE(NAME, T)                                                                                         \
    static_assert(__NPU_ARCH__ == 3510 ? skhost::reduces<T>() : (skhost::kHalfFloat & skhost::bit(skhost::dtypeOf<T>())) != 0, \
                  #NAME " does not support this element type on this arch")

namespace AscendC {

template <class T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, const int32_t repeatTime,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {
    SKHOST_REQUIRE_REDUCE(WholeReduceSum, T);
    skhost::reduceRepeats("WholeReduceSum", skhost::Reduction::SUM, dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),
                          skhost::maskLanes(static_cast<uint64_t>(mask), isSetMask, repeatTime), dstRepStride,
                          ReduceOrder::ORDER_ONLY_VALUE);
}
template <class T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int32_t repeatTime,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {
    SKHOST_REQUIRE_REDUCE(WholeReduceSum, T);
    skhost::reduceRepeats("WholeReduceSum", skhost::Reduction::SUM, dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),
                          skhost::maskBits<T>(mask, isSetMask, repeatTime), dstRepStride, ReduceOrder::ORDER_ONLY_VALUE);
}

#define SKHOST_WHOLE_REDUCE(NAME, WHAT)                                                                                     \
    template <class T, bool isSetMask = true>                                                                               \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, const int32_t repeatTime,    \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                                  \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                     \
        skhost::reduceRepeats(#NAME, skhost::Reduction::WHAT, dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),   \
                              skhost::maskLanes(static_cast<uint64_t>(mask), isSetMask, repeatTime), dstRepStride, order);  \
    }                                                                                                                       \
    template <class T, bool isSetMask = true>                                                                               \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int32_t repeatTime, \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                                  \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                     \
        skhost::reduceRepeats(#NAME, skhost::Reduction::WHAT, dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),   \
                              skhost::maskBits<T>(mask, isSetMask, repeatTime), dstRepStride, order);                       \
    }
SKHOST_WHOLE_REDUCE(WholeReduceMax, MAX)
SKHOST_WHOLE_REDUCE(WholeReduceMin, MIN)
#undef SKHOST_WHOLE_REDUCE

#define SKHOST_BLOCK_REDUCE(NAME, WHAT)                                                                                     \
    template <class T, bool isSetMask = true>                                                                               \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask,    \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {                  \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                     \
        skhost::reduceBlocks(#NAME, skhost::Reduction::WHAT, dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),    \
                             skhost::maskLanes(static_cast<uint64_t>(mask), isSetMask, repeatTime), dstRepStride);          \
    }                                                                                                                       \
    template <class T, bool isSetMask = true>                                                                               \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const uint64_t mask[], \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {                  \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                     \
        skhost::reduceBlocks(#NAME, skhost::Reduction::WHAT, dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),    \
                             skhost::maskBits<T>(mask, isSetMask, repeatTime), dstRepStride);                               \
    }
SKHOST_BLOCK_REDUCE(BlockReduceSum, SUM)
SKHOST_BLOCK_REDUCE(BlockReduceMax, MAX)
SKHOST_BLOCK_REDUCE(BlockReduceMin, MIN)
#undef SKHOST_BLOCK_REDUCE

template <class T, bool isSetMask = true>
inline void PairReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask,
                          const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {
    SKHOST_REQUIRE_REDUCE(PairReduceSum, T);
    skhost::reducePairs("PairReduceSum", dst.view, skhost::reduced(src, srcBlkStride, srcRepStride),
                        skhost::maskLanes(static_cast<uint64_t>(mask), isSetMask, repeatTime), dstRepStride);
}

template <class T, bool isSetMask = true> inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                                                const LocalTensor<T> &sharedTmpBuffer, const int32_t count) {
    SKHOST_REQUIRE_REDUCE(ReduceSum, T);
    skhost::reduceAll("ReduceSum", skhost::Reduction::SUM, dst.view, skhost::operand(src, "src"), sharedTmpBuffer.view,
                      skhost::countLanes(count), false);
}
template <class T> inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                         const LocalTensor<T> &sharedTmpBuffer, const int32_t mask, const int32_t repeatTime,
                                         const int32_t srcRepStride) {
    SKHOST_REQUIRE_REDUCE(ReduceSum, T);
    skhost::reduceAll("ReduceSum", skhost::Reduction::SUM, dst.view, skhost::reduced(src, 1, srcRepStride), sharedTmpBuffer.view,
                      skhost::maskLanes(static_cast<uint64_t>(mask), true, repeatTime), false);
}
template <class T> inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                         const LocalTensor<T> &sharedTmpBuffer, const uint64_t mask[], const int32_t repeatTime,
                                         const int32_t srcRepStride) {
    SKHOST_REQUIRE_REDUCE(ReduceSum, T);
    skhost::reduceAll("ReduceSum", skhost::Reduction::SUM, dst.view, skhost::reduced(src, 1, srcRepStride), sharedTmpBuffer.view,
                      skhost::maskBits<T>(mask, true, repeatTime), false);
}

#define SKHOST_REDUCE(NAME, WHAT)                                                                                                \
    template <class T> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                    \
                                        const LocalTensor<T> &sharedTmpBuffer, const int32_t count, bool calIndex = false) {     \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                          \
        skhost::reduceAll(#NAME, skhost::Reduction::WHAT, dst.view, skhost::operand(src, "src"), sharedTmpBuffer.view,           \
                          skhost::countLanes(count), calIndex);                                                                  \
    }                                                                                                                            \
    template <class T> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                    \
                                        const LocalTensor<T> &sharedTmpBuffer, const int32_t mask, const int32_t repeatTime,     \
                                        const int32_t srcRepStride, bool calIndex = false) {                                     \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                          \
        skhost::reduceAll(#NAME, skhost::Reduction::WHAT, dst.view, skhost::reduced(src, 1, srcRepStride), sharedTmpBuffer.view, \
                          skhost::maskLanes(static_cast<uint64_t>(mask), true, repeatTime), calIndex);                           \
    }                                                                                                                            \
    template <class T> inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                    \
                                        const LocalTensor<T> &sharedTmpBuffer, const uint64_t mask[], const int32_t repeatTime,  \
                                        const int32_t srcRepStride, bool calIndex = false) {                                     \
        SKHOST_REQUIRE_REDUCE(NAME, T);                                                                                          \
        skhost::reduceAll(#NAME, skhost::Reduction::WHAT, dst.view, skhost::reduced(src, 1, srcRepStride), sharedTmpBuffer.view, \
                          skhost::maskBits<T>(mask, true, repeatTime), calIndex);                                                \
    }
SKHOST_REDUCE(ReduceMax, MAX)
SKHOST_REDUCE(ReduceMin, MIN)
#undef SKHOST_REDUCE

// The same reductions under their newer names. `T` and `U` are the types of dst and src.
template <ReduceType type, class T, class U, bool isSetMask = true>
inline void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, const int32_t repeatTime,
                         const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                         ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
    static_assert(std::is_same_v<T, U>, "ReduceRepeat: only dst of the type of src is emulated");
    if constexpr (type == ReduceType::SUM)
        WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride);
    else if constexpr (type == ReduceType::MAX)
        WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order);
    else
        WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order);
}
template <ReduceType type, class T, class U, bool isSetMask = true>
inline void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, const int32_t repeatTime,
                            const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {
    static_assert(std::is_same_v<T, U>, "ReduceDataBlock: only dst of the type of src is emulated");
    if constexpr (type == ReduceType::SUM)
        BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);
    else if constexpr (type == ReduceType::MAX)
        BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);
    else
        BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);
}
template <ReduceType type, class T, class U, bool isSetMask = true>
inline void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, const int32_t repeatTime,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {
    static_assert(std::is_same_v<T, U> && type == ReduceType::SUM, "ReducePairElem: only sums in the type of src are emulated");
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);
}

// The sum that the last ReduceSum or WholeReduceSum left in the accumulator.
template <class T> inline T GetReduceRepeatSumSpr() { return static_cast<T>(skhost::self().accumulator); }
template <class T> inline T GetAccVal() { return GetReduceRepeatSumSpr<T>(); }

}  // namespace AscendC
