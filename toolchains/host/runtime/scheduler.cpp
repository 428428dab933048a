#include "scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "fault.h"
#include "message.h"
#include "options.h"

namespace skhost {

__thread Core *g_core __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

Scheduler *g_current = nullptr;  // guarded by the launch lock

// A core that only spins may wait for another one that only spins as well; after so many rounds nobody will change
// anything. On a device this is a hang.
constexpr uint64_t kSpinRounds = 1'000'000;
constexpr int kStuckLines = 8;

void coreMain() {
    EmulatedCore &core = *runningCore();
    Scheduler &scheduler = *Scheduler::current();
    std::string escaped;
    try {
        scheduler.plan().body(scheduler.plan().context);
    } catch (const std::exception &error) {
        escaped = std::string("exception escaped the kernel: ") + error.what();
    } catch (...) {
        escaped = "exception escaped the kernel";
    }
    if (!escaped.empty()) scheduler.abandon(core, describeCore() + escaped);
    core.finished = true;
    core.fiber.suspend();
}

std::vector<std::unique_ptr<CoreGroup>> &corePool() {
    static std::vector<std::unique_ptr<CoreGroup>> pool;  // guarded by the launch lock
    return pool;
}

std::mutex &launchLock() {
    static std::mutex lock;
    return lock;
}

std::string coreLabel(const EmulatedCore &core) {
    return std::string(core.isCube() ? "AIC" : "AIV") + " block " + std::to_string(core.blockIndex) + "." +
           std::to_string(core.subIndex);
}

}  // namespace

Scheduler *Scheduler::current() { return g_core == nullptr ? nullptr : g_current; }

std::string Scheduler::run(const LaunchPlan &plan) {
    const std::lock_guard<std::mutex> lock(launchLock());
    readOptions();
    Scheduler scheduler(plan);
    g_current = &scheduler;
    {
        const FaultGuard guard;
        scheduler.runAll();
    }
    g_current = nullptr;
    g_core = nullptr;
    return scheduler.error_;
}

int64_t Scheduler::coresOf(CoreKind kind) const {
    return static_cast<int64_t>(plan_.blocks) * (kind == CoreKind::AIC ? plan_.aic : plan_.aiv);
}

uint32_t Scheduler::residentBlocks() const {
    uint32_t blocks = plan_.blocks;
    if (plan_.aic > 0) blocks = std::min<uint32_t>(blocks, plan_.arch->aicCores);
    if (plan_.aiv > 0) blocks = std::min<uint32_t>(blocks, plan_.arch->aivCores / plan_.aiv);
    return blocks;
}

void Scheduler::requireResident(CoreKind kind, const char *operation) const {
    if (residentBlocks() == plan_.blocks) return;
    const int cores = kind == CoreKind::AIC ? plan_.arch->aicCores : plan_.arch->aivCores;
    fail("%s: the launch has %lld %s cores but %s has %d: they cannot all be resident, the device hangs", operation,
         static_cast<long long>(coresOf(kind)), kind == CoreKind::AIC ? "AIC" : "AIV", plan_.arch->name, cores);
}

void Scheduler::startCore(EmulatedCore &core, uint32_t block, CoreGroup &group) {
    core.arch = plan_.arch->arch;
    equipCore(core, *plan_.arch);
    core.blockIndex = static_cast<int>(block);
    core.blockCount = static_cast<int>(plan_.blocks);
    core.ratio = plan_.aic > 0 ? std::max(plan_.aiv, 1) : 1;
    core.logicalIndex = core.isCube() ? block : static_cast<int64_t>(block) * plan_.aiv + core.subIndex;
    core.coreId = static_cast<int>(core.isCube() ? core.logicalIndex : plan_.arch->aicCores + core.logicalIndex);
    for (int i = 0; i < 3; ++i) core.siblings[i] = group.cores[i].live ? &group.cores[i] : nullptr;
    core.fiber.start(coreMain);
    live_.push_back(&core);
}

void Scheduler::startBlock(uint32_t block, CoreGroup &group) {
    group.cores[0].live = plan_.aic > 0;
    group.cores[1].live = plan_.aiv > 0;
    group.cores[2].live = plan_.aiv > 1;
    for (EmulatedCore &core : group.cores) {
        if (core.live) startCore(core, block, group);
    }
    // On dav-3510 the AIV cores reach the L1 of their AIC; elsewhere it is no memory of theirs.
    if (plan_.arch->arch == 3510 && group.cores[0].live) {
        for (int i = 1; i < 3; ++i)
            group.cores[i].memory[static_cast<int>(Memory::L1)] = group.cores[0].memory[static_cast<int>(Memory::L1)];
    }
}

