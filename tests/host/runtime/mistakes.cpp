// What goes wrong only inside a super kernel, and mixed entries, splits and their selection.
#include <string>

#include "check.h"
#include "skrules_host/core.h"
#include "super_kernel/super_kernel.h"

using namespace skhost;

namespace {

struct OutArgs {
    int32_t *out;
};

void wide(int32_t *out) { out[self().logicalIndex] = 1; }
void wideTwin(const OutArgs *args) { args->out[self().logicalIndex] = 1; }
SK_BIND(wide, 4, wideTwin);

// SyncAll counts the cores of the launch: fewer blocks than the super kernel and it never returns.
void meeting(int32_t *out) {
    syncAll(Party::SAME_KIND, 0, "SyncAll");
    out[self().logicalIndex] = 2;
}
void meetingTwin(const OutArgs *args) { meeting(args->out); }
SK_BIND(meeting, 4, meetingTwin);

void leaking(int32_t *) {
    setFlag(5, PIPE_MTE2, 3, "MTE2_V");
    waitFlag(5, PIPE_V, 3, "MTE2_V");
}
void leakingTwin(const OutArgs *) {
    setFlag(5, PIPE_MTE2, 3, "MTE2_V");
    self().atomicOp = 1;
    self().counterMode = true;
}
SK_BIND(leaking, 4, leakingTwin);

// Says which split each core ran.
void split(int32_t *out) { out[self().logicalIndex] = -1; }
template <int32_t index> void splitTwin(const OutArgs *args) { args->out[self().logicalIndex] = index; }
template <int count> struct Counted {
    static void kernel(int32_t *out) { split(out); }
};
SK_BIND(Counted<1>::kernel, 4, splitTwin<0>);
SK_BIND(Counted<2>::kernel, 4, splitTwin<0>, splitTwin<1>);
SK_BIND(Counted<3>::kernel, 4, splitTwin<0>, splitTwin<1>, splitTwin<2>);
SK_BIND(Counted<4>::kernel, 4, splitTwin<0>, splitTwin<1>, splitTwin<2>, splitTwin<3>);

// AIC and AIV of a block hand a value over; block number and core kind end up in the result.
void handOver(int32_t *out, int64_t blocks) {
    Core &core = self();
    if (core.kind == CoreKind::AIC) {
        out[core.logicalIndex] = static_cast<int32_t>(blocks);
        crossSet(2, 1);
    } else {
        crossWait(1);
        out[100 + core.logicalIndex] = out[core.blockIndex] * 1000 + static_cast<int32_t>(blocks);
    }
}
void mixed(int32_t *out) { handOver(out, self().blockCount); }
void mixedTwin(const OutArgs *args, sk::SkSystemArgs *sysArgs) { handOver(args->out, sysArgs->skNumBlocks); }
SK_BIND(mixed, 4, mixedTwin);
void cube(int32_t *out) { out[self().logicalIndex] += 1; }
void cubeTwin(const OutArgs *args) { cube(args->out); }
SK_BIND(cube, 4, cubeTwin);

template <class Body> aclmdlRI optimized(aclrtStream stream, Body body, uint32_t splits = 4) {
    aclmdlRI model = nullptr;
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    body();
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS);
    aclskOption option = {};
    option.optionType = aclskOptionType::SPLIT_MODE;
    option.splitMode.splitCnt = splits;
    aclskOptions options = {&option, 1};
    EXPECT(aclskOptimize(model, &options) == ACL_SUCCESS);
    EXPECT(aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS);
    return model;
}

void fewerBlocks(aclrtStream stream) {
    int32_t *out = newBuffer(64);
    launch({4, nullptr, stream}, vectorKernel("meeting"), &meeting, out);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    optimized(stream, [&] {
        launch({8, nullptr, stream}, vectorKernel("wide"), &wide, out);
        launch({4, nullptr, stream}, vectorKernel("meeting"), &meeting, out);
        launch({8, nullptr, stream}, vectorKernel("wide"), &wide, out);
    });
    EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_AICORE_EXCEPTION);
    std::printf("%s\n", aclGetRecentErrMsg());
}

void leaks(aclrtStream stream) {
    int32_t *out = newBuffer(64);
    launch({2, nullptr, stream}, vectorKernel("leaking"), &leaking, out);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    optimized(stream, [&] {
        launch({2, nullptr, stream}, vectorKernel("leaking"), &leaking, out);
        launch({2, nullptr, stream}, vectorKernel("wide"), &wide, out);
    });
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

template <int count> void splits(aclrtStream stream, uint32_t mode) {
    int32_t *out = newBuffer(64, -2);
    optimized(stream, [&] { launch({8, nullptr, stream}, vectorKernel("split"), &Counted<count>::kernel, out); }, mode);
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    std::printf("splits %d of %u:", count, mode);
    for (const int32_t value : readBuffer(out, 8)) std::printf(" %d", value);
    std::printf("\n");
}

void mixEntry(aclrtStream stream) {
    int32_t *out = newBuffer(256);
    const aclmdlRI model = optimized(stream, [&] {
        launch({8, nullptr, stream}, vectorKernel("wide"), &wide, out);
        launch({2, nullptr, stream}, mixKernel("mixed"), &mixed, out);
        launch({6, nullptr, stream}, cubeKernel("cube"), &cube, out);
        launch({3, nullptr, stream}, vectorKernel("wide"), &wide, out + 200);
    });
    EXPECT(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    std::printf("mix %s\n", skrules_host_sk_report(model));
    const auto content = readBuffer(out, 256);
    EXPECT((std::vector<int32_t>(content.begin(), content.begin() + 8) == std::vector<int32_t>{3, 3, 2, 2, 2, 2, 1, 1}));
    // skNumBlocks counts the cores of the kind: 2 AIC, 4 AIV.
    EXPECT(
        (std::vector<int32_t>(content.begin() + 100, content.begin() + 105) == std::vector<int32_t>{2004, 2004, 2004, 2004, 0}));
    EXPECT(content[202] == 1 && content[203] == 0);
}

}  // namespace

int main() {
    aclrtStream stream = newStream();
    fewerBlocks(stream);
    leaks(stream);
    for (const uint32_t mode : {4U, 3U, 2U, 1U}) splits<4>(stream, mode);
    splits<3>(stream, 4);
    splits<2>(stream, 4);
    splits<1>(stream, 4);
    mixEntry(stream);
    std::puts("done");
    return 0;
}
