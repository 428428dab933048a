// How a call of the emulated ACL fails in torch, and what this thread has chosen.
#pragma once

#include <acl/acl_rt.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <skrules_host/runtime.h>

namespace skhost::npu {

constexpr auto kNpu = c10::DeviceType::PrivateUse1;

// Raises a RuntimeError in Python.
inline void check(aclError code, const char *call) {
    if (code == ACL_SUCCESS) return;
    const char *reason = aclGetRecentErrMsg();
    TORCH_CHECK(false, reason ? reason : call, " (error ", code, ")");
}

inline c10::DeviceIndex deviceCount() noexcept {
    uint32_t count = 0;
    return aclrtGetDeviceCount(&count) == ACL_SUCCESS ? static_cast<c10::DeviceIndex>(count) : c10::DeviceIndex{0};
}

inline c10::DeviceIndex currentDevice() {
    int32_t device = 0;
    check(aclrtGetDevice(&device), "aclrtGetDevice");
    return static_cast<c10::DeviceIndex>(device);
}

inline void setDevice(c10::DeviceIndex device) { check(aclrtSetDevice(device), "aclrtSetDevice"); }

// Another current device for as long as this lives; a negative index leaves it.
class OnDevice {
  public:
    explicit OnDevice(c10::DeviceIndex device) : before_(currentDevice()) {
        if (device >= 0 && device != before_) setDevice(device);
    }
    ~OnDevice() { (void)aclrtSetDevice(before_); }
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;

  private:
    const c10::DeviceIndex before_;
};

// The graph that the current stream of a device is being captured into; nullptr: none.
inline aclmdlRI captureOf(c10::DeviceIndex device) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    const aclrtStream stream = skrules_host_current_stream(device < 0 ? currentDevice() : device);
    check(aclmdlRICaptureGetInfo(stream, &status, &model), "aclmdlRICaptureGetInfo");
    return model;
}

}  // namespace skhost::npu
