// Flags and barriers between cores.
#include <cstring>

#include "cores.h"
#include "scheduler.h"

namespace skhost {

namespace {

constexpr int kCounterLimit = 15;  // a cross-core flag counts in four bits

EmulatedCore &coreFor(const char *call) {
    EmulatedCore *core = runningCore();
    if (core == nullptr) fail("%s outside of a kernel", call);
    return *core;
}

EmulatedCore *sibling(const EmulatedCore &core, int index) { return static_cast<EmulatedCore *>(core.siblings[index]); }

void raise(EmulatedCore *core, int id) {
    if (core == nullptr) return;
    if (++core->crossFlags[id] <= kCounterLimit) return;
    fail("CrossCoreSetFlag: more than %d pending on flag %d of %s block %d.%d", kCounterLimit, id, core->isCube() ? "AIC" : "AIV",
         core->blockIndex, core->subIndex);
}

// Mode 0: every core of the kind sets, then every one of them may pass.
void setAmongKind(EmulatedCore &core, int id) {
    Scheduler &scheduler = *Scheduler::current();
    scheduler.requireResident(core.kind, "CrossCoreSetFlag<0>");
    ++core.arrivals[0][id];
    for (const EmulatedCore *other : scheduler.live()) {
        if (other->kind == core.kind && other->arrivals[0][id] == 0) return;
    }
    for (EmulatedCore *other : scheduler.live()) {
        if (other->kind != core.kind) continue;
        --other->arrivals[0][id];
        raise(other, id);
    }
}

// True when both AIV cores of the block have set flag `id` in this mode; takes the pair away.
bool bothVectorsArrived(EmulatedCore &core, int mode, int id) {
    ++core.arrivals[mode][id];
    EmulatedCore *first = sibling(core, 1), *second = sibling(core, 2);
    if (first != nullptr && first->arrivals[mode][id] == 0) return false;
    if (second != nullptr && second->arrivals[mode][id] == 0) return false;
    if (first != nullptr) --first->arrivals[mode][id];
    if (second != nullptr) --second->arrivals[mode][id];
    return true;
}

void setAmongVectors(EmulatedCore &core, int id) {
    if (core.isCube()) fail("CrossCoreSetFlag<1>: it is between the AIV cores of a block, an AIC cannot take part");
    if (sibling(core, 2) == nullptr) fail("CrossCoreSetFlag<1>: this launch has one AIV core a block, mode 1 needs two");
    if (!bothVectorsArrived(core, 1, id)) return;
    raise(sibling(core, 1), id);
    raise(sibling(core, 2), id);
}

void setAcross(EmulatedCore &core, int id) {
    if (sibling(core, 0) == nullptr || sibling(core, 1) == nullptr) {
        fail("CrossCoreSetFlag<2>: it is between the AIC and the AIV cores of a block, this launch has one kind only");
    }
    if (core.isCube()) {
        raise(sibling(core, 1), id);
        raise(sibling(core, 2), id);
    } else if (bothVectorsArrived(core, 2, id)) {
        raise(sibling(core, 0), id);
    }
}

// Mode 4 of dav-3510: the AIC and one of its AIV cores; ids from 16 on are those of the second AIV.
void setBetweenTwo(EmulatedCore &core, int id) {
    if (core.arch != 3510) fail("CrossCoreSetFlag<4> needs dav-3510, this launch runs on dav-%d", core.arch);
    EmulatedCore *partner = core.isCube() ? sibling(core, id >= 16 ? 2 : 1) : sibling(core, 0);
    if (partner == nullptr) fail("CrossCoreSetFlag<4>(%d): this launch has no such core in the block", id);
    raise(partner, core.isCube() ? id % 16 : id % 16 + 16 * core.subIndex);
}

void checkFlag(const EmulatedCore &core, const char *call, int id) {
    const int limit = core.arch == 3510 ? kCrossFlags : 16;
    if (id < 0 || id >= limit) fail("%s: flag id %d is none of 0..%d", call, id, limit - 1);
}

void arrive(EmulatedCore &core, int which, int64_t parties, const char *name) {
    Scheduler &scheduler = *Scheduler::current();
    Barrier &barrier = scheduler.barriers[which];
    const uint64_t generation = barrier.generation;
    if (++barrier.arrived >= parties) {
        barrier.arrived = 0;
        ++barrier.generation;
        return;
    }
    Wait wait;
    wait.kind = Wait::BARRIER;
    wait.id = which;
    wait.parties = parties;
    wait.generation = generation;
    wait.name = name;
    scheduler.wait(core, wait);
}

}  // namespace

void crossSet(int mode, int id) {
    EmulatedCore &core = coreFor("CrossCoreSetFlag");
    checkFlag(core, "CrossCoreSetFlag", id);
    switch (mode) {
        case 0:
            return setAmongKind(core, id);
        case 1:
            return setAmongVectors(core, id);
        case 2:
            return setAcross(core, id);
        case 4:
            return setBetweenTwo(core, id);
        default:
            fail("CrossCoreSetFlag: mode %d is none of 0, 1, 2 and (dav-3510) 4", mode);
    }
}

void crossWait(int id) {
    EmulatedCore &core = coreFor("CrossCoreWaitFlag");
    checkFlag(core, "CrossCoreWaitFlag", id);
    Wait wait;
    wait.kind = Wait::CROSS_FLAG;
    wait.id = id;
    Scheduler::current()->wait(core, wait);
    --core.crossFlags[id];
}

void syncAll(Party party, int parties, const char *name) {
    EmulatedCore &core = coreFor(name);
    Scheduler &scheduler = *Scheduler::current();
    scheduler.requireResident(core.kind, name);
    int64_t all = scheduler.coresOf(core.kind);
    if (party == Party::ALL) all = scheduler.coresOf(CoreKind::AIC) + scheduler.coresOf(CoreKind::AIV);
    if (parties < 0 || parties > all)
        fail("%s: %d cores are to meet, the launch has %lld", name, parties, static_cast<long long>(all));
    joinAllPipes();
    arrive(core, party == Party::ALL ? 2 : static_cast<int>(core.kind), parties == 0 ? all : parties, name);
}

void blockSet(int block, int event) {
    coreFor("IBSet");
    if (block < 0 || event < 0) fail("IBSet: block %d, event %d: neither may be negative", block, event);
    ++Scheduler::current()->blockFlags[{block, event}];
}

void blockWait(int block, int event) {
    EmulatedCore &core = coreFor("IBWait");
    if (block < 0 || event < 0) fail("IBWait: block %d, event %d: neither may be negative", block, event);
    Scheduler &scheduler = *Scheduler::current();
    Wait wait;
    wait.kind = Wait::BLOCK_FLAG;
    wait.block = block;
    wait.id = event;
    scheduler.wait(core, wait);
    --scheduler.blockFlags[{block, event}];
}

void waitPreviousBlock() {
    EmulatedCore &core = coreFor("WaitPreBlock");
    Wait wait;
    wait.kind = Wait::TURN;
    Scheduler::current()->wait(core, wait);
}

void notifyNextBlock() {
    EmulatedCore &core = coreFor("NotifyNextBlock");
    Scheduler &scheduler = *Scheduler::current();
    int64_t &turn = scheduler.turns[static_cast<int>(core.kind)];
    if (turn % scheduler.coresOf(core.kind) != core.logicalIndex) fail("NotifyNextBlock out of turn: WaitPreBlock comes first");
    ++turn;
}

void yieldCore() {
    EmulatedCore *core = runningCore();
    if (core == nullptr) return;
    Wait wait;
    wait.kind = Wait::SPIN;
    Scheduler::current()->wait(*core, wait);
}

}  // namespace skhost
