// Capture, optimise and execute against plain launches, with evidence that the twins ran.
#include <string>

#include "check.h"
#include "skrules_host/core.h"
#include "super_kernel/super_kernel.h"

using namespace skhost;

namespace {

constexpr int32_t kCount = 960;

// out[i] = a[i] * factor + i, spread over `blocks` cores.
void scale(const int32_t *a, int32_t *out, int32_t count, int16_t factor, int64_t blocks) {
    for (int64_t i = self().logicalIndex; i < count; i += blocks) out[i] = a[i] * factor + static_cast<int32_t>(i);
}

void addKernel(const int32_t *a, int32_t *out, int32_t count, int16_t factor) { scale(a, out, count, factor, self().blockCount); }
struct AddArgs {
    const int32_t *a;
    int32_t *out;
    int32_t count;
    alignas(4) int16_t factor;
};
template <uint32_t splitidx> void addTwin(const AddArgs *args, sk::SkSystemArgs *sysArgs) {
    scale(args->a, args->out, args->count, args->factor, sysArgs->skNumBlocks);
}
SK_BIND(addKernel, 4, addTwin<0>, addTwin<1>, addTwin<2>, addTwin<3>);

template <class T, int32_t Plus> void templated(T *out, bool on) {
    if (on && self().logicalIndex == 0) out[0] += Plus;
}
template <class T> struct TemplatedArgs {
    T *out;
    alignas(4) bool on;
};
template <class T, int32_t Plus, uint32_t splitidx> void templatedTwin(const TemplatedArgs<T> *args) {
    if (args->on && self().logicalIndex == 0) args->out[0] += Plus;
}
SK_BIND(templated<int32_t, 5>, 4, templatedTwin<int32_t, 5, 0>, templatedTwin<int32_t, 5, 1>);

int g_plainCalls = 0, g_twinCalls = 0;
void silent() { ++g_plainCalls; }
void silentTwin() { ++g_twinCalls; }
SK_BIND(silent, 4, silentTwin);
void silentSystem() { ++g_plainCalls; }
void silentSystemTwin(sk::SkSystemArgs *sysArgs) { g_twinCalls += sysArgs->SkGetNumBlocks() == 3 ? 1 : 100; }
SK_BIND(silentSystem, 0, silentSystemTwin);

void unbound(int32_t *out) { out[self().logicalIndex] += 1; }

void conflicting() {}
void conflictingTwin() {}
SK_BIND(conflicting, 4, conflictingTwin);
SK_BIND(conflicting, 0, conflictingTwin);

template <class Body> aclmdlRI capture(aclrtStream stream, Body body) {
    aclmdlRI model = nullptr;
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    body();
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS);
    return model;
}

void sequence(aclrtStream stream, const int32_t *a, int32_t *b, int32_t *c) {
    launch({8, nullptr, stream}, vectorKernel("add"), &addKernel, a, b, kCount, 3);
    launch({4, nullptr, stream}, vectorKernel("add"), &addKernel, b, c, kCount, 2);
    launch({2, nullptr, stream}, vectorKernel("templated<int32_t, 5>"), &templated<int32_t, 5>, c, true);
    launch({8, nullptr, stream}, vectorKernel("add"), &addKernel, c, b, kCount, -1);
}

void equalToPlain(aclrtStream stream) {
    int32_t *a = newBuffer(kCount, 11), *b = newBuffer(kCount), *c = newBuffer(kCount);
    sequence(stream, a, b, c);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    const auto expected = readBuffer(b, kCount);
    const aclmdlRI model = capture(stream, [&] {
        EXPECT(aclskScopeBegin("layer", stream) == ACL_SUCCESS);
        sequence(stream, a, b, c);
        EXPECT(aclskScopeEnd("layer", stream) == ACL_SUCCESS);
        launch({1, nullptr, stream}, vectorKernel("outside"), &addKernel, a, c, 1, 1);
    });
    EXPECT(aclskOptimize(model, nullptr) == ACL_SUCCESS);
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT(aclrtMemset(b, kCount * 4, 0, kCount * 4) == ACL_SUCCESS);
        EXPECT(aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS);
        EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        EXPECT(readBuffer(b, kCount) == expected);
        std::printf("report %s\n", skrules_host_sk_report(model));
    }
    EXPECT(aclmdlRIDestroy(model) == ACL_SUCCESS);
    EXPECT(skrules_host_sk_report(model) == nullptr);
}

