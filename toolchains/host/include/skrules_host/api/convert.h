// Cast between element types.
#pragma once

#include "skrules_host/api/vector.h"

namespace AscendC {

template <class T, class U>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint32_t count) {
    skhost::runCast(skhost::unaryCall("Cast", skhost::Op::Copy, dst, src, nullptr), skhost::countLanes(count), roundMode);
}
template <class T, class U, bool isSetMask = true>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask,
                 const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {
    skhost::runCast(skhost::unaryCall("Cast", skhost::Op::Copy, dst, src, nullptr, repeatParams),
                    skhost::maskLanes(mask, isSetMask, repeatTime), roundMode);
}
template <class T, class U, bool isSetMask = true>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask[],
                 const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {
    constexpr bool narrow = sizeof(T) <= 2 && sizeof(U) <= 2;
    skhost::runCast(skhost::unaryCall("Cast", skhost::Op::Copy, dst, src, nullptr, repeatParams),
                    skhost::maskLanes(mask, isSetMask, repeatTime, narrow), roundMode);
}

}  // namespace AscendC
