// The device of a call: which tensors it takes, how many cores it has, its stream, and what ends a launch.
//
// SKRULES_TORCH_NPU: a real NPU under torch_npu. Launches are asynchronous on torch_npu's current stream.
// Otherwise: the host toolchain's emulation, whose npu skrules.hostnpu gives to torch, on the stream that this thread has chosen
// in it. Launches are run to their end, and a failure is raised; what is launched on a stream that is being captured runs when
// the graph does.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "entry.h"
#include "refusal.h"

#ifdef SKRULES_TORCH_NPU
#include <acl/acl_rt.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>
#else
// The part of the ACL that the host runtime library has, and functions of its own. By value and name the same as in CANN's
// acl_rt.h; declared here because the library's header brings the whole device API with it.
extern "C" {
int aclrtGetDeviceInfo(uint32_t device, int attribute, int64_t *value);
int aclrtGetDevice(int32_t *device);
int aclrtSynchronizeStream(void *stream);
int aclmdlRICaptureGetInfo(void *stream, int *status, void **model);
const char *aclGetRecentErrMsg();
void *skrules_host_current_stream(int32_t device);
}
constexpr int ACL_DEV_ATTR_AICORE_CORE_NUM = 101;
constexpr int ACL_DEV_ATTR_VECTOR_CORE_NUM = 201;
constexpr int ACL_DEV_ATTR_NPU_ARCH = 601;
constexpr int ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0;
#endif

namespace skrules::binding {

inline bool isNpu(c10::Device device) { return device.type() == c10::DeviceType::PrivateUse1; }

#ifdef SKRULES_TORCH_NPU
constexpr const char *kWhichNpu = "";
#else
constexpr const char *kWhichNpu = "; `import skrules.hostnpu` gives torch the emulated one";
#endif

inline std::string recentError() {
    const char *reason = aclGetRecentErrMsg();
    return reason && *reason ? std::string(": ") + reason : "";
}

// The device of a call: that of its tensors, else the current one.
inline int deviceIndex(const at::Tensor *first) {
    if (first) return first->device().index();
    int32_t current = -1;
    if (aclrtGetDevice(&current) != 0)
        refuse(PyExc_RuntimeError, "no npu device is set; call torch.npu.set_device first" + recentError());
    return current;
}

template <class Attribute> int64_t askDevice(int device, Attribute attribute, const char *what) {
    int64_t value = 0;
    const int status = aclrtGetDeviceInfo(static_cast<uint32_t>(device), attribute, &value);
    if (status != 0 || value <= 0 || value > INT32_MAX) {
        refuse(PyExc_RuntimeError, std::string(what) + " of device " + std::to_string(device) +
                                       " is unknown: aclrtGetDeviceInfo gives " + std::to_string(value) + " and error " +
                                       std::to_string(status) + recentError());
    }
    return value;
}

#ifdef SKRULES_TORCH_NPU
inline void requireArch(const Entry &, int) {}  // the device itself refuses what was compiled for another one
#else
// The emulation runs kernels of any arch, but has the cores of one.
inline void requireArch(const Entry &entry, int device) {
    const std::string emulated = "dav-" + std::to_string(askDevice(device, ACL_DEV_ATTR_NPU_ARCH, "the arch"));
    if (emulated != entry.arch) {
        refuse(PyExc_RuntimeError, std::string("it runs on all cores of ") + entry.arch + ", but the emulated device is " +
                                       emulated + "; set SKRULES_HOST_ARCH=" + entry.arch);
    }
}
#endif

// Blocks of a launch: what the contract says, or as many as the cores of the device are enough for.
inline uint32_t blocksOf(const Entry &entry, int device) {
    const skrules_entry &declared = *entry.declared;
    if (declared.blocks) return declared.blocks;
    if (entry.coresOfDevice != device) {
        requireArch(entry, device);
        // A block with cube cores takes its vector cores from the same AI cores. A kernel whose cores the compiler chose
        // may have them too.
        const bool vector = !declared.aic && declared.aiv;
        const int64_t cores =
            vector ? askDevice(device, ACL_DEV_ATTR_VECTOR_CORE_NUM, "the number of vector cores") / declared.aiv
                   : askDevice(device, ACL_DEV_ATTR_AICORE_CORE_NUM, "the number of AI cores") / std::max<int>(declared.aic, 1);
        if (!cores) refuse(PyExc_RuntimeError, "a block of it has more cores than device " + std::to_string(device));
        entry.cores = static_cast<uint32_t>(cores);
        entry.coresOfDevice = device;
    }
    return entry.cores;
}

#ifdef SKRULES_TORCH_NPU

inline c10::DeviceGuard guardOf(int device) {
    return c10::DeviceGuard(c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device)));
}

