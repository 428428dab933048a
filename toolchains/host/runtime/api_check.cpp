// Operand checks of the device API: from a tensor to an address that may really be used.
#include <cstdio>

#include "skrules_host/api/engine.h"
#include "skrules_host/api/tensor.h"

namespace skhost {
namespace {

const char *kindName(CoreKind kind) { return kind == CoreKind::AIC ? "AIC" : "AIV"; }

}  // namespace

uint8_t *reach(const LocalView &view, uint64_t from, uint64_t bytes, const Use &use) {
    if (!view.bound) fail("%s: %s is an empty LocalTensor", use.api, use.operand);
    Core &core = self();
    const int memory = static_cast<int>(view.memory);
    const char *name = memoryName(view.memory);
    if (!(use.memories & in(view.memory))) {
        char allowed[64];
        size_t at = 0;
        allowed[0] = 0;
        for (int m = 1; m < kMemories; ++m)
            if (use.memories & in(static_cast<Memory>(m)))
                at += static_cast<size_t>(
                    snprintf(allowed + at, sizeof(allowed) - at, "%s%s", at ? " or " : "", memoryName(static_cast<Memory>(m))));
        fail("%s: %s lies in %s, it must lie in %s", use.api, use.operand, name, allowed);
    }
    if (!core.memory[memory])
        fail("%s: %s lies in %s, which an %s core does not have", use.api, use.operand, name, kindName(core.kind));
    const uint64_t start = view.offset + from;
    if (use.align > 1 && start % use.align)
        fail("%s: %s address %s+%llu is not %u-byte aligned", use.api, use.operand, name, static_cast<unsigned long long>(start),
             use.align);
    if (start + bytes > core.capacity[memory])
        fail("%s: %s runs past the end of %s (%llu bytes at %s+%llu, capacity %u)", use.api, use.operand, name,
             static_cast<unsigned long long>(bytes), name, static_cast<unsigned long long>(start), core.capacity[memory]);
    if (view.end && start + bytes > view.end)
        fail("%s: %s needs %llu bytes at %s+%llu but its buffer ends at %s+%u", use.api, use.operand,
             static_cast<unsigned long long>(bytes), name, static_cast<unsigned long long>(start), name, view.end);
    uint8_t *address = core.memory[memory] + start;
    if (bytes) touch(view.memory, use.pipe, address, bytes, use.write, use.api);
    return address;
}

uint8_t *reachScalar(const LocalView &view, uint64_t from, uint32_t bytes, bool write, const char *api) {
    issue(PIPE_S);
    return reach(view, from, bytes, {api, "tensor", PIPE_S, write, 1, in(Memory::UB) | in(Memory::L1)});
}

uint64_t addressOf(const LocalView &view) {
    const uint8_t *base = self().memory[static_cast<int>(view.memory)];
    return base ? reinterpret_cast<uint64_t>(base + view.offset) : 0;
}

LocalView viewAt(AscendC::TPosition position, uint64_t address, uint64_t bytes) {
    const Memory memory = memoryOf(position);
    if (memory == Memory::GM) fail("LocalTensor: position GM is no on-chip memory");
    const uint32_t capacity = capacityOf(memory);
    if (address + bytes > capacity)
        fail("LocalTensor: %s overflow: address %llu + %llu bytes > %u (capacity)", memoryName(memory),
             static_cast<unsigned long long>(address), static_cast<unsigned long long>(bytes), capacity);
    // A tensor at a fixed address owns no buffer; its end is known only when its size is.
    const uint32_t offset = static_cast<uint32_t>(address);
    return {memory, true, offset, bytes ? static_cast<uint32_t>(address + bytes) : capacity};
}

uint32_t capacityOf(Memory memory) {
    const int arch = self().arch;
    for (const ArchSpec &spec : kArchSpecs) {
        if (spec.arch != arch) continue;
        const uint32_t sizes[kMemories] = {0, spec.ub, spec.l1, spec.l0a, spec.l0b, spec.l0c, spec.bt, spec.fb};
        return sizes[static_cast<int>(memory)];
    }
    fail("arch %d is not in the table of archs", arch);
}

void failCapacity(Memory memory, uint64_t used, uint64_t requested, const char *api) {
    fail("%s: %s overflow: %llu bytes in use + %llu requested > %u (capacity, dav-%d)", api, memoryName(memory),
         static_cast<unsigned long long>(used), static_cast<unsigned long long>(requested), capacityOf(memory), self().arch);
}

}  // namespace skhost
