// Threads that launch, fail, capture and execute at the same time, each on a stream of its own.
#include <string>
#include <thread>

#include "check.h"
#include "skrules_host/core.h"
#include "super_kernel/super_kernel.h"

using namespace skhost;

namespace {

constexpr int32_t kCores = 16;

void count(int32_t *out, int32_t by) {
    checkGlobal(out + self().logicalIndex, 4, "count", "out");
    const int32_t before = out[self().logicalIndex];
    syncAll(Party::SAME_KIND, 0, "SyncAll");
    out[self().logicalIndex] = before + by;
}
struct CountArgs {
    int32_t *out;
    int32_t by;
};
void countTwin(const CountArgs *args) { count(args->out, args->by); }
SK_BIND(count, 4, countTwin);
void failing(int32_t who) { fail("thread %d", who); }

void work(int32_t who) {
    aclrtStream stream = newStream();
    int32_t *out = newBuffer(kCores);
    aclmdlRI model = nullptr;
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) == ACL_SUCCESS);
    for (int i = 0; i < 2; ++i) launch({kCores, nullptr, stream}, vectorKernel("count"), &count, out, who);
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS && aclskOptimize(model, nullptr) == ACL_SUCCESS);
    for (int i = 0; i < 50; ++i) {
        EXPECT(g_core == nullptr);
        launch({kCores, nullptr, stream}, vectorKernel("count"), &count, out, who);
        EXPECT(aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS && aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        launch({1, nullptr, stream}, vectorKernel("failing"), &failing, who);
        EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
        EXPECT(std::string(aclGetRecentErrMsg()).find("thread " + std::to_string(who)) != std::string::npos);
    }
    EXPECT(readBuffer(out, kCores) == std::vector<int32_t>(kCores, 150 * who));
    EXPECT(aclrtFree(out) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS);
}

}  // namespace

int main() {
    std::thread first(work, 1), second(work, 2), third(work, 3);
    first.join();
    second.join();
    third.join();
    std::puts("done");
    return 0;
}