// Calls start(blocks, stream); what it returns is why nothing was launched, or nullptr.
template <class Start> void launch(const Entry &entry, int device, const Start &start) {
    const uint32_t blocks = blocksOf(entry, device);
    const c10::DeviceGuard guard = guardOf(device);
    void *stream = nullptr;
    const char *refusal = nullptr;
    {
        // Getting the stream waits for torch_npu's queue, whose tasks may want the interpreter.
        const py::gil_scoped_release release;
        stream = c10_npu::getCurrentNPUStream(static_cast<c10::DeviceIndex>(device)).stream();
        if (stream) refusal = start(blocks, stream);
    }
    if (!stream) refuse(PyExc_RuntimeError, "torch_npu gives no stream: an operator launched before has failed");
    if (refusal) refuse(PyExc_ValueError, refusal);
}

inline bool isCaptured(int device) {
    const c10::DeviceGuard guard = guardOf(device);
    const py::gil_scoped_release release;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI graph = nullptr;
    aclmdlRICaptureGetInfo(c10_npu::getCurrentNPUStream(static_cast<c10::DeviceIndex>(device)).stream(), &status, &graph);
    return status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

// Copies bytes to the device when all that was launched before is done with them. Not under capture: a graph would not hold
// the copy, and waiting would break the capture.
inline void store(int device, void *to, const std::vector<std::byte> &bytes) {
    if (isCaptured(device)) refuse(PyExc_RuntimeError, "a graph is being captured; prepare before the capture begins");
    const c10::DeviceGuard guard = guardOf(device);
    int status = 0;
    {
        const py::gil_scoped_release release;
        status = aclrtSynchronizeStream(c10_npu::getCurrentNPUStream(static_cast<c10::DeviceIndex>(device)).stream());
        if (!status) status = aclrtMemcpy(to, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE);
    }
    if (status) refuse(PyExc_RuntimeError, "the descriptors cannot be stored: error " + std::to_string(status) + recentError());
}

#else

// The stream that this thread has chosen for a device, in the beginning its default stream.
inline void *streamOf(int device) {
    void *stream = skrules_host_current_stream(device);
    if (!stream) refuse(PyExc_RuntimeError, "no stream of device " + std::to_string(device) + recentError());
    return stream;
}

inline bool isCaptured(int device) {
    int status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (const int error = aclmdlRICaptureGetInfo(streamOf(device), &status, nullptr)) {
        refuse(PyExc_RuntimeError, "the stream is gone: error " + std::to_string(error) + recentError());
    }
    return status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

// Calls start(blocks, stream); what it returns is why nothing was launched, or nullptr.
template <class Start> void launch(const Entry &entry, int device, const Start &start) {
    const uint32_t blocks = blocksOf(entry, device);
    void *stream = streamOf(device);
    const bool captured = isCaptured(device);
    // With the GIL: the emulation runs one launch at a time.
    if (const char *refusal = start(blocks, stream)) refuse(PyExc_ValueError, refusal);
    if (captured) return;  // a launch that was refused is told by the end of the capture
    if (const int status = aclrtSynchronizeStream(stream)) {
        refuse(PyExc_RuntimeError, "the kernel failed with error " + std::to_string(status) + recentError());
    }
}

// Copies bytes to the device, whose memory is the host's. Not under capture: a graph would not hold the copy.
inline void store(int device, void *to, const std::vector<std::byte> &bytes) {
    if (isCaptured(device)) refuse(PyExc_RuntimeError, "a graph is being captured; prepare before the capture begins");
    std::memcpy(to, bytes.data(), bytes.size());
}

#endif

}  // namespace skrules::binding
