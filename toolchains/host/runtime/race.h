// Race tracking by vector clocks. Instructions run at once and in program order, so a missing SetFlag/WaitFlag would
// not show; the clocks say what the pipes of a device had been allowed to assume.
#pragma once

#include <vector>

#include "skrules_host/core.h"

namespace skhost {

constexpr int kPipes = 7;    // S V M MTE1 MTE2 MTE3 FIX
int pipeIndex(pipe_t pipe);  // -1: not a pipe of its own
const char *pipeName(int index);

// 32 bytes of on-chip memory: who wrote them last and who has read them since.
struct Cell {
    uint32_t written = 0;
    int8_t writer = -1;
    uint32_t read[kPipes] = {};
};

struct RaceState {
    PipeClock clocks[kPipes];
    std::vector<Cell> cells[kMemories];
    void reset();
};

}  // namespace skhost
