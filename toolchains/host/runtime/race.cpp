#include "race.h"

#include <algorithm>

#include "cores.h"
#include "scheduler.h"

namespace skhost {

bool g_raceTracking = false;

int pipeIndex(pipe_t pipe) {
    switch (pipe) {
        case PIPE_S:
            return 0;
        case PIPE_V:
        case PIPE_V2:
            return 1;
        case PIPE_M:
            return 2;
        case PIPE_MTE1:
            return 3;
        case PIPE_MTE2:
            return 4;
        case PIPE_MTE3:
            return 5;
        case PIPE_FIX:
            return 6;
        default:
            return -1;
    }
}

const char *pipeName(int index) {
    static const char *const names[kPipes] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
    return index < 0 ? "?" : names[index];
}

void RaceState::reset() {
    for (PipeClock &clock : clocks) clock = {};
    for (auto &memory : cells) memory.clear();
}

namespace {

void advance(PipeClock &clock, const PipeClock &other) {
    for (int i = 0; i < kPipes; ++i) clock.at[i] = std::max(clock.at[i], other.at[i]);
}

// The compiler orders scalar accesses after and before everything that touches the same bytes: they never race, and what
// comes after them in program order may rely on it.
void touchScalar(RaceState &state, Cell &cell, bool write) {
    uint32_t *scalar = state.clocks[0].at;
    if (cell.writer >= 0) scalar[cell.writer] = std::max(scalar[cell.writer], cell.written);
    if (!write) return;
    for (int i = 0; i < kPipes; ++i) scalar[i] = std::max(scalar[i], cell.read[i]);
    cell = Cell();
}

void touchCell(RaceState &state, Cell &cell, int pipe, bool write, const char *operation, Memory memory, size_t offset) {
    const uint32_t *seen = state.clocks[pipe].at;
    if (cell.writer >= 0 && cell.writer != pipe && cell.written > seen[cell.writer]) {
        fail("RACE %s: pipe %s %s %s+%zu, last written by pipe %s with no SetFlag/WaitFlag<%s_%s> (or queue/barrier) between",
             operation, pipeName(pipe), write ? "writes" : "reads", memoryName(memory), offset, pipeName(cell.writer),
             pipeName(cell.writer), pipeName(pipe));
    }
    if (!write) {
        cell.read[pipe] = seen[pipe];
        return;
    }
    for (int reader = 0; reader < kPipes; ++reader) {
        if (reader != pipe && cell.read[reader] > seen[reader]) {
            fail("RACE %s: pipe %s overwrites %s+%zu that pipe %s may still read: no SetFlag/WaitFlag<%s_%s> between", operation,
                 pipeName(pipe), memoryName(memory), offset, pipeName(reader), pipeName(reader), pipeName(pipe));
        }
    }
    cell = Cell();
    cell.writer = static_cast<int8_t>(pipe);
    cell.written = seen[pipe];
}

}  // namespace

void raceTouch(Memory memory, pipe_t pipe, const void *address, size_t bytes, bool write, const char *operation) {
    EmulatedCore *core = runningCore();
    const int index = pipeIndex(pipe);
    const int place = static_cast<int>(memory);
    if (core == nullptr || index < 0 || bytes == 0 || memory == Memory::GM || core->memory[place] == nullptr) return;
    const auto at = static_cast<size_t>(static_cast<const uint8_t *>(address) - core->memory[place]);
    if (at + bytes > core->capacity[place]) return;  // another core's memory, or an overrun that others report
    auto &cells = core->race.cells[place];
    if (cells.empty()) cells.resize(core->capacity[place] / 32 + 1);
    for (size_t i = at / 32; i <= (at + bytes - 1) / 32; ++i) {
        if (index == 0) {
            touchScalar(core->race, cells[i], write);
        } else {
            touchCell(core->race, cells[i], index, write, operation, memory, i * 32);
        }
    }
}

void raceIssue(pipe_t pipe) {
    EmulatedCore *core = runningCore();
    const int index = pipeIndex(pipe);
    if (core != nullptr && index >= 0) ++core->race.clocks[index].at[index];
}

PipeClock recordPipe(pipe_t pipe) {
    EmulatedCore *core = runningCore();
    const int index = pipeIndex(pipe);
    return core == nullptr || index < 0 ? PipeClock{} : core->race.clocks[index];
}

void joinPipe(pipe_t pipe, const PipeClock &clock) {
    EmulatedCore *core = runningCore();
    const int index = pipeIndex(pipe);
    if (core != nullptr && index >= 0) advance(core->race.clocks[index], clock);
}

void joinAllPipes() {
    EmulatedCore *core = runningCore();
    if (core == nullptr || !g_raceTracking) return;
    PipeClock latest = {};
    for (const PipeClock &clock : core->race.clocks) advance(latest, clock);
    for (PipeClock &clock : core->race.clocks) clock = latest;
}

}  // namespace skhost
