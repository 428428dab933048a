// Synchronisation inside a core and between cores.
#pragma once

#include "skrules_host/api/tensor.h"

namespace AscendC {

inline void InitSocState() {
    skhost::Core &core = skhost::self();
    core.mask[0] = core.mask[1] = ~0ull;
    core.counterMode = false;
    core.atomicOp = 0;
}

template <pipe_t pipe> inline void PipeBarrier() {
    if constexpr (pipe == PIPE_ALL) skhost::joinAllPipes();  // the instructions of one pipe are in order anyway
}
template <HardEvent event> inline void SetFlag(int32_t id) {
    constexpr skhost::EventInfo info = skhost::kEvents[static_cast<int>(event)];
    skhost::setFlag(static_cast<int>(event), info.from, id, info.name);
}
template <HardEvent event> inline void WaitFlag(int32_t id) {
    constexpr skhost::EventInfo info = skhost::kEvents[static_cast<int>(event)];
    skhost::waitFlag(static_cast<int>(event), info.to, id, info.name);
}

template <uint8_t mode, pipe_t pipe> inline void CrossCoreSetFlag(uint16_t id) { skhost::crossSet(mode, id); }
template <uint8_t mode = 0, pipe_t pipe = PIPE_S> inline void CrossCoreWaitFlag(uint16_t id) { skhost::crossWait(id); }

template <bool vectorOnly = true> inline void SyncAll() {
    skhost::syncAll(vectorOnly ? skhost::Party::SAME_KIND : skhost::Party::ALL, 0, "SyncAll");
}
// The form through a GM workspace; `cores` 0 means all cores of this kind.
template <bool vectorOnly = true>
inline void SyncAll(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, const int32_t cores = 0) {
    skhost::syncAll(vectorOnly ? skhost::Party::SAME_KIND : skhost::Party::ALL, cores, "SyncAll(workspace)");
}
template <bool vectorOnly = true>
inline void IBSet(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t block, int32_t event) {
    skhost::blockSet(block, event);
}
template <bool vectorOnly = true>
inline void IBWait(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t block, int32_t event) {
    skhost::blockWait(block, event);
}
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &, LocalTensor<int32_t> &) {}
inline void WaitPreBlock(GlobalTensor<int32_t> &, LocalTensor<int32_t> &) { skhost::waitPreviousBlock(); }
inline void NotifyNextBlock(GlobalTensor<int32_t> &, LocalTensor<int32_t> &) { skhost::notifyNextBlock(); }

// Early start in a super kernel. The emulation never starts a task before the last one is over, which both allow.
template <bool = false> inline void WaitPreTaskEnd() {}
template <bool = false> inline void SetNextTaskStart() {}

// The emulated cores have no data cache, so a dcci moves no data. It is where a core that spins on GM lets others run.
template <class T, CacheLine line, DcciDst to = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &) {
    skhost::yieldCore();
}
template <class T, CacheLine line> inline void DataCacheCleanAndInvalid(const LocalTensor<T> &) { skhost::yieldCore(); }
template <class T> inline void DataCachePreload(const GlobalTensor<uint64_t> &, const T) {}
template <MemDsbT what> inline void DataSyncBarrier() {}

}  // namespace AscendC

// The C spelling of the same instructions, for pipes that may be known at run time only.
namespace skhost {
inline int eventBetween(pipe_t from, pipe_t to, const char *api) {
    for (size_t event = 0; event < sizeof(kEvents) / sizeof(kEvents[0]); ++event)
        if (kEvents[event].from == from && kEvents[event].to == to) return static_cast<int>(event);
    fail("%s: there is no event from pipe %d to pipe %d", api, from, to);
}
inline void set_flag(pipe_t from, pipe_t to, int32_t id) {
    const int event = eventBetween(from, to, "set_flag");
    setFlag(event, from, id, kEvents[event].name);
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id) {
    const int event = eventBetween(from, to, "wait_flag");
    waitFlag(event, to, id, kEvents[event].name);
}
inline void pipe_barrier(pipe_t pipe) {
    if (pipe == PIPE_ALL) joinAllPipes();
}
// dcci(address, line[, destination])
template <class... Arguments> inline void dcci(const Arguments &...) { yieldCore(); }
}  // namespace skhost
using skhost::dcci;
using skhost::pipe_barrier;
using skhost::set_flag;
using skhost::wait_flag;
