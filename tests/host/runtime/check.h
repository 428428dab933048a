// A few words that the test programs share: device buffers of int32, expectations that name their line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl_rt.h"
#include "skrules_host/launch.h"
#include "skrules_host/sk.h"

#define EXPECT(condition)                                                                    \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            const char *why = aclGetRecentErrMsg();                                          \
            std::printf("%s:%d: %s [%s]\n", __FILE__, __LINE__, #condition, why ? why : ""); \
            std::exit(1);                                                                    \
        }                                                                                    \
    } while (false)

constexpr skhost::KernelInfo vectorKernel(const char *name) { return {name, 0, 1, 2201}; }
constexpr skhost::KernelInfo cubeKernel(const char *name) { return {name, 1, 0, 2201}; }
constexpr skhost::KernelInfo mixKernel(const char *name, int aiv = 2) { return {name, 1, aiv, 2201}; }

inline aclrtStream newStream() {
    aclrtStream stream = nullptr;
    EXPECT(aclrtCreateStream(&stream) == ACL_SUCCESS);
    return stream;
}

inline int32_t *newBuffer(size_t count, int32_t value = 0) {
    void *address = nullptr;
    EXPECT(aclrtMalloc(&address, count * sizeof(int32_t), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    std::vector<int32_t> content(count, value);
    const size_t bytes = count * sizeof(int32_t);
    EXPECT(aclrtMemcpy(address, bytes, content.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    return static_cast<int32_t *>(address);
}

inline std::vector<int32_t> readBuffer(const int32_t *device, size_t count) {
    std::vector<int32_t> content(count);
    const size_t bytes = count * sizeof(int32_t);
    EXPECT(aclrtMemcpy(content.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    return content;
}