void reasons(aclrtStream stream) {
    int32_t *out = newBuffer(64);
    const aclmdlRI model = capture(stream, [&] {
        launch({3, nullptr, stream}, vectorKernel("silent"), &silent);
        launch({3, nullptr, stream}, vectorKernel("silentSystem"), &silentSystem);
        launch({3, nullptr, stream}, vectorKernel("unbound"), &unbound, out);
        EXPECT(aclrtMemsetAsync(out, 256, 0, 4, stream) == ACL_SUCCESS);
        launch({3, nullptr, stream}, vectorKernel("conflicting"), &conflicting);
        launch({49, nullptr, stream}, vectorKernel("wide"), &silent);
        EXPECT(aclskScopeBegin(nullptr, stream) == ACL_SUCCESS);
        launch({3, nullptr, stream}, vectorKernel("kept out"), &silent);
        EXPECT(aclskScopeEnd(nullptr, stream) == ACL_SUCCESS);
    });
    EXPECT(aclskOptimize(model, nullptr) == ACL_SUCCESS);
    EXPECT(aclmdlRIExecute(model, -1) == ACL_SUCCESS);
    EXPECT(g_twinCalls == 6 && g_plainCalls == 52);
    EXPECT((readBuffer(out, 4) == std::vector<int32_t>{0, 1, 1, 0}));
    std::printf("reasons %s\n", skrules_host_sk_report(model));
}

void misuse(aclrtStream stream) {
    EXPECT(aclskOptimize(nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclskOptimize(stream, nullptr) == ACL_ERROR_INVALID_PARAM);
    const aclmdlRI empty = capture(stream, [] {});
    EXPECT(aclskOptimize(empty, nullptr) == ACL_ERROR_FAILURE);
    EXPECT(std::string(aclGetRecentErrMsg()) == "aclskOptimize: nothing was captured");
    EXPECT(aclmdlRIExecuteAsync(empty, stream) == ACL_SUCCESS);
    EXPECT(aclmdlRIExecuteAsync(nullptr, stream) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclmdlRIDestroy(empty) == ACL_SUCCESS && aclmdlRIDestroy(empty) == ACL_ERROR_RT_PARAM_INVALID);
    aclmdlRI model = nullptr;
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_ERROR_RT_STREAM_NOT_CAPTURED && model == nullptr);
    EXPECT(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclmdlRICaptureBegin(&model, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT(aclskScopeEnd("never begun", stream) == ACL_ERROR_INVALID_PARAM);
    EXPECT(aclskScopeBegin("", stream) == ACL_ERROR_INVALID_PARAM);
    launch({0, nullptr, stream}, vectorKernel("none"), &silent);
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_ERROR_RT_STREAM_UNJOINED);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
    const aclmdlRI one = capture(stream, [&] { launch({1, nullptr, stream}, vectorKernel("silent"), &silent); });
    aclskOption option = {};
    option.optionType = aclskOptionType::SPLIT_MODE;
    option.splitMode.splitCnt = 5;
    aclskOptions options = {&option, 1};
    EXPECT(aclskOptimize(one, &options) == ACL_ERROR_INVALID_PARAM);
    option.splitMode.splitCnt = 2;
    EXPECT(aclskOptimize(one, &options) == ACL_SUCCESS);
    option.optionType = static_cast<aclskOptionType>(99);
    EXPECT(aclskOptimize(one, &options) == ACL_ERROR_INVALID_PARAM);
}

// A stream that waits for an event of the capture is captured as well.
void twoStreams(aclrtStream stream) {
    aclrtStream second = newStream();
    aclrtEvent begun = nullptr, done = nullptr;
    EXPECT(aclrtCreateEvent(&begun) == ACL_SUCCESS && aclrtCreateEvent(&done) == ACL_SUCCESS);
    int32_t *out = newBuffer(8);
    const aclmdlRI model = capture(stream, [&] {
        EXPECT(aclrtRecordEvent(begun, stream) == ACL_SUCCESS);
        EXPECT(aclrtStreamWaitEvent(second, begun) == ACL_SUCCESS);
        launch({8, nullptr, second}, vectorKernel("unbound"), &unbound, out);
        EXPECT(aclrtRecordEvent(done, second) == ACL_SUCCESS);
        EXPECT(aclrtStreamWaitEvent(stream, done) == ACL_SUCCESS);
        aclmdlRI other = nullptr;
        EXPECT(aclmdlRICaptureEnd(second, &other) == ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
    });
    EXPECT(readBuffer(out, 8) == std::vector<int32_t>(8, 0));
    EXPECT(aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS && aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    EXPECT(readBuffer(out, 8) == std::vector<int32_t>(8, 1));
    launch({8, nullptr, second}, vectorKernel("unbound"), &unbound, out);  // free again
    EXPECT(readBuffer(out, 8) == std::vector<int32_t>(8, 2));
}

}  // namespace

int main() {
    aclrtStream stream = newStream();
    equalToPlain(stream);
    reasons(stream);
    misuse(stream);
    twoStreams(stream);
    std::puts("done");
    return 0;
}
