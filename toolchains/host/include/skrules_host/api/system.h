// Which core am I, mask and atomic registers, printing.
#pragma once

#include "skrules_host/api/tensor.h"

namespace skhost {

void setMaskCount(uint64_t lanes);  // the first `lanes` lanes, or the total number in counter mode
void trap();
int64_t cycles();
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dump(const LocalView *view, const void *global, DType type, uint64_t elements, uint32_t description);

// What a variadic C function can take.
template <class T> auto printable(T value) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>)
        return static_cast<double>(static_cast<float>(value));
    else
        return value;
}

}  // namespace skhost

namespace AscendC {

inline int64_t GetBlockIdx() { return skhost::self().logicalIndex; }
inline int64_t GetBlockNum() { return skhost::self().blockCount; }
inline int64_t GetSubBlockIdx() { return skhost::self().subIndex; }
inline int64_t GetSubBlockNum() { return skhost::self().ratio; }
inline int64_t GetTaskRatio() { return skhost::self().kind == skhost::CoreKind::AIV ? skhost::self().ratio : 1; }
inline int64_t GetTaskRation() { return GetTaskRatio(); }
inline uint32_t GetUBSizeInBytes() { return skhost::capacityOf(skhost::Memory::UB); }
inline uint32_t GetRuntimeUBSize() { return GetUBSizeInBytes(); }
inline int64_t GetSystemCycle() { return skhost::cycles(); }
inline int64_t GetProgramCounter() { return 0; }
constexpr uint32_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
inline void Trap() { skhost::trap(); }

// Scalar access to GM around the data cache, which the emulated cores do not have.
template <class T> inline void WriteGmByPassDCache(T *address, T value) {
    skhost::checkGlobal(address, sizeof(T), "WriteGmByPassDCache", "address");
    *address = value;
}
template <class T> inline T ReadGmByPassDCache(T *address) {
    skhost::checkGlobal(address, sizeof(T), "ReadGmByPassDCache", "address");
    return *address;
}

inline void SetMaskNorm() { skhost::self().counterMode = false; }
inline void SetMaskCount() { skhost::self().counterMode = true; }
inline void ResetMask() { skhost::self().mask[0] = skhost::self().mask[1] = ~0ull; }
template <class T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(uint64_t high, uint64_t low) {
    skhost::self().mask[0] = low;
    skhost::self().mask[1] = high;
}
template <class T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(int32_t lanes) {
    if constexpr (mode == MaskMode::COUNTER)
        SetVectorMask<T, mode>(0, static_cast<uint64_t>(lanes));
    else
        skhost::setMaskCount(static_cast<uint64_t>(lanes));
}

template <class T> inline void SetAtomicAdd() { skhost::self().atomicOp = 1; }
template <class T> inline void SetAtomicMax() { skhost::self().atomicOp = 2; }
template <class T> inline void SetAtomicMin() { skhost::self().atomicOp = 3; }
inline void SetAtomicNone() { skhost::self().atomicOp = 0; }
inline void DisableDmaAtomic() { skhost::self().atomicOp = 0; }

template <class... Arguments> inline void printf(const char *format, Arguments... arguments) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat"
    skhost::print(format, skhost::printable(arguments)...);
#pragma GCC diagnostic pop
}
template <class T> inline void DumpTensor(const LocalTensor<T> &tensor, uint32_t description, uint32_t elements) {
    skhost::dump(&tensor.view, nullptr, skhost::dtypeOf<T>(), elements, description);
}
template <class T> inline void DumpTensor(const GlobalTensor<T> &tensor, uint32_t description, uint32_t elements) {
    skhost::dump(nullptr, tensor.address, skhost::dtypeOf<T>(), elements, description);
}

}  // namespace AscendC

#define PRINTF AscendC::printf

inline int64_t get_block_idx() { return skhost::self().blockIndex; }
inline int64_t get_block_num() { return skhost::self().blockCount; }
inline int64_t get_subblockid() { return skhost::self().subIndex; }
inline int64_t get_subblockdim() { return skhost::self().ratio; }

// Tiling data that the caller left in GM.
namespace skhost {
template <class T> inline T readTiling(const void *address) {
    checkGlobal(address, sizeof(T), "GET_TILING_DATA", "tiling");
    T data;
    std::memcpy(static_cast<void *>(&data), address, sizeof(T));
    return data;
}
}  // namespace skhost
#define REGISTER_TILING_DEFAULT(Type) using SkhostDefaultTiling = Type
#define GET_TILING_DATA_WITH_STRUCT(Type, name, address) Type name = ::skhost::readTiling<Type>(address)
#define GET_TILING_DATA(name, address) GET_TILING_DATA_WITH_STRUCT(SkhostDefaultTiling, name, address)
