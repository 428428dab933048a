// What a thread has chosen: its device, its context, and a stream of every device. Threads begin with device 0 and with the
// default streams.
#include <cstdlib>
#include <string>

#include "acl_call.h"
#include "device.h"
#include "skrules_host/runtime.h"

using namespace skhost;

namespace skhost {

namespace {

constexpr int kDefaultDevices = 2;

thread_local int t_device = 0;
thread_local void *t_context = nullptr;
thread_local void *t_streams[kMaxDevices] = {};  // nullptr: the default stream

void use(int device) {
    t_device = device;
    Device &devices = Device::instance();
    const std::lock_guard<std::mutex> lock(devices.lock);
    const auto context = devices.contexts.find(t_context);
    if (context != devices.contexts.end() && context->second != device) t_context = nullptr;
}

}  // namespace

int deviceCount() {
    const char *given = std::getenv("SKRULES_HOST_DEVICES");
    if (given == nullptr || *given == '\0') return kDefaultDevices;
    char *end = nullptr;
    const long count = std::strtol(given, &end, 10);
    return *end != '\0' || count < 1 || count > kMaxDevices ? 0 : static_cast<int>(count);
}

int currentDevice() { return t_device; }

aclError checkDevice(const char *call, int64_t device) {
    const int count = deviceCount();
    if (count == 0) {
        return refuse(ACL_ERROR_RT_INVALID_DEVICEID, call, "SKRULES_HOST_DEVICES=%s is none of 1..%d",
                      std::getenv("SKRULES_HOST_DEVICES"), kMaxDevices);
    }
    if (device < 0 || device >= count) {
        return refuse(ACL_ERROR_RT_INVALID_DEVICEID, call, "device %lld is none of 0..%d", static_cast<long long>(device),
                      count - 1);
    }
    if (deviceArch() == nullptr) {
        return refuse(ACL_ERROR_RT_INVALID_DEVICEID, call, "SKRULES_HOST_ARCH=%s is not in the arch table",
                      std::getenv("SKRULES_HOST_ARCH"));
    }
    return ACL_SUCCESS;
}

}  // namespace skhost

extern "C" {

aclError aclrtSetDevice(int32_t deviceId) {
    if (const aclError code = checkDevice("aclrtSetDevice", deviceId); code != ACL_SUCCESS) return code;
    use(deviceId);
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) { return checkDevice("aclrtResetDevice", deviceId); }
aclError aclrtResetDeviceForce(int32_t deviceId) { return checkDevice("aclrtResetDeviceForce", deviceId); }

aclError aclrtGetDevice(int32_t *deviceId) {
    if (deviceId == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice", "null pointer");
    *deviceId = t_device;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
    if (count == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount", "null pointer");
    *count = static_cast<uint32_t>(deviceCount());
    return *count > 0 ? ACL_SUCCESS : checkDevice("aclrtGetDeviceCount", 0);
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
    if (context == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext", "null pointer");
    if (const aclError code = checkDevice("aclrtCreateContext", deviceId); code != ACL_SUCCESS) return code;
    Device &devices = Device::instance();
    const std::lock_guard<std::mutex> lock(devices.lock);
    *context = new char;  // a handle: nothing but an address of its own
    devices.contexts[*context] = deviceId;
    t_context = *context;
    t_device = deviceId;
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
    Device &devices = Device::instance();
    const std::lock_guard<std::mutex> lock(devices.lock);
    if (devices.contexts.erase(context) == 0) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyContext", "no such context");
    delete static_cast<char *>(context);
    if (t_context == context) t_context = nullptr;
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    Device &devices = Device::instance();
    const std::lock_guard<std::mutex> lock(devices.lock);
    const auto found = devices.contexts.find(context);
    if (found == devices.contexts.end()) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetCurrentContext", "no such context");
    t_context = context;
    t_device = found->second;
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
    if (context == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext", "null pointer");
    if (t_context == nullptr) return refuse(ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetCurrentContext", "no context on this thread");
    *context = t_context;
    return ACL_SUCCESS;
}

aclrtStream skrules_host_default_stream(int32_t deviceId) {
    if (checkDevice("skrules_host_default_stream", deviceId) != ACL_SUCCESS) return nullptr;
    return &Device::instance().defaultStreams[deviceId];
}

aclrtStream skrules_host_current_stream(int32_t deviceId) {
    if (checkDevice("skrules_host_current_stream", deviceId) != ACL_SUCCESS) return nullptr;
    return t_streams[deviceId] == nullptr ? &Device::instance().defaultStreams[deviceId] : t_streams[deviceId];
}

aclError skrules_host_set_current_stream(aclrtStream handle) {
    Device &devices = Device::instance();
    const std::lock_guard<std::mutex> lock(devices.lock);
    const Stream *stream = devices.findStream(handle);
    if (stream == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "skrules_host_set_current_stream", "no such stream");
    t_streams[stream->device] = stream->isDefault() ? nullptr : handle;
    return ACL_SUCCESS;
}

aclError skrules_host_submit(aclrtStream stream, const char *name, skrules_host_work run, void (*drop)(void *), void *context) {
    const std::shared_ptr<void> kept(context, drop);
    if (name == nullptr || run == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "skrules_host_submit", "null pointer");
    Node node;
    node.name = name;
    node.work = [run, kept] {
        const char *error = run(kept.get());
        return std::string(error == nullptr ? "" : error);
    };
    if (submitNode(stream, std::move(node))) return ACL_SUCCESS;
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "skrules_host_submit", "no such stream");
}

}  // extern "C"
