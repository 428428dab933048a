// TPipe and the state machine of the queues: FREE -> ALLOCATED -> ENQUEUED -> DEQUEUED -> FREE.
#include <exception>

#include "skrules_host/api/pipe.h"

namespace skhost {
namespace {

const char *stateName(BufferState state) {
    switch (state) {
        case BufferState::FREE:
            return "free";
        case BufferState::ALLOCATED:
            return "allocated";
        case BufferState::ENQUEUED:
            return "already enqueued";
        default:
            return "dequeued";
    }
}

PipeClock latest(const PipeClock &a, const PipeClock &b) {
    PipeClock result = a;
    for (int i = 0; i < 8; ++i)
        if (b.at[i] > result.at[i]) result.at[i] = b.at[i];
    return result;
}

}  // namespace

bool unwinding() { return std::uncaught_exceptions() > 0; }

const char *positionName(AscendC::TPosition position) {
    static const char *const names[] = {"GM",  "A1",    "A2",     "B1",      "B2",  "C1",   "C2",        "CO1",
                                        "CO2", "VECIN", "VECOUT", "VECCALC", "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
    return names[static_cast<int>(position)];
}

void checkBuffers(uint32_t count, uint32_t bytes, const char *api) {
    if (!count || !bytes) fail("%s: %u buffers of %u bytes", api, count, bytes);
}

void Queue::failQueue(const char *api, const char *what) const { fail("TQue<%s,%d>::%s%s", position, depth, api, what); }

Queue::~Queue() noexcept(false) {
    int held = 0;
    for (uint32_t i = 0; i < count; ++i)
        held += buffers[i].state == BufferState::ALLOCATED || buffers[i].state == BufferState::ENQUEUED;
    delete[] buffers;
    if (held && !unwinding())
        warn("TQue<%s,%d>: destroyed with %d buffer(s) allocated or enqueued (missing FreeTensor or DeQue)", position, depth,
             held);
}

void Queue::initialise(Memory memory, uint32_t offset, uint32_t number, uint32_t bytes) {
    delete[] buffers;
    buffers = new Buffer[number];
    count = number;
    cursor = 0;
    queued = 0;
    first = last = nullptr;
    for (uint32_t i = 0; i < number; ++i) {
        const uint32_t at = offset + i * bytes;
        buffers[i] = {this, nullptr, {memory, true, at, at + bytes}, BufferState::FREE, {}};
    }
}

Buffer &Queue::allocate() {
    if (!count) failQueue("AllocTensor", " before TPipe::InitBuffer");
    for (uint32_t i = 0; i < count; ++i) {
        Buffer &buffer = buffers[(cursor + i) % count];
        if (buffer.state != BufferState::FREE) continue;
        cursor = (cursor + i + 1) % count;
        buffer.state = BufferState::ALLOCATED;
        if (g_raceTracking) joinPipe(producer, buffer.clock);
        return buffer;
    }
    fail(
        "TQue<%s,%d>::AllocTensor: all %u buffer(s) are in use (Alloc without FreeTensor, or InitBuffer num too small): hangs on "
        "hardware",
        position, depth, count);
}

Buffer &Queue::own(Buffer *buffer, const char *api) const {
    if (!buffer || buffer->owner != this) failQueue(api, ": the tensor was not allocated from this queue");
    return *buffer;
}

void Queue::enqueue(Buffer *tensor) {
    Buffer &buffer = own(tensor, "EnQue");
    if (buffer.state == BufferState::FREE || buffer.state == BufferState::ENQUEUED)
        fail("TQue<%s,%d>::EnQue: the tensor is %s, not allocated", position, depth, stateName(buffer.state));
    if (queued >= limit())
        fail("TQue<%s,%d>::EnQue: queue depth %d exceeded (%d tensor(s) enqueued and not dequeued)", position, depth, limit(),
             queued);
    buffer.state = BufferState::ENQUEUED;
    buffer.next = nullptr;
    if (g_raceTracking) buffer.clock = recordPipe(producer);
    (last ? last->next : first) = &buffer;
    last = &buffer;
    ++queued;
}

Buffer &Queue::dequeue() {
    if (!first) failQueue("DeQue", " on an empty queue (no EnQue before it): hangs on hardware");
    Buffer &buffer = *first;
    first = buffer.next;
    if (!first) last = nullptr;
    --queued;
    buffer.state = BufferState::DEQUEUED;
    if (g_raceTracking) joinPipe(consumer, buffer.clock);
    return buffer;
}

void Queue::release(Buffer *tensor) {
    Buffer &buffer = own(tensor, "FreeTensor");
    if (buffer.state == BufferState::FREE) failQueue("FreeTensor", ": the tensor is freed twice");
    if (buffer.state == BufferState::ENQUEUED) failQueue("FreeTensor", ": the tensor is still enqueued");
    buffer.state = BufferState::FREE;
    if (g_raceTracking) buffer.clock = latest(recordPipe(consumer), recordPipe(producer));
}

bool Queue::idle() const {
    for (uint32_t i = 0; i < count; ++i)
        if (buffers[i].state == BufferState::FREE) return true;
    return false;
}

uint32_t takeRegion(Region &region, Memory memory, uint64_t bytes, const char *api) {
    if (region.used + bytes > region.capacity)
        fail("%s: %u bytes in use + %llu requested > %u (the pool, in %s)", api, region.used,
             static_cast<unsigned long long>(bytes), region.capacity, memoryName(memory));
    const uint32_t at = region.start + region.used;
    region.used += static_cast<uint32_t>(bytes);
    return at;
}

bool shareRegion(Region &region, uint32_t bytes, const Region &shared) {
    if (bytes > shared.capacity) fail("InitBufPool: %u bytes requested from a shared pool of %u bytes", bytes, shared.capacity);
    region = {shared.start, 0, bytes};
    return true;
}

void Pipe::open(void *pipe) {
    Core &core = self();
    if (core.pipe != pipe) {
        previous = core.pipe;
        core.pipe = pipe;
    }
    opened = true;
    for (Region &region : regions) region = {};
}

void Pipe::close(void *pipe, bool barrier) {
    if (!opened) return;
    opened = false;
    if (!g_core) return;  // destroyed after its launch is over
    if (self().pipe == pipe) self().pipe = previous;
    releaseEvents();
    if (barrier) joinAllPipes();
}

void Pipe::reset() {
    for (Region &region : regions) region = {};
    releaseEvents();
    joinAllPipes();
}

uint32_t Pipe::take(Memory memory, uint64_t bytes, const char *api) {
    Core &core = self();
    const int m = static_cast<int>(memory);
    if (!opened) fail("%s after TPipe::Destroy", api);
    if (!core.memory[m]) fail("%s: an %s core has no %s", api, core.kind == CoreKind::AIC ? "AIC" : "AIV", memoryName(memory));
    if (regions[m].used + bytes > core.capacity[m]) failCapacity(memory, regions[m].used, bytes, api);
    const uint32_t at = regions[m].used;
    regions[m].used += static_cast<uint32_t>(bytes);
    return at;
}

int Pipe::allocateEventId(AscendC::HardEvent event) {
    const int index = static_cast<int>(event);
    const int id = allocateEvent(index, kEvents[index].name);
    events[index] = static_cast<uint8_t>(events[index] | 1u << id);
    return id;
}

void Pipe::releaseEventId(AscendC::HardEvent event, int id) {
    const int index = static_cast<int>(event);
    if (id < 0 || id > 7 || !(events[index] >> id & 1))
        fail("TPipe::ReleaseEventID<%s>: id %d was not allocated", kEvents[index].name, id);
    events[index] = static_cast<uint8_t>(events[index] & ~(1u << id));
    releaseEvent(index, id);
}

int Pipe::fetchEventId(AscendC::HardEvent event) { return fetchEvent(static_cast<int>(event)); }

void Pipe::releaseEvents() {
    for (int event = 0; event < 40; ++event) {
        for (int id = 0; id < 8; ++id)
            if (events[event] >> id & 1) releaseEvent(event, id);
        events[event] = 0;
    }
}

void *currentPipe(const char *api) {
    if (!self().pipe) fail("%s: no TPipe lives on this core", api);
    return self().pipe;
}

}  // namespace skhost
