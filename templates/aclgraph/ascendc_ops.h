// What the functions that Python calls have in common: checks of arguments, scalars, the stream and the cores of the device.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <torch/extension.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "third_party/acl/inc/acl/acl_rt.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace ascendc_ops::host {

inline c10::Device deviceOf(const char *title, const at::Tensor &tensor) {
    TORCH_CHECK(tensor.defined() && tensor.device().type() == c10::DeviceType::PrivateUse1, title, " must be on an npu");
    return tensor.device();
}

inline void check(const char *title, const at::Tensor &tensor, std::optional<at::ScalarType> dtype, int64_t rank) {
    deviceOf(title, tensor);
    TORCH_CHECK(tensor.layout() == at::kStrided && tensor.is_contiguous(), title, " must be dense and contiguous");
    TORCH_CHECK(!tensor.is_conj() && !tensor.is_neg(), title, " is a lazy conjugate or negation");
    TORCH_CHECK(!dtype || tensor.scalar_type() == *dtype, title, " must be ", *dtype, ", got ", tensor.scalar_type());
    TORCH_CHECK(rank < 0 || tensor.dim() == rank, title, " must have rank ", rank, ", got ", tensor.dim());
}

// The address of a tensor that the kernel reads.
template <class T>
T input(const char *title, const at::Tensor &tensor, std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
    check(title, tensor, dtype, rank);
    return static_cast<T>(const_cast<void *>(tensor.const_data_ptr()));
}

// Tells autograd, and whoever saved the tensor for a backward pass, that its values are new.
inline void markWritten(const at::Tensor &tensor) {
    if (!tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
}

// The address of a tensor that the kernel writes.
template <class T>
T output(const char *title, const at::Tensor &tensor, std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
    check(title, tensor, dtype, rank);
    markWritten(tensor);
    return static_cast<T>(tensor.mutable_data_ptr());
}

template <class T> T input(const char *title, const std::optional<at::Tensor> &tensor,
                           std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
    return tensor ? input<T>(title, *tensor, dtype, rank) : nullptr;
}

template <class T> T output(const char *title, const std::optional<at::Tensor> &tensor,
                            std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
    return tensor ? output<T>(title, *tensor, dtype, rank) : nullptr;
}

// A number of an integer or enumeration type; what does not fit is refused and not cut off.
template <class T> std::decay_t<T> integer(const char *title, int64_t value) {
    using Value = std::decay_t<T>;
    if constexpr (std::is_enum_v<Value>) {
        return static_cast<Value>(integer<std::underlying_type_t<Value>>(title, value));
    } else if constexpr (std::is_unsigned_v<Value>) {
        TORCH_CHECK(value >= 0 && static_cast<uint64_t>(value) <= std::numeric_limits<Value>::max(), title, " takes 0 .. ",
                    static_cast<uint64_t>(std::numeric_limits<Value>::max()), ", got ", value);
        return static_cast<Value>(value);
    } else {
        TORCH_CHECK(value >= std::numeric_limits<Value>::min() && value <= std::numeric_limits<Value>::max(), title, " takes ",
                    static_cast<int64_t>(std::numeric_limits<Value>::min()), " .. ",
                    static_cast<int64_t>(std::numeric_limits<Value>::max()), ", got ", value);
        return static_cast<Value>(value);
    }
}

template <class T> std::decay_t<T> boolean(const char *, bool value) { return static_cast<std::decay_t<T>>(value); }
template <class T> std::decay_t<T> real(const char *, double value) { return static_cast<std::decay_t<T>>(value); }

// A float that rounds to the same half or bfloat16 as `value` does: what a float cannot hold is kept in its last bit
// ("round to odd"), so that the second rounding sees it.
inline float toOdd(double value) {
    float nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || value != value) return nearest;
    uint32_t bits;
    std::memcpy(&bits, &nearest, sizeof(bits));
    const double magnitude = value < 0 ? -value : value;
    if (static_cast<double>(nearest < 0 ? -nearest : nearest) > magnitude) --bits;
    bits |= 1;
    std::memcpy(&nearest, &bits, sizeof(bits));
    return nearest;
}

// The device's own half types are made from bits: host code need not convert to them.
template <class T, class Bits> std::decay_t<T> fromBits(Bits bits) {
    static_assert(sizeof(std::decay_t<T>) == sizeof(Bits));
    std::decay_t<T> value;
    std::memcpy(static_cast<void *>(&value), &bits, sizeof(bits));
    return value;
}

template <class T> std::decay_t<T> float16(const char *, double value) { return fromBits<T>(c10::Half(toOdd(value)).x); }
template <class T> std::decay_t<T> bfloat16(const char *, double value) { return fromBits<T>(c10::BFloat16(toOdd(value)).x); }

// A struct by its bytes.
template <class T> std::decay_t<T> structure(const char *title, const std::vector<int64_t> &bytes) {
    using Value = std::decay_t<T>;
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>, "a host_struct is plain bytes");
    TORCH_CHECK(bytes.size() == sizeof(Value), title, " takes ", sizeof(Value), " bytes, got ", bytes.size());
    unsigned char raw[sizeof(Value)];
    for (size_t i = 0; i < bytes.size(); ++i) {
        TORCH_CHECK(bytes[i] >= 0 && bytes[i] <= 255, title, " takes bytes, got ", bytes[i]);
        raw[i] = static_cast<unsigned char>(bytes[i]);
    }
    Value value{};
    std::memcpy(static_cast<void *>(&value), raw, sizeof(value));
    return value;
}

inline void *stream() { return c10_npu::getCurrentNPUStream().stream(true); }

inline uint32_t cores(aclrtDevAttr attribute, const char *what) {
    int32_t device = 0;
    int64_t count = 0;
    aclError status = aclrtGetDevice(&device);
    if (status == ACL_SUCCESS) status = aclrtGetDeviceInfo(static_cast<uint32_t>(device), attribute, &count);
    TORCH_CHECK(status == ACL_SUCCESS && count > 0 && count <= std::numeric_limits<uint32_t>::max(), "the number of ", what,
                " of the device is unknown: ", count, ", ACL error ", status);
    return static_cast<uint32_t>(count);
}

// Blocks that the vector cores of the device are enough for, with so many of them in a block.
inline uint32_t vectorBlocks(uint32_t each) {
    const uint32_t blocks = cores(ACL_DEV_ATTR_VECTOR_CORE_NUM, "vector cores") / each;
    TORCH_CHECK(blocks > 0, "a block has ", each, " vector cores, more than the device");
    return blocks;
}

// The same with cube cores, of which every AI core has one.
inline uint32_t cubeBlocks(uint32_t each) {
    const uint32_t blocks = cores(ACL_DEV_ATTR_AICORE_CORE_NUM, "AI cores") / each;
    TORCH_CHECK(blocks > 0, "a block has ", each, " cube cores, more than the device");
    return blocks;
}

}  // namespace ascendc_ops::host
