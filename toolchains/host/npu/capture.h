// Work that torch does on the device while a graph is being captured: it becomes a part of the graph.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <functional>
#include <string>
#include <utility>

#include "check.h"

namespace skhost::npu {

// Set while one operator is carried out: the copies that it is made of are no work of their own.
inline thread_local bool t_working = false;

class Working {
  public:
    Working() : before_(t_working) { t_working = true; }
    ~Working() { t_working = before_; }
    Working(const Working &) = delete;
    Working &operator=(const Working &) = delete;

  private:
    const bool before_;
};

inline bool isBeingCaptured(c10::Device device) { return !t_working && captureOf(device.index()) != nullptr; }

// Below everything that watches operators: a replay is not seen by autograd, nor by a mode of the moment.
class Unseen {
    const at::AutoDispatchBelowADInplaceOrView autograd_;
    const c10::impl::ExcludeDispatchKeyGuard modes_{
        c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
    const Working working_;
};

struct Work {
    std::function<void()> run;
    std::string error;
};

inline const char *runWork(void *context) {
    auto &work = *static_cast<Work *>(context);
    try {
        const Unseen unseen;
        work.run();
        return nullptr;
    } catch (const c10::Error &error) {
        work.error = error.what_without_backtrace();
    } catch (const std::exception &error) {
        work.error = error.what();
    }
    return work.error.c_str();
}

// Records `run` in the graph that the current stream of `device` is being captured into.
inline void submit(c10::Device device, const char *name, std::function<void()> run) {
    const auto drop = [](void *context) { delete static_cast<Work *>(context); };
    check(skrules_host_submit(skrules_host_current_stream(device.index()), name, &runWork, drop, new Work{std::move(run), {}}),
          "skrules_host_submit");
}

// A tensor of the CPU over the same memory: all memory is the host's.
inline at::Tensor onCpu(const at::Tensor &tensor) {
    if (tensor.is_cpu()) return tensor;
    at::Tensor alias =
        at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(c10::DeviceType::CPU));
    if (tensor.is_conj()) alias._set_conj(true);
    if (tensor.is_neg()) alias._set_neg(true);
    return alias;
}

inline void copyMemory(const at::Tensor &source, const at::Tensor &to) { onCpu(to).copy_(onCpu(source)); }

}  // namespace skhost::npu
