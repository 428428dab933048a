// Device API that is known and not emulated. Calling it is a compile error that says so, never a silent no-op.
#pragma once

#include <initializer_list>

#include "skrules_host/api/types.h"

namespace skhost {
// An argument of any type. A braced list is one too, which a template parameter would not take.
struct Any {
    Any() = default;
    template <class T> Any(const T &) {}
    Any(std::initializer_list<Any>) {}
};
}  // namespace skhost

#define SKHOST_FOUR_ARGUMENTS skhost::Any = {}, skhost::Any = {}, skhost::Any = {}, skhost::Any = {}
// TEMPLATE has the parameters that a call may give in <>: types, values, or a type and values.
#define SKHOST_NOT_EMULATED_AS(NAME, TEMPLATE, ...)                                                  \
    TEMPLATE inline void NAME(SKHOST_FOUR_ARGUMENTS, SKHOST_FOUR_ARGUMENTS, SKHOST_FOUR_ARGUMENTS) { \
        static_assert(skhost::kNever<__VA_ARGS__>, #NAME " is not emulated by the host toolchain");  \
    }
#define SKHOST_TYPES template <class... Types>
#define SKHOST_VALUES template <auto value, auto... values>
#define SKHOST_TYPE_AND_VALUES template <class T, auto value, auto... values>
#define SKHOST_NOT_EMULATED(NAME)                                \
    SKHOST_NOT_EMULATED_AS(NAME, SKHOST_TYPES, void(Types...))   \
    SKHOST_NOT_EMULATED_AS(NAME, SKHOST_VALUES, decltype(value)) \
    SKHOST_NOT_EMULATED_AS(NAME, SKHOST_TYPE_AND_VALUES, void(T, decltype(value)))

namespace AscendC {

// Vector
SKHOST_NOT_EMULATED(CastDeq)
SKHOST_NOT_EMULATED(CastDequant)
SKHOST_NOT_EMULATED(AddReluCast)
SKHOST_NOT_EMULATED(SubReluCast)
SKHOST_NOT_EMULATED(SetDeqScale)
SKHOST_NOT_EMULATED(Truncate)
SKHOST_NOT_EMULATED(MulCast)
SKHOST_NOT_EMULATED(Scatter)
SKHOST_NOT_EMULATED(Interleave)
SKHOST_NOT_EMULATED(DeInterleave)
SKHOST_NOT_EMULATED(TransDataTo5HD)
SKHOST_NOT_EMULATED(Sort)
SKHOST_NOT_EMULATED(Sort32)
SKHOST_NOT_EMULATED(MrgSort)
SKHOST_NOT_EMULATED(MrgSort4)
SKHOST_NOT_EMULATED(RpSort16)
SKHOST_NOT_EMULATED(Concat)
SKHOST_NOT_EMULATED(Extract)
SKHOST_NOT_EMULATED(ProposalConcat)
SKHOST_NOT_EMULATED(ProposalExtract)
SKHOST_NOT_EMULATED(BilinearInterpolation)
SKHOST_NOT_EMULATED(GetReduceMaxMinCount)
SKHOST_NOT_EMULATED(GetReduceRepeatMaxMinSpr)
// Data movement
SKHOST_NOT_EMULATED(SetPadValue)
SKHOST_NOT_EMULATED(SetLoopModePara)
SKHOST_NOT_EMULATED(ResetLoopModePara)
SKHOST_NOT_EMULATED(DataCopyL1ToUB)
// Cube
SKHOST_NOT_EMULATED(LoadDataWithStride)
SKHOST_NOT_EMULATED(LoadDataWithSparse)
SKHOST_NOT_EMULATED(LoadDataUnzip)
SKHOST_NOT_EMULATED(LoadImageToLocal)
SKHOST_NOT_EMULATED(MmadWithSparse)
SKHOST_NOT_EMULATED(SetFixPipeConfig)
SKHOST_NOT_EMULATED(SetFixpipeNz2ndFlag)
SKHOST_NOT_EMULATED(SetFixpipePreQuantFlag)
SKHOST_NOT_EMULATED(SetHF32Mode)
SKHOST_NOT_EMULATED(SetFmatrix)

}  // namespace AscendC

// A tiling key selects code at launch; emulated launches carry none.
#define TILING_KEY_IS(key) ::skhost::tilingKeyIsNotEmulatedByTheHostToolchain(key)
