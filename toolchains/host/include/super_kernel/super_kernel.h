// Super kernel optimisation of captured graphs: the public interface (CANN graph-autofusion, super_kernel.h). Options
// that change nothing on the emulated device are accepted and have no effect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl.h"

enum class aclskOptionType : uint32_t {
    PRELOAD_CODE = 0,
    SPLIT_MODE = 1,
    STREAM_FUSION = 2,
    DCCI_DISABLE_ON_KERNEL = 3,
    DEBUG_SYNC_ALL = 4,
    KERNEL_MAP = 5,
    CONSTANT_CODEGEN = 6,
    AUTO_OP_PARALLEL = 7,
    DCCI_BEFORE_KERNEL_START = 8,
    DEBUG_OP_EXEC_TRACE = 9,
    DEBUG_CROSS_CORE_SYNC_CHECK = 10,
    OPT_EXTEND_OPTION = 11,
    DEBUG_EXTEND_OPTION = 12,
    DCCI_AFTER_KERNEL_END = 13,
    AGGRESSIVE_OPT_STRATEGIES = 14,
    UBUF_LOCK_IGNORE_KERNEL = 15,
    EARLY_START = 16,
    DEBUG_PER_OP_MAX_CORE_NUM = 17,
    SK_OPTION_MAX
};

typedef struct aclskPreloadOption {
    uint32_t preloadMode;
} aclskPreloadOption;
typedef struct aclskSplitModeOption {
    uint32_t splitCnt;
} aclskSplitModeOption;
typedef struct aclskStreamFusionOption {
    uint32_t streamFusion;
} aclskStreamFusionOption;
typedef struct aclskDcciOption {
    char **kernelNames;
    size_t kernelCnt;
} aclskDcciOption;
typedef struct aclskDebugSyncAllOption {
    uint32_t debugSyncAll;
} aclskDebugSyncAllOption;
typedef struct aclskKernelMap {
    char *globalName;
    char *sknlNames[4];
} aclskKernelMap;
typedef struct aclskKernelMapOption {
    aclskKernelMap *kernelMaps;
    size_t numKernels;
} aclskKernelMapOption;
typedef struct aclskConstantCodegenOption {
    uint32_t enableConstant;
} aclskConstantCodegenOption;
typedef struct aclskAutoOpParallelOption {
    uint32_t enableAutoOpParallel;
} aclskAutoOpParallelOption;
typedef struct aclskDebugOpExecTraceOption {
    uint32_t enableOpExecTrace;
} aclskDebugOpExecTraceOption;
typedef struct aclskDebugCrossCoreSyncCheckOption {
    uint32_t enableCrossCoreSyncCheck;
} aclskDebugCrossCoreSyncCheckOption;
typedef struct aclskExtendOption {
    char *value;
} aclskExtendOption;
typedef struct aclskAggressiveOptStrategies {
    uint32_t eventBreakerBypass;
    uint32_t valueBreakerBypass;
    uint32_t taskBreakerBypass;
} aclskAggressiveOptStrategies;
typedef struct aclskUbufLockIgnoreKernelOption {
    uint32_t ubufLockIgnoreKernelCnt;
    char **ubufLockIgnoreKernel;
} aclskUbufLockIgnoreKernelOption;
typedef struct aclskEarlyStartOption {
    uint32_t enableEarlyStart;
} aclskEarlyStartOption;
typedef struct aclskDebugPerOpMaxCoreNumOption {
    uint32_t enableDebugPerOpMaxCoreNum;
} aclskDebugPerOpMaxCoreNumOption;

struct aclskOption {
    aclskOptionType optionType;
    union {
        aclskPreloadOption preload;
        aclskSplitModeOption splitMode;
        aclskStreamFusionOption streamFusion;
        aclskDcciOption disableKernelDcci;
        aclskDebugSyncAllOption debugSync;
        aclskKernelMapOption kernelMap;
        aclskConstantCodegenOption constantCodegen;
        aclskAutoOpParallelOption autoOpParallel;
        aclskDcciOption dcciBeforeKernelStart;
        aclskDebugOpExecTraceOption debugOpExecTrace;
        aclskDebugCrossCoreSyncCheckOption debugCrossCoreSyncCheck;
        aclskExtendOption optExtend;
        aclskExtendOption debugExtend;
        aclskDcciOption dcciAfterKernelEnd;
        aclskAggressiveOptStrategies aggressiveOpts;
        aclskUbufLockIgnoreKernelOption ubufLockIgnoreKernel;
        aclskEarlyStartOption earlyStart;
        aclskDebugPerOpMaxCoreNumOption debugPerOpMaxCoreNum;
    };
};

typedef struct aclskOptions {
    aclskOption *options;
    size_t numOptions;
} aclskOptions;

extern "C" {

aclError aclskOptimize(aclmdlRI model, aclskOptions *options);
// A null name opens a scope in which nothing is fused.
aclError aclskScopeBegin(const char *scopeName, aclrtStream stream);
aclError aclskScopeEnd(const char *scopeName, aclrtStream stream);

// Of this emulation alone. JSON, one object a captured node in order: kernel, scope, fused, super_kernel, blocks,
// sk_blocks, reason, twin_runs (cores that ran the SK twin in the last execution). NULL: no such model.
const char *skrules_host_sk_report(aclmdlRI model);
}
