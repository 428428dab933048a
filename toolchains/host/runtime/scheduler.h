// Runs one launch: its blocks on as many cores as the device has, every core a fiber, in a fixed order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cores.h"

namespace skhost {

// What every core of a launch runs. `body` finds its core in g_core.
struct LaunchPlan {
    const char *name;
    int aic, aiv;  // cores per block
    uint32_t blocks;
    const ArchSpec *arch;
    int device;
    void (*body)(void *context);
    void *context;
};

// SyncAll and its kind: everybody arrives, then everybody goes on.
struct Barrier {
    int arrived = 0;
    uint64_t generation = 0;
};

class Scheduler {
  public:
    // Returns the text of the error, empty when the launch went well. One launch at a time in the process.
    static std::string run(const LaunchPlan &plan);

    // The launch whose cores run on this thread; nullptr on the host.
    static Scheduler *current();

    const LaunchPlan &plan() const { return plan_; }
    // Cores of this kind that the launch has, resident or not.
    int64_t coresOf(CoreKind kind) const;
    // Fails when not all of these cores can be resident at once: then none may wait for all others.
    void requireResident(CoreKind kind, const char *operation) const;
    const std::vector<EmulatedCore *> &live() const { return live_; }

    // Called on a core. `wait` returns when the condition holds.
    void wait(EmulatedCore &core, const Wait &condition);
    [[noreturn]] void abandon(EmulatedCore &core, std::string error);  // ends the launch; the core never runs again
    bool failed() const { return !error_.empty(); }

    Barrier barriers[3];                            // AIC, AIV, all
    std::map<std::pair<int, int>, int> blockFlags;  // IBSet / IBWait: (block, event) -> count
    int64_t turns[2] = {0, 0};                      // WaitPreBlock / NotifyNextBlock: how often the turn was passed on, by kind

  private:
    explicit Scheduler(const LaunchPlan &plan) : plan_(plan) {}
    void runAll();
    uint32_t residentBlocks() const;
    void startBlock(uint32_t block, CoreGroup &group);
    void startCore(EmulatedCore &core, uint32_t block, CoreGroup &group);
    bool ready(const EmulatedCore &core) const;
    void resume(EmulatedCore &core);
    std::string describeWait(const EmulatedCore &core) const;
    std::string describeDeadlock() const;
    void warnOfLeaks(CoreGroup &group);
    void replaceFinishedBlocks(std::vector<std::unique_ptr<CoreGroup>> &pool, uint32_t resident);

    const LaunchPlan plan_;
    std::vector<EmulatedCore *> live_;  // started and not replaced by another block
    uint32_t started_ = 0;
    std::string error_;
};

inline EmulatedCore *runningCore() { return static_cast<EmulatedCore *>(g_core); }

}  // namespace skhost
