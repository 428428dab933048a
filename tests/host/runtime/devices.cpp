// Several devices: what a thread chooses, whose a stream and a piece of memory is, and work of the host in a capture.
#include <string>
#include <thread>

#include "acl/acl_rt.h"
#include "check.h"
#include "skrules_host/runtime.h"
#include "super_kernel/super_kernel.h"

namespace {

int32_t chosen() {
    int32_t device = -1;
    EXPECT(aclrtGetDevice(&device) == ACL_SUCCESS);
    return device;
}

void devices() {
    uint32_t count = 0;
    EXPECT(aclrtGetDeviceCount(&count) == ACL_SUCCESS && count == 2 && chosen() == 0);
    EXPECT(aclrtSetDevice(1) == ACL_SUCCESS && chosen() == 1);
    EXPECT(aclrtSetDevice(2) == ACL_ERROR_RT_INVALID_DEVICEID && chosen() == 1);
    std::thread([] { EXPECT(chosen() == 0); }).join();
    aclrtContext zero = nullptr, one = nullptr;
    EXPECT(aclrtCreateContext(&zero, 0) == ACL_SUCCESS && chosen() == 0);
    EXPECT(aclrtCreateContext(&one, 1) == ACL_SUCCESS && chosen() == 1);
    EXPECT(aclrtSetCurrentContext(zero) == ACL_SUCCESS && chosen() == 0);
    aclrtContext current = nullptr;
    EXPECT(aclrtSetDevice(1) == ACL_SUCCESS && aclrtGetCurrentContext(&current) == ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(aclrtDestroyContext(zero) == ACL_SUCCESS && aclrtDestroyContext(one) == ACL_SUCCESS);
    EXPECT(aclrtSetDevice(0) == ACL_SUCCESS);
}

void streams() {
    const aclrtStream zero = skrules_host_default_stream(0), one = skrules_host_default_stream(1);
    EXPECT(zero && one && zero != one && skrules_host_default_stream(2) == nullptr && skrules_host_default_stream(-1) == nullptr);
    EXPECT(skrules_host_current_stream(0) == zero && skrules_host_current_stream(1) == one);
    EXPECT(skrules_host_current_stream(2) == nullptr);
    EXPECT(aclrtSetDevice(1) == ACL_SUCCESS);
    const aclrtStream stream = newStream();
    EXPECT(aclrtSetDevice(0) == ACL_SUCCESS);
    EXPECT(skrules_host_set_current_stream(stream) == ACL_SUCCESS);
    EXPECT(skrules_host_current_stream(1) == stream && skrules_host_current_stream(0) == zero && chosen() == 0);
    std::thread([one] { EXPECT(skrules_host_current_stream(1) == one); }).join();
    EXPECT(skrules_host_set_current_stream(one) == ACL_SUCCESS && skrules_host_current_stream(1) == one);
    int something = 0;
    EXPECT(skrules_host_set_current_stream(&something) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtDestroyStream(one) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_ERROR_INVALID_PARAM);
    aclrtStream handle = nullptr;
    EXPECT(aclrtCtxGetCurrentDefaultStream(&handle) == ACL_SUCCESS && handle == zero);
    // What failed on one device is no business of another.
    skhost::launch({0, nullptr, stream}, vectorKernel("k"), +[] {});
    EXPECT(aclrtSynchronizeDevice() == ACL_SUCCESS);
    EXPECT(aclrtSetDevice(1) == ACL_SUCCESS && aclrtSynchronizeDevice() == ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT(aclrtSetDevice(0) == ACL_SUCCESS);
    EXPECT(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

void touch(int32_t *value) {
    skhost::checkGlobal(value, sizeof(*value), "DataCopy", "src");
    if (skhost::self().logicalIndex == 0) ++*value;
}

void memory() {
    void *address = nullptr;
    EXPECT(aclrtMalloc(&address, 32, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    auto *value = static_cast<int32_t *>(address);
    *value = 0;
    skhost::launch({1, nullptr, skrules_host_default_stream(0)}, vectorKernel("k"), touch, value);
    EXPECT(aclrtSynchronizeStream(skrules_host_default_stream(0)) == ACL_SUCCESS && *value == 1);
    const aclrtStream other = skrules_host_default_stream(1);
    skhost::launch({1, nullptr, other}, vectorKernel("k"), touch, value);
    EXPECT(aclrtSynchronizeStream(other) == ACL_ERROR_RT_AICORE_EXCEPTION && *value == 1);
    const std::string place = "[k AIV block 0.0 (GetBlockIdx=0)] ";
    EXPECT(aclGetRecentErrMsg() == place + "DataCopy: src lies on device 0, the kernel runs on device 1");
    EXPECT(aclrtFree(address) == ACL_SUCCESS);
    // Lent memory is for every device.
    int32_t lent[8] = {};
    skrules_host_register_memory(lent, sizeof(lent));
    skhost::launch({1, nullptr, other}, vectorKernel("k"), touch, lent + 1);
    EXPECT(aclrtSynchronizeStream(other) == ACL_SUCCESS && lent[1] == 1);
    skrules_host_unregister_memory(lent);
}

int g_runs = 0, g_drops = 0;
const char *count(void *) { return ++g_runs > 2 ? "enough" : nullptr; }
void drop(void *) { ++g_drops; }

void work() {
    int context = 0, something = 0;
    const aclrtStream stream = newStream();
    EXPECT(skrules_host_submit(stream, "work", count, drop, &context) == ACL_SUCCESS && g_runs == 1 && g_drops == 1);
    EXPECT(skrules_host_submit(&something, "work", count, drop, &context) == ACL_ERROR_RT_PARAM_INVALID && g_drops == 2);
    EXPECT(skrules_host_submit(stream, nullptr, count, drop, &context) == ACL_ERROR_INVALID_PARAM && g_drops == 3);
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    EXPECT(skrules_host_submit(stream, "work", count, drop, &context) == ACL_SUCCESS && g_runs == 1);
    aclmdlRI model = nullptr;
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS);
    EXPECT(aclskOptimize(model, nullptr) == ACL_SUCCESS);
    EXPECT(aclmdlRIExecute(model, -1) == ACL_SUCCESS && g_runs == 2);
    EXPECT(aclmdlRIExecute(model, -1) == ACL_ERROR_RT_AICORE_EXCEPTION && std::string(aclGetRecentErrMsg()) == "enough");
    EXPECT(g_drops == 3 && aclmdlRIDestroy(model) == ACL_SUCCESS && g_drops == 4);
}

}  // namespace

int main(int arguments, char **) {
    if (arguments > 1) {
        uint32_t count = 0;
        const aclError code = aclrtGetDeviceCount(&count);
        std::printf("%u %d %s\n", count, code, code == ACL_SUCCESS ? "" : aclGetRecentErrMsg());
        return 0;
    }
    devices();
    streams();
    memory();
    work();
    std::puts("done");
    return 0;
}
