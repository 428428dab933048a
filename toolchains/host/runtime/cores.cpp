#include "cores.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "options.h"

namespace skhost {

namespace {

constexpr uint8_t kPoison = 0xA5;

uint32_t sizeOf(const ArchSpec &arch, Memory memory) {
    switch (memory) {
        case Memory::UB:
            return arch.ub;
        case Memory::L1:
            return arch.l1;
        case Memory::L0A:
            return arch.l0a;
        case Memory::L0B:
            return arch.l0b;
        case Memory::L0C:
            return arch.l0c;
        case Memory::BT:
            return arch.bt;
        case Memory::FB:
            return arch.fb;
        default:
            return 0;
    }
}

bool belongsTo(CoreKind kind, Memory memory) {
    if (memory == Memory::GM) return false;
    return (kind == CoreKind::AIV) == (memory == Memory::UB);
}

size_t wholePages(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

// Below 4 GiB when possible: kernels squeeze on-chip addresses into uint32_t. A page that nobody may touch follows.
uint8_t *mapMemory(size_t size) {
    const size_t page = wholePages(1);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#ifdef MAP_32BIT
    void *memory = mmap(nullptr, size + page, PROT_READ | PROT_WRITE, flags | MAP_32BIT, -1, 0);
#else
    static uintptr_t hint = 0x10000000;
    void *memory = mmap(reinterpret_cast<void *>(hint), size + page, PROT_READ | PROT_WRITE, flags, -1, 0);
    hint += size + page;
#endif
    if (memory == MAP_FAILED) memory = mmap(nullptr, size + page, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mprotect(static_cast<uint8_t *>(memory) + size, page, PROT_NONE);
    std::memset(memory, kPoison, size);
    return static_cast<uint8_t *>(memory);
}

// Memory for the largest of all archs; what this arch does not have of it faults.
uint8_t *ownMemory(EmulatedCore &core, const ArchSpec &arch, Memory memory) {
    uint8_t *&base = core.owned[static_cast<int>(memory)];
    size_t size = 0;
    for (const ArchSpec &other : kArchSpecs) size = std::max(size, wholePages(sizeOf(other, memory)));
    if (base == nullptr) base = mapMemory(size);
    if (core.equipped != &arch) {
        const size_t usable = wholePages(sizeOf(arch, memory));
        mprotect(base, usable, PROT_READ | PROT_WRITE);
        if (usable < size) mprotect(base + usable, size - usable, PROT_NONE);
    }
    return base;
}

}  // namespace

const char *memoryName(Memory memory) {
    static const char *const names[kMemories] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    return names[static_cast<int>(memory)];
}

CoreGroup::CoreGroup() {
    for (int i = 0; i < 3; ++i) {
        static_cast<Core &>(cores[i]) = Core();
        cores[i].kind = i == 0 ? CoreKind::AIC : CoreKind::AIV;
        cores[i].subIndex = i == 2 ? 1 : 0;
    }
}

const ArchSpec *findArch(int arch) {
    for (const ArchSpec &spec : kArchSpecs) {
        if (spec.arch == arch) return &spec;
    }
    return nullptr;
}

const ArchSpec *deviceArch() {
    const char *wanted = std::getenv("SKRULES_HOST_ARCH");
    if (wanted == nullptr || *wanted == '\0') return kArchSpecs;
    for (const ArchSpec &spec : kArchSpecs) {
        if (std::to_string(spec.arch) == wanted || std::strcmp(spec.name, wanted) == 0) return &spec;
    }
    return nullptr;
}

void equipCore(EmulatedCore &core, const ArchSpec &arch) {
    for (int i = 0; i < kMemories; ++i) {
        const auto memory = static_cast<Memory>(i);
        const bool owned = belongsTo(core.kind, memory);
        core.memory[i] = owned ? ownMemory(core, arch, memory) : nullptr;
        core.capacity[i] = sizeOf(arch, memory);
        if (owned && options().strict) std::memset(core.memory[i], kPoison, core.capacity[i]);
    }
    core.equipped = &arch;
    core.mask[0] = core.mask[1] = ~uint64_t{0};
    core.counterMode = false;
    core.compareMask[0] = core.compareMask[1] = 0;
    core.accumulator = 0;
    core.atomicOp = 0;
    core.padValue = 0;
    core.pipe = nullptr;
    core.finished = core.failed = false;
    core.wait = Wait();
    core.task = nullptr;
    core.reportedLeaks.clear();
    std::memset(core.flags, 0, sizeof(core.flags));
    std::memset(core.eventsTaken, 0, sizeof(core.eventsTaken));
    std::memset(core.crossFlags, 0, sizeof(core.crossFlags));
    std::memset(core.arrivals, 0, sizeof(core.arrivals));
    std::memset(core.allocation, 0, sizeof(core.allocation));
    if (!g_raceTracking) return;
    std::memset(static_cast<void *>(core.flagClocks), 0, sizeof(core.flagClocks));
    core.race.reset();
}

std::string describeLeaks(const EmulatedCore &core) {
    std::string text;
    const auto add = [&](const std::string &leak) { text += (text.empty() ? "" : ", ") + leak; };
    for (int event = 0; event < kHardEvents; ++event) {
        for (int id = 0; id < kEventIds; ++id) {
            if (core.flags[event][id] == 0) continue;
            const char *name = core.flagNames[event] == nullptr ? "?" : core.flagNames[event];
            add(std::string("SetFlag<") + name + ">(EVENT_ID" + std::to_string(id) + ") without WaitFlag");
        }
    }
    for (int id = 0; id < kCrossFlags; ++id) {
        if (core.crossFlags[id] > 0) add("CrossCoreSetFlag(" + std::to_string(id) + ") without CrossCoreWaitFlag");
    }
    return text;
}

std::string describeAddress(const EmulatedCore &core, uintptr_t address) {
    char text[128];
    std::snprintf(text, sizeof(text), "address 0x%llx", static_cast<unsigned long long>(address));
    if (address < 4096) return std::string(text) + " (a null pointer)";
    if (core.fiber.guards(address)) return std::string(text) + " (stack overflow: a kernel has 1 MiB of stack here)";
    for (int i = 1; i < kMemories; ++i) {
        const auto base = reinterpret_cast<uintptr_t>(core.memory[i]);
        if (base == 0 || address < base || address > base + core.capacity[i] + 65536) continue;
        std::snprintf(text, sizeof(text), "address %s+%llu (%s has %u bytes)", memoryName(static_cast<Memory>(i)),
                      static_cast<unsigned long long>(address - base), memoryName(static_cast<Memory>(i)), core.capacity[i]);
        return text;
    }
    return text;
}

}  // namespace skhost
