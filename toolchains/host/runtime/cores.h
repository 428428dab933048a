// The emulated cores with what the runtime needs to know of them beyond `Core`, and the pool they come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiber.h"
#include "race.h"
#include "skrules_host/core.h"

namespace skhost {

constexpr int kHardEvents = 40;  // HardEvent values
constexpr int kEventIds = 8;     // EVENT_ID0..EVENT_ID7
constexpr int kCrossFlags = 32;  // 16 of its own and, seen from an AIC of dav-3510, 16 more for the second AIV

// What a core waits for. A core that spins on global memory is runnable, but its running is no progress.
struct Wait {
    enum Kind : uint8_t { NONE, CROSS_FLAG, BARRIER, BLOCK_FLAG, TURN, SPIN } kind = NONE;
    int id = 0;               // flag; barrier; event of the block flag
    int block = 0;            // of the block flag
    int64_t parties = 0;      // of the barrier
    uint64_t generation = 0;  // of the barrier when the core arrived
    const char *name = "";    // of the barrier
};

struct EmulatedCore : Core {
    Fiber fiber;
    int coreId = 0;  // get_coreid()
    bool live = false, finished = false, failed = false;
    Wait wait;
    const char *task = nullptr;  // sub-kernel of a super kernel that runs now
    std::string reportedLeaks;   // what a sub-kernel was warned of

    uint8_t *owned[kMemories] = {};  // on-chip memory, big enough for every arch, kept from launch to launch
    const ArchSpec *equipped = nullptr;
    uint8_t flags[kHardEvents][kEventIds];
    const char *flagNames[kHardEvents] = {};  // of the HardEvents, as SetFlag said them
    PipeClock flagClocks[kHardEvents][kEventIds];
    uint8_t eventsTaken[kHardEvents];  // bit mask of ids handed out by TPipe
    int crossFlags[kCrossFlags];
    int arrivals[3][kCrossFlags];  // CrossCoreSetFlag calls that wait for their partners, by mode
    RaceState race;
    uint64_t allocation[3];  // global memory range that was hit last: begin, end, generation of the registry

    bool isCube() const { return kind == CoreKind::AIC; }
};

// One AIC and its two AIV: the cores that a block may use.
struct CoreGroup {
    EmulatedCore cores[3];
    CoreGroup();
};

const ArchSpec *findArch(int arch);
// SKRULES_HOST_ARCH: 2201 or dav-2201, ...; without it the first of the table. nullptr: it names no arch of the table.
const ArchSpec *deviceArch();

// Gives the core the on-chip memory of its kind on this arch and the state of a fresh launch.
void equipCore(EmulatedCore &core, const ArchSpec &arch);
// What lies at a faulting address, e.g. "40 bytes behind the end of UB".
std::string describeAddress(const EmulatedCore &core, uintptr_t address);
// Flags that the core leaves behind, for a person to read; empty: none.
std::string describeLeaks(const EmulatedCore &core);

}  // namespace skhost
