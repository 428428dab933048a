#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "acl_call.h"
#include "device.h"

using namespace skhost;

namespace skhost {

namespace {
thread_local aclError t_lastError = ACL_SUCCESS;
}  // namespace

aclError refuse(aclError code, const char *call, const char *format, ...) {
    char reason[512];
    va_list values;
    va_start(values, format);
    std::vsnprintf(reason, sizeof(reason), format, values);
    va_end(values);
    rememberError(std::string(call) + ": " + reason);
    setLastError(code);
    return code;
}

void setLastError(aclError code) { t_lastError = code; }

aclError lastError(bool clear) {
    const aclError code = t_lastError;
    if (clear) t_lastError = ACL_SUCCESS;
    return code;
}

namespace {

aclError takeStreamError(Stream &stream, const char *call) {
    if (stream.error.empty()) return ACL_SUCCESS;
    rememberError(stream.error);
    stream.error.clear();
    setLastError(ACL_ERROR_RT_AICORE_EXCEPTION);
    (void)call;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace
}  // namespace skhost

extern "C" {

aclError aclInit(const char *configPath) {
    (void)configPath;  // a configuration file of the real runtime: nothing in it applies here
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    if (device.initialized) return refuse(ACL_ERROR_REPEAT_INITIALIZE, "aclInit", "called twice");
    device.initialized = true;
    return ACL_SUCCESS;
}

aclError aclFinalize() {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    if (!device.initialized) return refuse(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize", "not initialised, or finalised already");
    device.initialized = false;
    return ACL_SUCCESS;
}

const char *aclGetRecentErrMsg() { return recentError(); }
aclError aclrtGetLastError(aclrtLastErrLevel) { return lastError(true); }
aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return lastError(false); }

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
    if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
        return refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion", "null pointer");
    }
    *majorVersion = 1;
    *minorVersion = 16;
    *patchVersion = 0;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode) {
    if (runMode == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode", "null pointer");
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
    if (value == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo", "null pointer");
    if (const aclError code = checkDevice("aclrtGetDeviceInfo", deviceId); code != ACL_SUCCESS) return code;
    const ArchSpec &arch = *deviceArch();
    switch (attr) {
        case ACL_DEV_ATTR_AICORE_CORE_NUM:
        case ACL_DEV_ATTR_CUBE_CORE_NUM:
            *value = arch.aicCores;
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_VECTOR_CORE_NUM:
            *value = arch.aivCores;
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
            *value = arch.ub;
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_NPU_ARCH:
            *value = arch.arch;
            return ACL_SUCCESS;
        default:
            return refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtGetDeviceInfo", "attribute %d is not emulated",
                          static_cast<int>(attr));
    }
}

const char *aclrtGetSocName() {
    const char *given = std::getenv("SKRULES_HOST_SOC");
    if (given != nullptr && *given != '\0') return given;
    static thread_local std::string name;
    const ArchSpec *arch = deviceArch();
    name = std::string("skrules-host-") + (arch == nullptr ? "unknown" : arch->name);
    return name.c_str();
}

aclError aclrtSynchronizeStream(aclrtStream handle) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    Stream *stream = device.findStream(handle);
    if (stream == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtSynchronizeStream", "no such stream");
    if (stream->capture != nullptr)
        return refuse(ACL_ERROR_RT_STREAM_CAPTURED, "aclrtSynchronizeStream", "the stream is being captured");
    return takeStreamError(*stream, "aclrtSynchronizeStream");
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    if (timeout < -1) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtSynchronizeStreamWithTimeout", "timeout %d", timeout);
    return aclrtSynchronizeStream(stream);
}

aclError aclrtSynchronizeDevice(void) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    const int current = currentDevice();
    aclError code = takeStreamError(device.defaultStreams[current], "aclrtSynchronizeDevice");
    for (auto &[handle, stream] : device.streams) {
        if (stream->device != current) continue;
        const aclError other = takeStreamError(*stream, "aclrtSynchronizeDevice");
        if (code == ACL_SUCCESS) code = other;
    }
    return code;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    if (timeout < -1) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtSynchronizeDeviceWithTimeout", "timeout %d", timeout);
    return aclrtSynchronizeDevice();
}

size_t aclDataTypeSize(aclDataType type) {
    switch (type) {
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL:
            return 1;
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_INT16:
        case ACL_UINT16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
        case ACL_COMPLEX32:
            return 4;
        case ACL_INT64:
        case ACL_UINT64:
        case ACL_DOUBLE:
        case ACL_COMPLEX64:
            return 8;
        case ACL_COMPLEX128:
            return 16;
        default:
            return 0;
    }
}

// Without infinities and NaN: an exponent of all ones is a number like the others.
float aclFloat16ToFloat(aclFloat16 value) {
    const int exponent = value >> 10 & 0x1F, fraction = value & 0x3FF;
    const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                          : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    const float magnitude = std::fabs(value);
    constexpr uint16_t kLargest = 0x7BFF;  // 65504
    if (!(magnitude < 65504.0F)) return static_cast<uint16_t>(sign | kLargest);
    const bool subnormal = magnitude < 0x1p-14F;
    int exponent = 0;
    std::frexp(magnitude, &exponent);                  // magnitude = f * 2^exponent, f in [0.5, 1)
    const int unit = subnormal ? -24 : exponent - 11;  // a half counts in steps of 2^unit
    const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // Steps of a normal number are 1024..2048; adding them to the exponent field carries by itself.
    const uint32_t half = subnormal ? steps : static_cast<uint32_t>((exponent + 13) << 10) + steps;
    return static_cast<uint16_t>(sign | (half > kLargest ? kLargest : half));
}

}  // extern "C"
