// One fault inside a core for each name on the command line: flags, events, cross-core rules, races.
#include <string>

#include "check.h"
#include "skrules_host/core.h"

using namespace skhost;

extern "C" void skrules_host_register_memory(void *address, size_t bytes);
extern "C" void skrules_host_unregister_memory(void *address);

namespace {

int32_t *g_freed = nullptr;
uint8_t g_reused[8192];  // freed as a whole; then 512 bytes from the middle are in use again

uint8_t *ub() { return self().memory[static_cast<int>(Memory::UB)]; }

void copyIn(size_t bytes) {
    issue(PIPE_MTE2);
    touch(Memory::UB, PIPE_MTE2, ub(), bytes, true, "DataCopy");
}
void compute(size_t bytes) {
    issue(PIPE_V);
    touch(Memory::UB, PIPE_V, ub(), bytes, false, "Add");
}

struct Case {
    const char *name;
    KernelInfo kernel;
    void (*body)();
};

const Case kCases[] = {
    {"wait_without_set", vectorKernel("k"), [] { waitFlag(5, PIPE_V, 1, "MTE2_V"); }},
    {"set_twice", vectorKernel("k"),
     [] {
         setFlag(5, PIPE_MTE2, 0, "MTE2_V");
         setFlag(5, PIPE_MTE2, 0, "MTE2_V");
         waitFlag(5, PIPE_V, 0, "MTE2_V");
         waitFlag(5, PIPE_V, 0, "MTE2_V");
     }},
    {"event_id", vectorKernel("k"), [] { setFlag(5, PIPE_MTE2, 8, "MTE2_V"); }},
    {"left_set", vectorKernel("k"), [] { setFlag(5, PIPE_MTE2, 2, "MTE2_V"); }},
    {"events", vectorKernel("k"),
     [] {
         for (int i = 0; i < 8; ++i) {
             if (fetchEvent(7) != i || allocateEvent(7, "V_MTE3") != i) fail("wrong event");
         }
         releaseEvent(7, 4);
         if (allocateEvent(7, "V_MTE3") != 4) fail("wrong event");
         allocateEvent(7, "V_MTE3");
     }},
    {"cross_id", vectorKernel("k"), [] { crossSet(0, 16); }},
    {"cross_mode", vectorKernel("k"), [] { crossSet(3, 1); }},
    {"cross_mode_4", mixKernel("k"), [] { crossSet(4, 1); }},
    {"cross_overflow", vectorKernel("k"),
     [] {
         for (int i = 0; i < 16; ++i) crossSet(0, 1);
     }},
    {"cross_one_kind", vectorKernel("k"), [] { crossSet(2, 1); }},
    {"cross_left", vectorKernel("k"), [] { crossSet(0, 1); }},
    {"pair", mixKernel("k"),
     [] {
         if (self().kind == CoreKind::AIC) return;
         crossSet(1, 1);
         crossWait(1);
     }},
    {"pair_alone", mixKernel("k"),
     [] {
         if (self().kind == CoreKind::AIC || self().subIndex == 1) return;
         crossSet(1, 1);
         crossWait(1);
     }},
    {"handshake_3510",
     {"k", 1, 2, 3510},
     [] {
         if (self().kind == CoreKind::AIC) {
             crossSet(4, 2);
             crossSet(4, 18);
             crossWait(3);
             crossWait(19);
         } else {
             crossWait(2);
             crossSet(4, 3);
         }
     }},
    {"sync_parties", vectorKernel("k"), [] { syncAll(Party::SAME_KIND, 5, "SyncAll"); }},
    {"sync_some", vectorKernel("k"),
     [] {
         if (self().logicalIndex < 2) syncAll(Party::SAME_KIND, 2, "SyncAll");
     }},
    {"block_flags", vectorKernel("k"),
     [] {
         const auto block = static_cast<int>(self().logicalIndex);
         if (block > 0) blockWait(block - 1, 0);
         if (block < 3) blockSet(block, 0);
     }},
    {"block_flag_never", vectorKernel("k"), [] { blockWait(7, 1); }},
    {"turns", vectorKernel("k"),
     [] {
         for (int round = 0; round < 3; ++round) {
             waitPreviousBlock();
             notifyNextBlock();
         }
     }},
    {"out_of_turn", vectorKernel("k"),
     [] {
         if (self().logicalIndex == 1) notifyNextBlock();
         waitPreviousBlock();
     }},
    {"spin", vectorKernel("k"),
     [] {
         for (;;) yieldCore();
     }},
    {"endless", vectorKernel("k"),
     [] {
         for (volatile bool on = true; on;) continue;
     }},
    {"raw", vectorKernel("k"),
     [] {
         copyIn(64);
         compute(64);
     }},
    {"raw_flag", vectorKernel("k"),
     [] {
         copyIn(64);
         setFlag(5, PIPE_MTE2, 0, "MTE2_V");
         waitFlag(5, PIPE_V, 0, "MTE2_V");
         compute(64);
     }},
    {"raw_queue", vectorKernel("k"),
     [] {
         copyIn(64);
         const PipeClock handed = recordPipe(PIPE_MTE2);
         joinPipe(PIPE_V, handed);
         compute(64);
     }},
    {"raw_barrier", vectorKernel("k"),
     [] {
         copyIn(64);
         joinAllPipes();
         compute(64);
     }},
    {"raw_scalar", vectorKernel("k"),
     [] {
         copyIn(64);
         touch(Memory::UB, PIPE_S, ub(), 4, false, "GetValue");
         touch(Memory::UB, PIPE_S, ub() + 32, 4, true, "SetValue");
     }},
    {"war", vectorKernel("k"),
     [] {
         copyIn(64);
         joinAllPipes();
         compute(64);
         copyIn(32);
     }},
    {"freed", vectorKernel("k"), [] { checkGlobal(g_freed, 4, "DataCopy", "src"); }},
    {"reused", vectorKernel("k"), [] { checkGlobal(g_reused + 1536, 4, "DataCopy", "src"); }},
    {"stranger", vectorKernel("k"), [] { checkGlobal(ub(), 4, "DataCopy", "src"); }},
};

}  // namespace

int main(int count, char **names) {
    aclrtStream stream = newStream();
    g_freed = newBuffer(8);
    EXPECT(aclrtFree(g_freed) == ACL_SUCCESS);
    skrules_host_register_memory(g_reused, sizeof(g_reused));
    skrules_host_unregister_memory(g_reused);
    skrules_host_register_memory(g_reused + 1024, 512);
    for (int i = 1; i < count; ++i) {
        for (const Case &entry : kCases) {
            if (std::string(entry.name) != names[i]) continue;
            launch({4, nullptr, stream}, entry.kernel, entry.body);
            const aclError code = aclrtSynchronizeStream(stream);
            std::printf("%s: %s\n", entry.name, code == ACL_SUCCESS ? "fine" : aclGetRecentErrMsg());
        }
    }
    return 0;
}