bool Scheduler::ready(const EmulatedCore &core) const {
    switch (core.wait.kind) {
        case Wait::NONE:
        case Wait::SPIN:
            return true;
        case Wait::CROSS_FLAG:
            return core.crossFlags[core.wait.id] > 0;
        case Wait::BARRIER:
            return barriers[core.wait.id].generation != core.wait.generation;
        case Wait::BLOCK_FLAG: {
            const auto flag = blockFlags.find({core.wait.block, core.wait.id});
            return flag != blockFlags.end() && flag->second > 0;
        }
        case Wait::TURN:
            return turns[static_cast<int>(core.kind)] % coresOf(core.kind) == core.logicalIndex;
    }
    return false;
}

void Scheduler::wait(EmulatedCore &core, const Wait &condition) {
    core.wait = condition;
    if (condition.kind == Wait::SPIN || !ready(core)) core.fiber.suspend();
    core.wait = Wait();
}

void Scheduler::abandon(EmulatedCore &core, std::string error) {
    if (error_.empty()) error_ = std::move(error);
    core.failed = true;
    core.fiber.suspend();
    std::abort();  // a failed core is never resumed
}

void Scheduler::resume(EmulatedCore &core) {
    g_core = &core;
    core.fiber.resume();
    g_core = nullptr;
}

void Scheduler::runAll() {
    auto &pool = corePool();
    const uint32_t resident = residentBlocks();
    while (pool.size() < resident) pool.push_back(std::make_unique<CoreGroup>());
    for (; started_ < resident; ++started_) startBlock(started_, *pool[started_]);
    uint64_t idleRounds = 0;
    while (!failed()) {
        bool progress = false, spinning = false, busy = false;
        for (size_t i = 0; i < live_.size() && !failed(); ++i) {
            EmulatedCore &core = *live_[i];
            if (core.finished) continue;
            busy = true;
            if (!ready(core)) continue;
            resume(core);
            (core.wait.kind == Wait::SPIN ? spinning : progress) = true;
        }
        if (failed()) break;
        const uint32_t before = started_;
        replaceFinishedBlocks(pool, resident);
        if (started_ != before) busy = progress = true;
        if (!busy) break;
        idleRounds = progress ? 0 : idleRounds + 1;
        if (!progress && (!spinning || idleRounds > kSpinRounds)) error_ = describeDeadlock();
    }
    for (uint32_t i = 0; i < resident && !failed(); ++i) warnOfLeaks(*pool[i]);
}

// A block whose cores are all done makes room for the next one.
void Scheduler::replaceFinishedBlocks(std::vector<std::unique_ptr<CoreGroup>> &pool, uint32_t resident) {
    for (uint32_t i = 0; i < resident && started_ < plan_.blocks && !failed(); ++i) {
        CoreGroup &group = *pool[i];
        bool done = true;
        for (const EmulatedCore &core : group.cores) done = done && (!core.live || core.finished);
        if (!done) continue;
        warnOfLeaks(group);
        const auto ofGroup = [&](const EmulatedCore *core) { return core >= group.cores && core < group.cores + 3; };
        live_.erase(std::remove_if(live_.begin(), live_.end(), ofGroup), live_.end());
        startBlock(started_++, group);
    }
}

std::string Scheduler::describeWait(const EmulatedCore &core) const {
    switch (core.wait.kind) {
        case Wait::CROSS_FLAG:
            return "CrossCoreWaitFlag(" + std::to_string(core.wait.id) + ")";
        case Wait::BARRIER: {
            const std::string arrived = std::to_string(barriers[core.wait.id].arrived);
            return std::string(core.wait.name) + " (" + arrived + " of " + std::to_string(core.wait.parties) + " cores arrived)";
        }
        case Wait::BLOCK_FLAG:
            return "IBWait(block " + std::to_string(core.wait.block) + ", event " + std::to_string(core.wait.id) + ")";
        case Wait::TURN:
            return "WaitPreBlock";
        default:
            return "a change in global memory (it spins)";
    }
}

std::string Scheduler::describeDeadlock() const {
    std::string text = std::string("[") + plan_.name + "] deadlock: no core can make progress:";
    size_t stuck = 0;
    for (const EmulatedCore *core : live_) {
        if (core->finished || ++stuck > kStuckLines) continue;
        text += "\n    " + coreLabel(*core) + (core->task == nullptr ? "" : std::string(" in ") + core->task) + " waits for " +
                describeWait(*core);
    }
    if (started_ < plan_.blocks) text += "\n    " + std::to_string(plan_.blocks - started_) + " blocks wait for a free core";
    return text + "\n    (" + std::to_string(stuck) + " of " + std::to_string(live_.size()) + " cores stuck)";
}

void Scheduler::warnOfLeaks(CoreGroup &group) {
    for (EmulatedCore &core : group.cores) {
        if (!core.live || failed()) continue;
        const std::string leaks = describeLeaks(core);
        if (leaks.empty() || leaks == core.reportedLeaks) continue;
        const std::string text = "the kernel ends and leaves " + leaks;
        g_core = &core;
        const std::string place = describeCore();
        g_core = nullptr;
        if (options().strict) {
            error_ = place + text + " (SKRULES_HOST_STRICT)";
        } else {
            printWarning(plan_.name, place, text);
        }
    }
}

}  // namespace skhost
