// What the device API headers may ask of the emulated core they run on. Declarations only: the runtime library
// (toolchains/host/runtime) implements them once for all kernels and archs, so that a kernel compiles quickly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "skrules_host/arch_table.h"  // generated from ascend.yaml: struct ArchSpec, kArchSpecs[], kArchSpec of __NPU_ARCH__

enum pipe_t : uint8_t {
    PIPE_S = 0,
    PIPE_V,
    PIPE_M,
    PIPE_MTE1,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_ALL,
    PIPE_MTE4,
    PIPE_MTE5,
    PIPE_V2,
    PIPE_FIX = 10
};
enum event_t : uint8_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace skhost {

enum class Memory : uint8_t { GM, UB, L1, L0A, L0B, L0C, BT, FB };
constexpr int kMemories = 8;
enum class CoreKind : uint8_t { AIC, AIV };

// One emulated core. Kernels run as fibers on it. The vector state below survives from one sub-kernel of a super
// kernel to the next, as it does on the device; the runtime resets it at every launch.
struct Core {
    CoreKind kind;
    int arch;                      // 2201, 3510, ...
    int blockIndex;                // block of the launch this core belongs to
    int subIndex;                  // 0 or 1 among the AIV cores of a block
    int blockCount;                // blocks of the launch: what GetBlockNum() returns, inside a super kernel too
    int ratio;                     // AIV cores per AIC core of this launch (1 for vector-only and cube-only launches)
    int64_t logicalIndex;          // GetBlockIdx()
    uint8_t *memory[kMemories];    // base addresses; nullptr where this core has no such memory
    uint32_t capacity[kMemories];  // bytes
    // Vector unit registers, owned by the device API headers.
    uint64_t mask[2];
    bool counterMode;
    uint64_t compareMask[2];
    float accumulator;
    int atomicOp;  // 0 none, 1 add, 2 max, 3 min
    uint64_t padValue;
    void *pipe;         // the AscendC::TPipe that lives on this core, or nullptr
    Core *siblings[3];  // the cores of this block: AIC, first AIV, second AIV; nullptr where the launch has none
};

// The running core; nullptr on the host. One a thread: while one thread runs a launch the others stay on the host. The
// TLS model is spelled out because a kernel asks for its core at every instruction.
extern __thread Core *g_core __attribute__((tls_model("initial-exec")));
inline Core &self() { return *g_core; }
const char *memoryName(Memory memory);

// Misuse. `fail` ends the whole launch with kernel, block and core in front of the message; `warn` prints it once per
// place (and fails under SKRULES_HOST_STRICT=1).
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Fails unless [address, address + bytes) lies in one device allocation.
void checkGlobal(const void *address, size_t bytes, const char *operation, const char *operand);

// Race tracking (SKRULES_HOST_RACE=1): which pipe touched which 32 bytes of on-chip memory, and what it waited for.
extern bool g_raceTracking;
void raceTouch(Memory memory, pipe_t pipe, const void *address, size_t bytes, bool write, const char *operation);
void raceIssue(pipe_t pipe);
inline void touch(Memory memory, pipe_t pipe, const void *address, size_t bytes, bool write, const char *operation) {
    if (g_raceTracking) raceTouch(memory, pipe, address, bytes, write, operation);
}
inline void issue(pipe_t pipe) {
    if (g_raceTracking) raceIssue(pipe);
}
// A queue hands a buffer from one pipe to another: `record` what `pipe` has done so far, `join` it into another pipe.
struct PipeClock {
    uint32_t at[8];
};
PipeClock recordPipe(pipe_t pipe);
void joinPipe(pipe_t pipe, const PipeClock &clock);
void joinAllPipes();  // PipeBarrier<PIPE_ALL>

// Flags inside a core. `name` is e.g. "MTE2_V", `event` the number of the HardEvent (0..39), `id` 0..7.
void setFlag(int event, pipe_t from, int id, const char *name);
void waitFlag(int event, pipe_t to, int id, const char *name);
// Event ids handed out by TPipe, per HardEvent.
int allocateEvent(int event, const char *name);
int fetchEvent(int event);
void releaseEvent(int event, int id);

// Flags and barriers between cores; they switch to other cores until the condition holds, or report a deadlock.
void crossSet(int mode, int id);
void crossWait(int id);
enum class Party : uint8_t { SAME_KIND, ALL };
void syncAll(Party party, int parties, const char *name);  // parties 0: all cores of that kind in the launch
void blockSet(int block, int event);                       // IBSet / IBWait
void blockWait(int block, int event);
void waitPreviousBlock();  // WaitPreBlock / NotifyNextBlock
void notifyNextBlock();
void yieldCore();  // a place where a spinning core lets others run (dcci)

}  // namespace skhost

#define block_idx ((int64_t)::skhost::self().blockIndex)
#define block_num ((int64_t)::skhost::self().blockCount)
