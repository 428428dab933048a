// The C side of api_program.py: kernels by name, four buffers and a set of options each.
#pragma once

#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"
#include "skrules_host/launch.h"

// Mirrors api_program.Options.
struct Options {
    int32_t op, form, count, repeats, mode, extra;
    float scalar;
    int32_t m, n, k;
    uint64_t mask[2];
};

using Kernel = void (*)(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, Options);
struct Entry {
    const char *name;
    int aic, aiv;
    Kernel kernel;
};
extern const Entry kEntries[];
extern const int kEntryCount;

extern "C" const char *lastError() { return aclGetRecentErrMsg(); }

// Copies the buffers to the device, launches, copies them back. Returns the error of the launch.
extern "C" int runKernel(const char *name, int blocks, void **host, const size_t *bytes, const Options *options) {
    for (int i = 0; i < kEntryCount; ++i) {
        const Entry &entry = kEntries[i];
        if (std::strcmp(entry.name, name) != 0) continue;
        uint8_t *device[4] = {};
        for (int b = 0; b < 4; ++b) {
            if (!bytes[b]) continue;
            aclrtMalloc(reinterpret_cast<void **>(&device[b]), bytes[b], ACL_MEM_MALLOC_HUGE_FIRST);
            aclrtMemcpy(device[b], bytes[b], host[b], bytes[b], ACL_MEMCPY_HOST_TO_DEVICE);
        }
        skhost::launch({blocks, nullptr, static_cast<void *>(nullptr)}, {entry.name, entry.aic, entry.aiv, __NPU_ARCH__},
                       entry.kernel, device[0], device[1], device[2], device[3], *options);
        const int error = aclrtSynchronizeStream(nullptr);
        for (int b = 0; b < 4; ++b) {
            if (!bytes[b]) continue;
            if (!error) aclrtMemcpy(host[b], bytes[b], device[b], bytes[b], ACL_MEMCPY_DEVICE_TO_HOST);
            aclrtFree(device[b]);
        }
        return error;
    }
    return -1;
}

// A tensor over a whole GM buffer, and one at a fixed place of UB that is filled from it.
template <class T> AscendC::GlobalTensor<T> global(GM_ADDR address) {
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address));
    return tensor;
}
constexpr uint32_t kRoom = 32 * 1024;  // bytes of UB for one operand
template <class T> AscendC::LocalTensor<T> local(int slot, uint32_t bytes = kRoom) {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, slot * kRoom, bytes * 8 / skhost::bitsOf<T>());
}
template <class T> AscendC::LocalTensor<T> load(int slot, GM_ADDR address, uint32_t bytes) {
    const auto raw = local<uint8_t>(slot);
    AscendC::DataCopyPad(raw, global<uint8_t>(address), AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                         AscendC::DataCopyPadExtParams<uint8_t>{false, 0, 0, 0});
    AscendC::PipeBarrier<PIPE_ALL>();
    return raw.template ReinterpretCast<T>();
}
template <class T> void store(GM_ADDR address, const AscendC::LocalTensor<T> &tensor, uint32_t bytes) {
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopyPad(global<uint8_t>(address), tensor.template ReinterpretCast<uint8_t>(),
                         AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
}
