// Profiling, as far as public host programs call it. There is nothing to measure in an emulation: every call succeeds, and
// no result is ever written, which aclprofStart says. What reads results (aclprofModelSubscribe, aclprofGetOp...) is not
// here. Names and values are those of CANN's acl_prof.h and of the AscendCL API reference.
#pragma once

#include <stdio.h>

#include "acl/acl_rt.h"

#define ACL_PROF_ACL_API 0x0001ULL
#define ACL_PROF_TASK_TIME 0x0002ULL
#define ACL_PROF_AICORE_METRICS 0x0004ULL
#define ACL_PROF_AICPU 0x0008ULL
#define ACL_PROF_L2CACHE 0x0010ULL
#define ACL_PROF_HCCL_TRACE 0x0020ULL
#define ACL_PROF_TRAINING_TRACE 0x0040ULL
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_PROF_RUNTIME_API 0x0100ULL

#define ACL_PROF_EVENT_ATTR_VERSION 1

typedef enum {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_NONE = 0xFF,
} aclprofAicoreMetrics;

typedef enum { ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0 } aclprofMessageType;

typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofConfig aclprofConfig;

typedef struct aclprofTensor {
    uint32_t type;      // 0: input, 1: output
    uint32_t format;    // aclFormat
    uint32_t dataType;  // aclDataType
    uint32_t shapeDim;
    uint32_t shape[8];
} aclprofTensor;

typedef struct aclprofTensorInfo {
    uint64_t opNameId;
    uint64_t opTypeId;
    uint32_t resv;
    uint32_t tensorNum;
    uint32_t kernelType;
    uint32_t blockNums;
    void *stream;
    aclprofTensor *tensors;
} aclprofTensorInfo;

typedef struct aclprofEventAttributes {
    uint16_t version;
    uint16_t size;
    uint32_t messageType;
    union Message {
        aclprofTensorInfo *tensorInfo;
    } message;
} aclprofEventAttributes;

static inline aclError aclprofInit(const char *path, size_t length) {
    (void)length;
    return path != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
static inline aclError aclprofFinalize(void) { return ACL_SUCCESS; }

static inline aclprofConfig *aclprofCreateConfig(uint32_t *devices, uint32_t count, aclprofAicoreMetrics metrics,
                                                 const aclprofAicoreEvents *events, uint64_t dataTypeConfig) {
    static uint64_t config;
    (void)metrics;
    config = dataTypeConfig;
    return events != NULL || (count != 0 && devices == NULL) ? NULL : (aclprofConfig *)&config;
}
static inline aclError aclprofDestroyConfig(const aclprofConfig *config) {
    return config != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
static inline aclError aclprofStart(const aclprofConfig *config) {
    if (config == NULL) return ACL_ERROR_INVALID_PARAM;
    fprintf(stderr, "skrules host: aclprofStart: profiling is not emulated, no results will be written\n");
    return ACL_SUCCESS;
}
static inline aclError aclprofStop(const aclprofConfig *config) { return config != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM; }

// Marks of ranges. An id is some number of a text, the same for the same text.
static inline uint64_t aclprofStr2Id(const char *message) {
    uint64_t id = 5381;
    while (*message != '\0') id = id * 33 + (unsigned char)*message++;
    return id;
}
static inline aclError aclprofRangePushEx(aclprofEventAttributes *attributes) {
    return attributes != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
static inline aclError aclprofRangePop(void) { return ACL_SUCCESS; }
static inline void *aclprofCreateStamp(void) {
    static char stamp;
    return &stamp;
}
static inline void aclprofDestroyStamp(void *stamp) { (void)stamp; }
static inline aclError aclprofSetStampTraceMessage(void *stamp, const char *message, uint32_t length) {
    (void)length;
    return stamp != NULL && message != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}
static inline aclError aclprofMark(void *stamp) { return stamp != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM; }
static inline aclError aclprofPush(void *stamp) { return stamp != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM; }
static inline aclError aclprofPop(void) { return ACL_SUCCESS; }
static inline aclError aclprofRangeStart(void *stamp, uint32_t *range) {
    if (stamp == NULL || range == NULL) return ACL_ERROR_INVALID_PARAM;
    *range = 0;
    return ACL_SUCCESS;
}
static inline aclError aclprofRangeStop(uint32_t range) {
    (void)range;
    return ACL_SUCCESS;
}
