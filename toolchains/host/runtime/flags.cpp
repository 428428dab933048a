// Flags between the pipes of one core, and the event ids that TPipe hands out.
#include "cores.h"
#include "scheduler.h"

namespace skhost {

namespace {

// `place` is checked as well as the id: both come from the kernel.
EmulatedCore &checkedCore(int event, int id, const char *call, const char *name) {
    EmulatedCore *core = runningCore();
    if (core == nullptr) fail("%s<%s> outside of a kernel", call, name);
    if (event < 0 || event >= kHardEvents) fail("%s<%s>: HardEvent %d is none of 0..%d", call, name, event, kHardEvents - 1);
    if (id < 0 || id >= kEventIds) fail("%s<%s>: event id %d is none of 0..%d", call, name, id, kEventIds - 1);
    return *core;
}

}  // namespace

void setFlag(int event, pipe_t from, int id, const char *name) {
    EmulatedCore &core = checkedCore(event, id, "SetFlag", name);
    uint8_t &count = core.flags[event][id];
    if (count > 0) warn("SetFlag<%s>(EVENT_ID%d) is set already, with no WaitFlag since", name, id);
    if (count < UINT8_MAX) ++count;
    core.flagNames[event] = name;
    if (g_raceTracking) core.flagClocks[event][id] = recordPipe(from);
}

void waitFlag(int event, pipe_t to, int id, const char *name) {
    EmulatedCore &core = checkedCore(event, id, "WaitFlag", name);
    uint8_t &count = core.flags[event][id];
    if (count == 0) {
        const int pipe = pipeIndex(to);
        fail("WaitFlag<%s>(EVENT_ID%d) with no earlier SetFlag: the %s pipe hangs on the device", name, id, pipeName(pipe));
    }
    --count;
    if (g_raceTracking) joinPipe(to, core.flagClocks[event][id]);
}

int fetchEvent(int event) {
    const EmulatedCore &core = checkedCore(event, 0, "FetchEventID", "");
    for (int id = 0; id < kEventIds; ++id) {
        if ((core.eventsTaken[event] >> id & 1) == 0) return id;
    }
    fail("FetchEventID: all %d ids of HardEvent %d are taken", kEventIds, event);
}

int allocateEvent(int event, const char *name) {
    EmulatedCore &core = checkedCore(event, 0, "AllocEventID", name);
    for (int id = 0; id < kEventIds; ++id) {
        if ((core.eventsTaken[event] >> id & 1) != 0) continue;
        core.eventsTaken[event] = static_cast<uint8_t>(core.eventsTaken[event] | 1U << id);
        return id;
    }
    fail("AllocEventID<%s>: all %d ids are taken", name, kEventIds);
}

void releaseEvent(int event, int id) {
    EmulatedCore &core = checkedCore(event, id, "ReleaseEventID", "");
    core.eventsTaken[event] = static_cast<uint8_t>(core.eventsTaken[event] & ~(1U << id));
}

}  // namespace skhost
