// The operators of torch that make memory, look at it in another way, or copy it, and the one that draws random numbers without
// saying from which generator. All others are those of the CPU (fallback.h).
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_reshape_alias_cpu_dispatch.h>
#include <ATen/ops/as_strided_cpu_dispatch.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_cpu_dispatch.h>
#include <ATen/ops/view_as_complex_cpu_dispatch.h>
#include <ATen/ops/view_as_real_cpu_dispatch.h>
#include <ATen/ops/view_cpu_dispatch.h>
#include <torch/library.h>

#include <tuple>

#include "capture.h"
#include "check.h"
#include "memory.h"

namespace skhost::npu {

inline c10::DeviceIndex indexOf(std::optional<c10::Device> device) {
    return device && device->has_index() ? device->index() : currentDevice();
}

inline at::Tensor empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                        std::optional<at::Device> device, std::optional<bool> pinned,
                        std::optional<at::MemoryFormat> memoryFormat) {
    TORCH_CHECK(!pinned.value_or(false), "only memory of the cpu can be pinned");
    const OnDevice here(indexOf(device));
    return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &Allocator::instance(),
                                     c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype),
                                     memoryFormat);
}

inline at::Tensor emptyStrided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype,
                               std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool> pinned) {
    TORCH_CHECK(!pinned.value_or(false), "only memory of the cpu can be pinned");
    const OnDevice here(indexOf(device));
    return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
                                             &Allocator::instance(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                             c10::dtype_or_default(dtype));
}

inline const at::Tensor &resize(const at::Tensor &self, at::IntArrayRef size, std::optional<at::MemoryFormat> memoryFormat) {
    const OnDevice here(self.device().index());
    return at::native::resize_(self, size, memoryFormat);
}

inline at::Tensor copyFrom(const at::Tensor &source, const at::Tensor &to, bool) {
    const c10::Device device = to.is_cpu() ? source.device() : to.device();
    if (isBeingCaptured(device)) {
        TORCH_CHECK(!source.is_cpu() && !to.is_cpu(), "a graph is being captured on ", device, ", and a copy between ",
                    source.device(), " and ", to.device(), " cannot be part of it");
        submit(device, "copy", [source, to] { copyMemory(source, to); });
    } else {
        copyMemory(source, to);
    }
    return to;
}

inline at::Tensor copyFromAndResize(const at::Tensor &source, const at::Tensor &to) {
    to.resize_(source.sizes());
    return copyFrom(source, to, false);
}

inline std::tuple<at::Tensor, at::Tensor> nativeDropout(const at::Tensor &input, double p, std::optional<bool> train) {
    if (!train.value_or(true)) return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
    const double kept = 1 - p;
    at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(kept);
    return {input.mul(mask).mul_(kept == 0 ? 0 : 1 / kept), mask};
}

inline void registerTensors(torch::Library &library) {
    library.impl("empty.memory_format", TORCH_FN(empty));
    library.impl("empty_strided", TORCH_FN(emptyStrided));
    library.impl("resize_", TORCH_FN(resize));
    library.impl("_copy_from", TORCH_FN(copyFrom));
    library.impl("_copy_from_and_resize", TORCH_FN(copyFromAndResize));
    library.impl("as_strided", TORCH_FN(at::cpu::as_strided));
    library.impl("view", TORCH_FN(at::cpu::view));
    library.impl("_reshape_alias", TORCH_FN(at::cpu::_reshape_alias));
    library.impl("unfold", TORCH_FN(at::cpu::unfold));
    library.impl("view_as_real", TORCH_FN(at::cpu::view_as_real));
    library.impl("view_as_complex", TORCH_FN(at::cpu::view_as_complex));
    library.impl("native_dropout", TORCH_FN(nativeDropout));
    library.impl("set_.source_Storage", TORCH_FN(at::native::set_));
    library.impl("set_.source_Tensor", TORCH_FN(at::native::set_tensor_));
    library.impl("set_.source_Storage_storage_offset", TORCH_FN(at::native::set_storage_cpu_));
}

}  // namespace skhost::npu
