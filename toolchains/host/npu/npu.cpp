// The device "npu" of torch over the emulated ACL: memory, streams and events are those that kernels of the host toolchain run
// on. One source, because torch's headers take longer than all of it.
#include <torch/library.h>

#include "device.h"
#include "fallback.h"
#include "hooks.h"
#include "memory.h"
#include "random.h"
#include "tensors.h"

namespace skhost::npu {
namespace {

REGISTER_ALLOCATOR(kNpu, &Allocator::instance());
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);
const bool hooked = (at::RegisterPrivateUse1HooksInterface(new Hooks), true);

const at::Generator &generatorOf(int64_t device) {
    TORCH_CHECK(device >= 0 && device < deviceCount(), "npu:", device, " is none of the ", static_cast<int>(deviceCount()),
                " devices");
    return defaultGenerator(static_cast<c10::DeviceIndex>(device));
}

at::Tensor rngState(int64_t device) { return generatorOf(device).get_state(); }
void setRngState(int64_t device, const at::Tensor &state) { at::Generator(generatorOf(device)).set_state(state); }
void manualSeed(int64_t device, int64_t seed) {
    at::Generator(generatorOf(device)).set_current_seed(static_cast<uint64_t>(seed));
}
int64_t initialSeed(int64_t device) { return static_cast<int64_t>(generatorOf(device).current_seed()); }
void releaseGraph(int64_t graph) { Allocator::instance().releaseGraph(reinterpret_cast<aclmdlRI>(graph)); }

}  // namespace
}  // namespace skhost::npu

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { skhost::npu::registerTensors(library); }

// torch would resolve a lazy conjugate or negation by a copy of its own, which is a copy again: ours reads both.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) { library.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, library) { library.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&skhost::npu::fallback>());
}

// What skrules/hostnpu asks for and torch has no way to ask.
TORCH_LIBRARY(skrules_hostnpu, library) {
    library.def("rng_state(int device) -> Tensor", &skhost::npu::rngState);
    library.def("set_rng_state(int device, Tensor state) -> ()", &skhost::npu::setRngState);
    library.def("manual_seed(int device, int seed) -> ()", &skhost::npu::manualSeed);
    library.def("initial_seed(int device) -> int", &skhost::npu::initialSeed);
    library.def("release_graph(int graph) -> ()", &skhost::npu::releaseGraph);
}
