#include <cstring>

#include "acl_call.h"
#include "device.h"
#include "memory.h"

using namespace skhost;

namespace {

aclError checkPlace(const char *call, const char *operand, const void *address, size_t count) {
    switch (placeOf(address, count)) {
        case Place::INSIDE:
            return ACL_SUCCESS;
        case Place::OUTSIDE:
            return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "%s %p lies in no device allocation", operand, address);
        default:
            return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "%s: %zu bytes at %p reach behind the allocation", operand, count,
                          address);
    }
}

aclError checkCopy(const char *call, const void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
    if (dst == nullptr || src == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, call, "null pointer");
    if (count > destMax) return refuse(ACL_ERROR_INVALID_PARAM, call, "%zu bytes do not fit into %zu", count, destMax);
    if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEFAULT) {
        return refuse(ACL_ERROR_INVALID_PARAM, call, "kind %d is none of 0..%d", static_cast<int>(kind),
                      static_cast<int>(ACL_MEMCPY_DEFAULT));
    }
    if (kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE) {
        if (const aclError code = checkPlace(call, "dst", dst, count); code != ACL_SUCCESS) return code;
    }
    if (kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE) return checkPlace(call, "src", src, count);
    return ACL_SUCCESS;
}

aclError checkFill(const char *call, const void *address, size_t maxCount, size_t count) {
    if (address == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, call, "null pointer");
    if (count > maxCount) return refuse(ACL_ERROR_INVALID_PARAM, call, "%zu bytes do not fit into %zu", count, maxCount);
    return checkPlace(call, "devPtr", address, count);
}

aclError submitWork(const char *call, aclrtStream stream, const std::function<void()> &work) {
    Node node;
    node.name = call;
    node.work = [work] {
        work();
        return std::string();
    };
    if (submitNode(stream, std::move(node))) return ACL_SUCCESS;
    return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such stream");
}

aclError allocate(const char *call, void **address, size_t size) {
    if (address == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, call, "null pointer");
    if (size == 0) return refuse(ACL_ERROR_INVALID_PARAM, call, "0 bytes");
    *address = allocateGlobal(size, currentDevice());
    if (*address == nullptr) return refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, call, "no memory for %zu bytes", size);
    return ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy) { return allocate("aclrtMalloc", devPtr, size); }
aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy) {
    return allocate("aclrtMallocAlign32", devPtr, size);
}

aclError aclrtFree(void *devPtr) {
    if (devPtr == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtFree", "null pointer");
    if (!freeGlobal(devPtr))
        return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree", "%p is not from aclrtMalloc, or was freed", devPtr);
    return ACL_SUCCESS;
}

aclError aclrtMallocHost(void **hostPtr, size_t size) {
    if (hostPtr == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost", "null pointer");
    if (size == 0) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost", "0 bytes");
    *hostPtr = allocateHost(size);
    if (*hostPtr == nullptr) return refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocHost", "no memory for %zu bytes", size);
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *hostPtr) {
    if (hostPtr == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost", "null pointer");
    if (!freeHost(hostPtr)) {
        return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost", "%p is not from aclrtMallocHost, or was freed", hostPtr);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
    if (const aclError code = checkCopy("aclrtMemcpy", dst, destMax, src, count, kind); code != ACL_SUCCESS) return code;
    std::memmove(dst, src, count);
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
    if (const aclError code = checkCopy("aclrtMemcpyAsync", dst, destMax, src, count, kind); code != ACL_SUCCESS) return code;
    return submitWork("aclrtMemcpyAsync", stream, [=] { std::memmove(dst, src, count); });
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
    if (const aclError code = checkFill("aclrtMemset", devPtr, maxCount, count); code != ACL_SUCCESS) return code;
    std::memset(devPtr, value, count);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    if (const aclError code = checkFill("aclrtMemsetAsync", devPtr, maxCount, count); code != ACL_SUCCESS) return code;
    return submitWork("aclrtMemsetAsync", stream, [=] { std::memset(devPtr, value, count); });
}

}  // extern "C"
