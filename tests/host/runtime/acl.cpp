// The ACL subset: what it refuses, and the values it gives.
#include <cmath>
#include <string>

#include "acl/acl_rt.h"
#include "check.h"

extern "C" void skrules_host_register_memory(void *address, size_t bytes);
extern "C" void skrules_host_unregister_memory(void *address);

namespace {

int info() {
    int64_t values[3] = {};
    const aclrtDevAttr attributes[] = {ACL_DEV_ATTR_AICORE_CORE_NUM, ACL_DEV_ATTR_CUBE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM};
    for (int i = 0; i < 3; ++i) {
        if (aclrtGetDeviceInfo(0, attributes[i], &values[i]) == ACL_SUCCESS) continue;
        std::puts(aclGetRecentErrMsg());
        return 1;
    }
    std::printf("%s %lld %lld %lld\n", aclrtGetSocName(), static_cast<long long>(values[0]), static_cast<long long>(values[1]),
                static_cast<long long>(values[2]));
    return 0;
}

void device() {
    EXPECT(aclGetRecentErrMsg() == nullptr);
    EXPECT(aclFinalize() == ACL_ERROR_REPEAT_FINALIZE);
    EXPECT(aclInit(nullptr) == ACL_SUCCESS && aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
    EXPECT(aclrtSetDevice(0) == ACL_SUCCESS && aclrtSetDevice(7) == ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtSetDevice(-1) == ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtGetDevice(nullptr) == ACL_ERROR_INVALID_PARAM && aclrtGetDeviceCount(nullptr) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, nullptr) == ACL_ERROR_INVALID_PARAM);
    int64_t value = 0;
    EXPECT(aclrtGetDeviceInfo(3, ACL_DEV_ATTR_AICORE_CORE_NUM, &value) == ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(9999), &value) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    aclrtContext context = nullptr;
    EXPECT(aclrtGetCurrentContext(&context) == ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtCreateContext(&context, 0) == ACL_SUCCESS && aclrtSetCurrentContext(context) == ACL_SUCCESS);
    EXPECT(aclrtDestroyContext(context) == ACL_SUCCESS && aclrtDestroyContext(context) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyContext(nullptr) == ACL_ERROR_RT_PARAM_INVALID);
}

void memory() {
    void *address = nullptr;
    EXPECT(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(&address, 0, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMalloc(&address, SIZE_MAX - 5, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT(aclrtMalloc(&address, 40, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    uint8_t host[128] = {};
    EXPECT(aclrtMemcpy(host, 64, address, 64, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);  // usable in units of 32 bytes
    for (int i = 0; i < 64; ++i) EXPECT(host[i] == 0xA5);
    EXPECT(aclrtMemcpy(host, 128, address, 65, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemcpy(host, 10, address, 11, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy(host, 10, nullptr, 1, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy(host, 10, address, 1, static_cast<aclrtMemcpyKind>(77)) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtMemcpy(host, 10, host + 64, 1, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemset(host, 10, 0, 1) == ACL_ERROR_RT_PARAM_INVALID &&
           aclrtMemset(address, 10, 0, 11) == ACL_ERROR_INVALID_PARAM);
    int something = 0;
    EXPECT(aclrtMemsetAsync(address, 10, 0, 1, &something) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM && aclrtFree(host) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFree(address) == ACL_SUCCESS && aclrtFree(address) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMallocHost(&address, 16) == ACL_SUCCESS && aclrtFree(address) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtFreeHost(address) == ACL_SUCCESS && aclrtFreeHost(address) == ACL_ERROR_RT_PARAM_INVALID);
    // Lent memory counts as device memory until it was given back as often as it was lent.
    skrules_host_register_memory(host, 64);
    skrules_host_register_memory(host, 128);
    EXPECT(aclrtMemset(host, 128, 1, 128) == ACL_SUCCESS && aclrtFree(host) == ACL_ERROR_RT_PARAM_INVALID);
    skrules_host_unregister_memory(host);
    EXPECT(aclrtMemset(host + 100, 28, 1, 28) == ACL_SUCCESS);
    skrules_host_unregister_memory(host);
    EXPECT(aclrtMemset(host, 128, 1, 1) == ACL_ERROR_RT_PARAM_INVALID);
    skrules_host_unregister_memory(host);
    skrules_host_unregister_memory(nullptr);
}

void streams() {
    int something = 0;
    aclrtStream stream = newStream();
    EXPECT(aclrtCreateStream(nullptr) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS && aclrtSynchronizeStream(&something) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, -7) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 100) == ACL_SUCCESS);
    aclrtEvent start = nullptr, end = nullptr;
    EXPECT(aclrtCreateEvent(&start) == ACL_SUCCESS && aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE) == ACL_SUCCESS);
    float ms = -1;
    EXPECT(aclrtRecordEvent(start, stream) == ACL_SUCCESS);
    EXPECT(aclrtEventElapsedTime(&ms, start, end) == ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    EXPECT(aclrtRecordEvent(end, stream) == ACL_SUCCESS && aclrtEventElapsedTime(&ms, start, end) == ACL_SUCCESS && ms >= 0);
    EXPECT(aclrtRecordEvent(&something, stream) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtStreamWaitEvent(&something, start) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyEvent(start) == ACL_SUCCESS && aclrtDestroyEvent(start) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyStream(stream) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyStream(nullptr) == ACL_ERROR_RT_PARAM_INVALID);
    skhost::launch({1, nullptr, stream}, vectorKernel("k"), +[] {});
    EXPECT(aclrtSynchronizeDevice() == ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT(std::string(aclGetRecentErrMsg()) == "k: launch on a stream that does not exist");
}

void halves() {
    for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
        EXPECT(aclFloatToFloat16(aclFloat16ToFloat(static_cast<aclFloat16>(bits))) == bits);
        EXPECT(aclFloat16ToFloat(static_cast<aclFloat16>(bits | 0x8000)) == -aclFloat16ToFloat(static_cast<aclFloat16>(bits)));
        // Halfway between neighbours goes to the even one.
        if (bits + 1 == 0x7C00) break;
        const float middle =
            (aclFloat16ToFloat(static_cast<aclFloat16>(bits)) + aclFloat16ToFloat(static_cast<aclFloat16>(bits + 1))) / 2;
        EXPECT(aclFloatToFloat16(middle) == bits + bits % 2);
    }
    EXPECT(aclFloat16ToFloat(0x3C00) == 1.0F && aclFloat16ToFloat(0x7C00) == 65536.0F);
    EXPECT(aclFloatToFloat16(INFINITY) == 0x7BFF && aclFloatToFloat16(-INFINITY) == 0xFBFF && aclFloatToFloat16(1e9F) == 0x7BFF);
}

}  // namespace

int main(int count, char **) {
    if (count > 1) return info();
    device();
    memory();
    streams();
    halves();
    std::puts("done");
    return 0;
}
