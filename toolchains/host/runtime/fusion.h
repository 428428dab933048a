// Fusion of captured kernels into super kernels: one launch in which every core walks a queue of tasks. The rules are
// those of the public SuperKernel runtime (CANN graph-autofusion, super_kernel/src/aot).
#pragma once

#include <string>
#include <vector>

#include "model.h"
#include "skrules_host/sk.h"

namespace skhost {

enum class SyncKind : uint8_t { ALL, AIC_ALL, AIV_ALL, SET_AIC_TO_AIV, WAIT_AIC_TO_AIV, SET_AIV_TO_AIC, WAIT_AIV_TO_AIC };

struct Task {
    Node *node = nullptr;  // nullptr: a SYNC task
    SyncKind sync = SyncKind::ALL;
    uint32_t numBlocks = 0;  // cores of the queue's kind that run it
    TwinThunk entries[kMaxSplits] = {};
};

struct SuperKernel {
    std::string name;
    int aic = 0, aiv = 0;
    uint32_t blocks = 0;
    const ArchSpec *arch = nullptr;
    int device = 0;
    uint32_t entryCount = kMaxSplits;
    std::vector<Task> queues[2];  // by CoreKind
};

struct OptimizeOptions {
    uint32_t splits = kMaxSplits;  // aclskOptionType::SPLIT_MODE
    bool syncAll = false;          // aclskOptionType::DEBUG_SYNC_ALL
};

// Returns the error, empty: none. Then the model runs as it did before.
std::string optimizeModel(Model &model, const OptimizeOptions &options);
std::string runSuperKernel(SuperKernel &kernel);  // the error, empty: none

}  // namespace skhost
