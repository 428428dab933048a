#include "fusion.h"

#include <algorithm>

#include "bindings.h"
#include "scheduler.h"

namespace skhost {

namespace {

// Flags that the super kernel keeps for itself (AscendC::SYNC_AIC_FLAG, ...).
constexpr int kAicFlag = 11, kAivFlag = 12, kAicAivFlag = 13, kAivOnlyAllFlag = 14;
constexpr int64_t kMaxTaskBlocks = 255;  // TaskInfo counts blocks in eight bits

void meet(int flag) {
    crossSet(0, flag);
    crossWait(flag);
}

void synchronizeAll(const SuperKernel &kernel, bool cube) {
    if (cube) {
        meet(kAicFlag);
        if (kernel.aiv == 0) return;
        crossSet(2, kAicAivFlag);
        crossWait(kAivFlag);
    } else {
        meet(kAivOnlyAllFlag);
        if (kernel.aic == 0) return;
        crossSet(2, kAivFlag);
        crossWait(kAicAivFlag);
    }
}

void synchronize(const SuperKernel &kernel, SyncKind kind) {
    const bool cube = runningCore()->isCube();
    switch (kind) {
        case SyncKind::ALL:
            synchronizeAll(kernel, cube);
            break;
        case SyncKind::AIC_ALL:
            if (cube) meet(kAicFlag);
            break;
        case SyncKind::AIV_ALL:
            if (!cube) meet(kAivOnlyAllFlag);
            break;
        case SyncKind::SET_AIC_TO_AIV:
            if (cube) crossSet(2, kAicAivFlag);
            break;
        case SyncKind::WAIT_AIC_TO_AIV:
            if (!cube) crossWait(kAicAivFlag);
            break;
        case SyncKind::SET_AIV_TO_AIC:
            if (!cube) crossSet(2, kAivFlag);
            break;
        case SyncKind::WAIT_AIV_TO_AIC:
            if (cube) crossWait(kAivFlag);
            break;
    }
    joinAllPipes();
}

// Core state outlives a sub-kernel: what it leaves behind, the next one finds.
struct Inheritance {
    std::string leaks;
    bool atomic, counter;
    explicit Inheritance(const EmulatedCore &core)
        : leaks(describeLeaks(core)), atomic(core.atomicOp != 0), counter(core.counterMode) {}
};

void warnOfInheritance(EmulatedCore &core, const Inheritance &before) {
    const char *next = "; the next sub-kernel of the super kernel inherits it";
    const Inheritance after(core);
    if (!after.leaks.empty() && after.leaks != before.leaks) {
        warn("sub-kernel %s leaves %s%s", core.task, after.leaks.c_str(), next);
        core.reportedLeaks = after.leaks;
    }
    if (after.atomic && !before.atomic) warn("sub-kernel %s leaves atomic mode on%s", core.task, next);
    if (after.counter && !before.counter) warn("sub-kernel %s leaves counter mask mode on%s", core.task, next);
}

void runTask(const SuperKernel &kernel, const Task &task) {
    EmulatedCore &core = *runningCore();
    if (core.logicalIndex >= task.numBlocks) return;
    sk::SkSystemArgs system = {};
    system.skBlockIdx = static_cast<uint16_t>(core.logicalIndex);
    system.skNumBlocks = static_cast<uint16_t>(task.numBlocks);
    const Inheritance before(core);
    core.task = task.node->name.c_str();
    ++task.node->twinRuns;
    task.entries[core.coreId % static_cast<int>(kernel.entryCount)](task.node->arguments.data(), &system);
    warnOfInheritance(core, before);
    // The state of a TPipe is software: it does not outlive the sub-kernel.
    std::fill(std::begin(core.eventsTaken), std::end(core.eventsTaken), uint8_t{0});
    core.pipe = nullptr;
    core.task = nullptr;
}

void entry(void *context) {
    const SuperKernel &kernel = *static_cast<const SuperKernel *>(context);
    for (const Task &task : kernel.queues[static_cast<int>(runningCore()->kind)]) {
        if (task.node == nullptr) {
            synchronize(kernel, task.sync);
        } else {
            runTask(kernel, task);
        }
    }
}

void addSync(SuperKernel &kernel, std::initializer_list<SyncKind> kinds) {
    for (const SyncKind kind : kinds) {
        Task task;
        task.sync = kind;
        for (auto &queue : kernel.queues) queue.push_back(task);
    }
}

// Consecutive nodes are ordered: whatever kind of core the first one used is waited for by every kind the second uses.
void addOrder(SuperKernel &kernel, const Node &before, const Node &after, bool always) {
    const bool beforeMix = before.aic > 0 && before.aiv > 0, afterMix = after.aic > 0 && after.aiv > 0;
    if (always || beforeMix || afterMix) {
        addSync(kernel, {SyncKind::ALL});
    } else if (before.aic > 0 && after.aic > 0) {
        addSync(kernel, {SyncKind::AIC_ALL});
    } else if (before.aiv > 0 && after.aiv > 0) {
        addSync(kernel, {SyncKind::AIV_ALL});
    } else if (before.aic > 0) {
        addSync(kernel, {SyncKind::AIC_ALL, SyncKind::SET_AIC_TO_AIV, SyncKind::WAIT_AIC_TO_AIV});
    } else {
        addSync(kernel, {SyncKind::AIV_ALL, SyncKind::SET_AIV_TO_AIC, SyncKind::WAIT_AIV_TO_AIC});
    }
}

void addTasks(SuperKernel &kernel, Node &node) {
    const BoundTwins bound = findTwins(node.function);
    for (const CoreKind kind : {CoreKind::AIC, CoreKind::AIV}) {
        if (node.coresOf(kind) == 0) continue;
        Task task;
        task.node = &node;
        task.numBlocks = static_cast<uint32_t>(node.coresOf(kind));
        std::copy(std::begin(bound.entries), std::end(bound.entries), task.entries);
        kernel.queues[static_cast<int>(kind)].push_back(task);
    }
}

// Which cores the super kernel is launched on.
void chooseEntry(SuperKernel &kernel) {
    uint32_t most[2] = {0, 0};
    bool twoVectors = false;
    for (int kind = 0; kind < 2; ++kind) {
        for (const Task &task : kernel.queues[kind]) {
            most[kind] = std::max(most[kind], task.numBlocks);
            twoVectors = twoVectors || (task.node != nullptr && task.node->aic > 0 && task.node->aiv == 2);
        }
    }
    const auto [cubes, vectors] = most;
    kernel.aic = cubes > 0 ? 1 : 0;
    kernel.aiv = vectors > 0 ? 1 : 0;
    kernel.blocks = std::max(cubes, vectors);
    if (cubes == 0 || vectors == 0) return;
    if (!twoVectors && vectors <= cubes) return;
    kernel.aiv = 2;
    kernel.blocks = std::max(cubes, (vectors + 1) / 2);
    // On a 1:2 entry both AIV cores of a block run the vector part of a 1:1 operator, as the public runtime has it.
    for (Task &task : kernel.queues[1]) {
        if (task.node != nullptr && task.node->aic == 1 && task.node->aiv == 1) task.numBlocks *= 2;
    }
}

// Why a node cannot be part of a super kernel; empty: it can.
std::string refuse(const Model &model, const Node &node) {
    if (!node.isKernel()) return "DEFAULT_NODE";
    // A graph without scopes is one scope; with a scope anywhere, what is outside of every scope stays out.
    if (model.hasScopes && node.scopes.empty()) return "NOT_IN_SCOPE";
    for (const Scope &scope : node.scopes) {
        if (!scope.fusible) return "IN_UNFUSIBLE_SCOPE";
    }
    const BoundTwins bound = findTwins(node.function);
    if (!bound.found) return "OP_UNSUPPORT [FUNC_NOT_FOUND]";
    if (bound.conflict) return "OP_UNSUPPORT [BINDMAP_ENTRY_CONFLICT]";
    const int64_t cubes = node.coresOf(CoreKind::AIC), vectors = node.coresOf(CoreKind::AIV);
    const bool tooMany =
        cubes > node.arch->aicCores || vectors > node.arch->aivCores || std::max(cubes, vectors) > kMaxTaskBlocks;
    return tooMany ? "EXCEED_CORE_MAX" : "";
}

void fuse(Model &model, const std::vector<Node *> &run, const OptimizeOptions &options) {
    auto kernel = std::make_unique<SuperKernel>();
    const std::string scope = run.front()->scopeName();
    const auto index = static_cast<int>(model.superKernels.size());
    kernel->name = "sk_" + std::to_string(index) + "_" + (scope.empty() ? "none" : scope);
    kernel->arch = run.front()->arch;
    kernel->device = run.front()->device;
    kernel->entryCount = options.splits;
    for (size_t i = 0; i < run.size(); ++i) {
        if (i > 0) addOrder(*kernel, *run[i - 1], *run[i], options.syncAll);
        addTasks(*kernel, *run[i]);
        run[i]->superKernel = index;
    }
    chooseEntry(*kernel);
    model.superKernels.push_back(std::move(kernel));
}

bool together(const Node &a, const Node &b) { return a.arch == b.arch && a.device == b.device && a.scopeName() == b.scopeName(); }

}  // namespace

std::string optimizeModel(Model &model, const OptimizeOptions &options) {
    const std::lock_guard<std::mutex> lock(model.busy);
    for (const Node &node : model.nodes) {
        if (!node.isKernel()) continue;
        if (std::string mismatch = findTwins(node.function).mismatch; !mismatch.empty()) return mismatch;
    }
    model.superKernels.clear();
    // Maximal runs within one scope. A run of a single node becomes a super kernel too: the public runtime has no lower
    // bound, and compare programs that capture just one kernel rely on it.
    std::vector<Node *> run;
    const auto flush = [&] {
        if (!run.empty()) fuse(model, run, options);
        run.clear();
    };
    for (Node &node : model.nodes) {
        node.superKernel = -1;
        node.twinRuns = 0;
        node.reason = refuse(model, node);
        if (!node.reason.empty() || (!run.empty() && !together(*run.back(), node))) flush();
        if (node.reason.empty()) run.push_back(&node);
    }
    flush();
    return "";
}

std::string runSuperKernel(SuperKernel &kernel) {
    return Scheduler::run(
        {kernel.name.c_str(), kernel.aic, kernel.aiv, kernel.blocks, kernel.arch, kernel.device, entry, &kernel});
}

}  // namespace skhost
