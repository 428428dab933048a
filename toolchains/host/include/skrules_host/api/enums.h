// Public enumerations and constants of the device API. Names, order and values are those of the API documentation.
#pragma once

#include <cstdint>

#include "skrules_host/core.h"

enum QuantMode_t { NoQuant, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8_PRE, VQF322B8_PRE, REQ8, VREQ8 };

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX
};
using QuePosition = TPosition;
enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum class HardEvent : uint8_t {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    M_FIX,
    FIX_M,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MTE2_FIX,
    FIX_MTE2,
    FIX_S,
    M_S,
    FIX_MTE3,
    MTE1_FIX,
    FIX_MTE1,
    FIX_FIX,
    MAX
};

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
    CAST_HYBRID,
    CAST_EVEN,
    CAST_ZERO,
    UNKNOWN = 0xFF
};
enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class ReduceType { NONE = -1, SUM = 0, MAX, MIN };
enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };
enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_LAST = 2, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint8_t { ALL = 0, DDR, UB, SEQ };
enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 };
enum class PaddingMode : uint8_t { Normal = 0, Compact };
enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };

using TEventID = int8_t;
using TTagType = int32_t;

constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;
constexpr int32_t MIX = 3;
constexpr int32_t ONE_BLK_SIZE = 32;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr int32_t DEFAULT_REPEAT_SIZE = 256;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr uint64_t FULL_MASK = ~0ull;
constexpr uint64_t MASK_PLACEHOLDER = 0;
static constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
#ifdef __NPU_ARCH__
constexpr int32_t TOTAL_UB_SIZE = static_cast<int32_t>(skhost::kArchSpec.ub);
constexpr int32_t TOTAL_L1_SIZE = static_cast<int32_t>(skhost::kArchSpec.l1);
constexpr int32_t TOTAL_L0A_SIZE = static_cast<int32_t>(skhost::kArchSpec.l0a);
constexpr int32_t TOTAL_L0B_SIZE = static_cast<int32_t>(skhost::kArchSpec.l0b);
constexpr int32_t TOTAL_L0C_SIZE = static_cast<int32_t>(skhost::kArchSpec.l0c);
#endif

template <class A, class B> constexpr auto DivCeil(A a, B b) { return (a + b - 1) / b; }
template <class A, class B> constexpr auto CeilDivision(A a, B b) { return DivCeil(a, b); }
template <class A, class B> constexpr auto AlignUp(A a, B b) { return DivCeil(a, b) * b; }

}  // namespace AscendC

namespace skhost {

// The memory behind a logical position.
constexpr Memory memoryOf(AscendC::TPosition position) {
    using P = AscendC::TPosition;
    switch (position) {
        case P::GM:
            return Memory::GM;
        case P::A1:
        case P::B1:
        case P::C1:
        case P::TSCM:
            return Memory::L1;
        case P::A2:
            return Memory::L0A;
        case P::B2:
            return Memory::L0B;
        case P::C2:
            return Memory::BT;
        case P::CO1:
            return Memory::L0C;
        case P::C2PIPE2GM:
            return Memory::FB;
        default:
            return Memory::UB;
    }
}
// The position a LocalMemAllocator gives to tensors of its memory.
constexpr AscendC::TPosition positionOf(AscendC::Hardware hardware) {
    using P = AscendC::TPosition;
    constexpr P positions[] = {P::GM, P::VECCALC, P::A1, P::A2, P::B2, P::CO1, P::C2, P::C2PIPE2GM};
    return positions[static_cast<int>(hardware)];
}

struct EventInfo {
    pipe_t from;
    pipe_t to;
    const char *name;
};
#define SKHOST_EVENT(FROM, TO) {PIPE_##FROM, PIPE_##TO, #FROM "_" #TO}
inline constexpr EventInfo kEvents[] = {
    // in the order of HardEvent
    SKHOST_EVENT(MTE2, MTE1), SKHOST_EVENT(MTE1, MTE2), SKHOST_EVENT(MTE1, M),  SKHOST_EVENT(M, MTE1),
    SKHOST_EVENT(MTE2, V),    SKHOST_EVENT(V, MTE2),    SKHOST_EVENT(MTE3, V),  SKHOST_EVENT(V, MTE3),
    SKHOST_EVENT(M, V),       SKHOST_EVENT(V, M),       SKHOST_EVENT(V, V),     SKHOST_EVENT(MTE3, MTE1),
    SKHOST_EVENT(MTE1, MTE3), SKHOST_EVENT(MTE1, V),    SKHOST_EVENT(MTE2, M),  SKHOST_EVENT(M, MTE2),
    SKHOST_EVENT(V, MTE1),    SKHOST_EVENT(M, FIX),     SKHOST_EVENT(FIX, M),   SKHOST_EVENT(MTE3, MTE2),
    SKHOST_EVENT(MTE2, MTE3), SKHOST_EVENT(S, V),       SKHOST_EVENT(V, S),     SKHOST_EVENT(S, MTE2),
    SKHOST_EVENT(MTE2, S),    SKHOST_EVENT(S, MTE3),    SKHOST_EVENT(MTE3, S),  SKHOST_EVENT(MTE2, FIX),
    SKHOST_EVENT(FIX, MTE2),  SKHOST_EVENT(FIX, S),     SKHOST_EVENT(M, S),     SKHOST_EVENT(FIX, MTE3),
    SKHOST_EVENT(MTE1, FIX),  SKHOST_EVENT(FIX, MTE1),  SKHOST_EVENT(FIX, FIX),
};
#undef SKHOST_EVENT

}  // namespace skhost
