#include "check.h"

#include <stdexcept>
#include <string>
#include <thread>

#include "skrules_host/core.h"

using namespace skhost;

namespace {

void fill(int32_t *out, int32_t count, int16_t value) {
    const auto blocks = static_cast<int32_t>(self().blockCount);
    for (auto i = static_cast<int32_t>(self().logicalIndex); i < count; i += blocks) {
        checkGlobal(out + i, sizeof(int32_t), "fill", "out");
        out[i] = value;
    }
}

void noArguments() { syncAll(Party::SAME_KIND, 0, "SyncAll"); }

void mixDeadlock() {
    if (self().kind == CoreKind::AIC) {
        crossWait(3);
    } else if (self().subIndex == 0) {
        crossSet(2, 3);
    }
}

void outOfBounds(int32_t *out) { checkGlobal(out + 6, 16, "DataCopy", "dst"); }
void nullAccess() { *static_cast<volatile int *>(nullptr) = 1; }
void throwing() { throw std::runtime_error("not on a device"); }
int overflow(int depth) {
    volatile char page[8192] = {};
    page[depth % 8192] = 1;
    return depth == INT32_MAX ? page[0] : overflow(depth + 1) + page[1];
}
void deep() { overflow(0); }
void dividing(int32_t divisor) {
    volatile int32_t result = 100 / divisor;
    (void)result;
}
void aborting() { std::abort(); }
void badUb() { self().memory[1][self().capacity[1] + 100] = 1; }

std::string launchError(const LaunchConfig &config, void (*body)(), const KernelInfo &kernel) {
    launch(config, kernel, body);
    EXPECT(aclrtSynchronizeStream(config.stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT(aclrtSynchronizeStream(config.stream) == ACL_SUCCESS);
    return aclGetRecentErrMsg();
}

void plain(aclrtStream stream) {
    int32_t *out = newBuffer(1000);
    launch({8, nullptr, stream}, vectorKernel("fill"), &fill, out, 1000, 7);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    EXPECT(readBuffer(out, 1000) == std::vector<int32_t>(1000, 7));
    launch({500, nullptr, stream}, vectorKernel("fill"), &fill, out, 1000, 9);  // more blocks than cores: in turns
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    EXPECT(readBuffer(out, 1000) == std::vector<int32_t>(1000, 9));
    EXPECT(aclrtFree(out) == ACL_SUCCESS);
}

}  // namespace

int main() {
    aclrtStream stream = newStream();
    plain(stream);
    launch({48, nullptr, stream}, vectorKernel("all"), &noArguments);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    std::printf("%s\n", launchError({2, nullptr, stream}, &mixDeadlock, mixKernel("mix")).c_str());
    std::printf("%s\n", launchError({49, nullptr, stream}, &noArguments, vectorKernel("too_many")).c_str());
    std::printf("%s\n", launchError({0, nullptr, stream}, &noArguments, vectorKernel("nothing")).c_str());
    std::printf("%s\n", launchError({-1, nullptr, stream}, &noArguments, vectorKernel("negative")).c_str());
    std::printf("%s\n", launchError({1, nullptr, stream}, nullptr, vectorKernel("null")).c_str());
    std::printf("%s\n", launchError({1, nullptr, stream}, &noArguments, {"odd", 2, 1, 2201}).c_str());
    std::printf("%s\n", launchError({1, nullptr, stream}, &noArguments, {"unknown", 0, 1, 1234}).c_str());
    std::printf("%s\n", launchError({2, nullptr, stream}, &nullAccess, vectorKernel("null_access")).c_str());
    std::printf("%s\n", launchError({2, nullptr, stream}, &throwing, vectorKernel("throwing")).c_str());
    std::printf("%s\n", launchError({2, nullptr, stream}, &deep, vectorKernel("deep")).c_str());
    std::printf("%s\n", launchError({1, nullptr, stream}, &aborting, vectorKernel("aborting")).c_str());
    std::printf("%s\n", launchError({1, nullptr, stream}, &badUb, vectorKernel("bad_ub")).c_str());
    launch({1, nullptr, stream}, cubeKernel("dividing"), &dividing, 0);
    EXPECT(aclrtSynchronizeDevice() == ACL_ERROR_RT_AICORE_EXCEPTION);
    std::printf("%s\n", aclGetRecentErrMsg());
    int32_t *out = newBuffer(8);
    launch({1, nullptr, stream}, vectorKernel("bounds"), &outOfBounds, out);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
    std::printf("%s\n", aclGetRecentErrMsg());
    plain(stream);
    std::puts("done");
    return 0;
}
