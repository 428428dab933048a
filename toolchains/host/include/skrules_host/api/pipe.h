// TPipe, TQue, TQueBind, TBuf and TBufPool: who owns which piece of on-chip memory. The state machine of the queues is in
// runtime/api_queue.cpp.
#pragma once

#include "skrules_host/api/tensor.h"

namespace AscendC {
class TPipe;
}

namespace skhost {

enum class BufferState : uint8_t { FREE, ALLOCATED, ENQUEUED, DEQUEUED };

class Queue;
struct Buffer {
    Queue *owner;
    Buffer *next;  // in the order of EnQue
    LocalView view;
    BufferState state;
    PipeClock clock;
};

// What is the same for every queue. `producer` and `consumer` are the pipes that fill and drain its buffers.
class Queue {
  public:
    Queue(const char *position, int depth, pipe_t producer, pipe_t consumer)
        : position(position), depth(depth), producer(producer), consumer(consumer) {}
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;
    ~Queue() noexcept(false);

    void initialise(Memory memory, uint32_t offset, uint32_t count, uint32_t bytes);
    Buffer &allocate();
    void enqueue(Buffer *buffer);
    Buffer &dequeue();
    void release(Buffer *buffer);
    bool idle() const;
    int waiting() const { return queued; }
    bool vacant() const { return queued < limit(); }

  private:
    int limit() const { return depth > 0 ? depth : 1; }
    Buffer &own(Buffer *buffer, const char *api) const;
    [[noreturn]] void failQueue(const char *api, const char *what) const;

    const char *position;
    int depth;
    pipe_t producer, consumer;
    Buffer *buffers = nullptr;
    uint32_t count = 0, cursor = 0;
    int queued = 0;
    Buffer *first = nullptr, *last = nullptr;
};

// Memory handed out in order of address, by a TPipe or a TBufPool.
struct Region {
    uint32_t start = 0, used = 0, capacity = 0;
};
uint32_t takeRegion(Region &region, Memory memory, uint64_t bytes, const char *api);
bool shareRegion(Region &region, uint32_t bytes, const Region &shared);  // the same bytes under another pool

// What is the same for every TPipe, with the pipe of the core that was there before.
class Pipe {
  public:
    void open(void *pipe);
    void close(void *pipe, bool barrier);
    void reset();
    bool isOpen() const { return opened; }
    uint32_t take(Memory memory, uint64_t bytes, const char *api);
    int allocateEventId(AscendC::HardEvent event);
    void releaseEventId(AscendC::HardEvent event, int id);
    int fetchEventId(AscendC::HardEvent event);

  private:
    void releaseEvents();
    Region regions[kMemories];
    uint8_t events[40] = {};
    void *previous = nullptr;
    bool opened = false;
};
bool unwinding();
void *currentPipe(const char *api);

constexpr uint32_t alignBlock(uint32_t bytes) { return (bytes + 31) / 32 * 32; }
void checkBuffers(uint32_t count, uint32_t bytes, const char *api);

constexpr bool fillsFromGlobal(AscendC::TPosition position) {
    return memoryOf(position) == Memory::L1 || position == AscendC::TPosition::VECIN || position == AscendC::TPosition::GM;
}
constexpr pipe_t producerOf(AscendC::TPosition position) {
    switch (memoryOf(position)) {
        case Memory::L0A:
        case Memory::L0B:
        case Memory::BT:
        case Memory::FB:
            return PIPE_MTE1;
        case Memory::L0C:
            return PIPE_M;
        default:
            return fillsFromGlobal(position) ? PIPE_MTE2 : PIPE_V;
    }
}
constexpr pipe_t consumerOf(AscendC::TPosition position) {
    switch (memoryOf(position)) {
        case Memory::L1:
            return PIPE_MTE1;
        case Memory::L0A:
        case Memory::L0B:
        case Memory::BT:
            return PIPE_M;
        case Memory::L0C:
        case Memory::FB:
            return PIPE_FIX;
        default:
            break;
    }
    return position == AscendC::TPosition::VECOUT || position == AscendC::TPosition::CO2 || position == AscendC::TPosition::GM
               ? PIPE_MTE3
               : PIPE_V;
}
const char *positionName(AscendC::TPosition position);

}  // namespace skhost

namespace AscendC {

template <TPosition source, TPosition destination, int32_t depth, auto mask = 0> class TQueBind {
  public:
    static constexpr TPosition kPosition = source == TPosition::GM ? destination : source;

    TQueBind() : queue(skhost::positionName(kPosition), depth, skhost::producerOf(source), skhost::consumerOf(destination)) {}

    template <class T> LocalTensor<T> AllocTensor() { return tensor<T>(queue.allocate()); }
    template <class T> void AllocTensor(LocalTensor<T> &into) { into = AllocTensor<T>(); }
    template <class T> bool EnQue(const LocalTensor<T> &tensor) {
        queue.enqueue(tensor.buffer);
        return true;
    }
    template <TPosition, TPosition, class T> bool EnQue(const LocalTensor<T> &tensor) { return EnQue(tensor); }
    template <class T> LocalTensor<T> DeQue() { return tensor<T>(queue.dequeue()); }
    template <class T> void DeQue(LocalTensor<T> &into) { into = DeQue<T>(); }
    template <TPosition, TPosition, class T> LocalTensor<T> DeQue() { return DeQue<T>(); }
    template <class T> void FreeTensor(LocalTensor<T> &tensor) { queue.release(tensor.buffer); }
    bool VacantInQue() { return queue.vacant(); }
    bool HasTensorInQue() { return queue.waiting() > 0; }
    int32_t GetTensorCountInQue() { return queue.waiting(); }
    bool HasIdleBuffer() { return queue.idle(); }
    void FreeAllEvent() {}

    // Not part of the public API.
    void initialise(uint32_t offset, uint32_t count, uint32_t bytes) {
        queue.initialise(skhost::memoryOf(kPosition), offset, count, bytes);
    }

  private:
    template <class T> LocalTensor<T> tensor(skhost::Buffer &buffer) {
        LocalTensor<T> result;
        result.view = buffer.view;
        result.bytes = buffer.view.end - buffer.view.offset;
        result.position = kPosition;
        result.buffer = &buffer;
        return result;
    }
    skhost::Queue queue;
};

template <TPosition position, int32_t depth, auto mask = 0> class TQue : public TQueBind<position, position, depth, mask> {};

template <TPosition position = TPosition::LCM> class TBuf {
  public:
    static constexpr TPosition kPosition = position;

    template <class T> LocalTensor<T> Get() { return cut<T>(0, length); }
    template <class T> LocalTensor<T> Get(uint32_t elements) { return GetWithOffset<T>(elements, 0); }
    template <class T> LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t byteOffset) {
        return cut<T>(byteOffset, skhost::bytesOf<T>(elements));
    }
    template <class T> LocalTensor<T> AllocTensor() { return Get<T>(); }
    template <class T> void FreeTensor(LocalTensor<T> &) {}
    template <class T> void EnQue(const LocalTensor<T> &) {}
    template <class T> LocalTensor<T> DeQue() { return Get<T>(); }
    uint32_t GetBufLen() const { return length; }

    // Not part of the public API.
    void initialise(uint32_t at, uint32_t bytes) {
        offset = at;
        length = bytes;
    }

  private:
    template <class T> LocalTensor<T> cut(uint64_t from, uint64_t bytes) {
        if (!length) skhost::fail("TBuf<%s>::Get before TPipe::InitBuffer", skhost::positionName(position));
        if (from + bytes > length)
            skhost::fail("TBuf<%s>::Get: %llu bytes at offset %llu exceed its buffer of %u bytes", skhost::positionName(position),
                         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(from), length);
        LocalTensor<T> result;
        result.view = skhost::viewAt(position, offset + from, bytes);
        result.view.end = offset + length;
        result.bytes = static_cast<uint32_t>(bytes);
        result.position = position;
        return result;
    }
    uint32_t offset = 0, length = 0;
};

template <TPosition position, uint32_t bufferIds = 4> class TBufPool {
  public:
    template <TPosition source, TPosition destination, int32_t depth, auto mask>
    bool InitBuffer(TQueBind<source, destination, depth, mask> &queue, uint8_t count, uint32_t bytes) {
        bytes = skhost::alignBlock(bytes);
        skhost::checkBuffers(count, bytes, "TBufPool::InitBuffer");
        queue.initialise(take(uint64_t{count} * bytes, "TBufPool::InitBuffer"), count, bytes);
        return true;
    }
    template <TPosition other> bool InitBuffer(TBuf<other> &buffer, uint32_t bytes) {
        bytes = skhost::alignBlock(bytes);
        skhost::checkBuffers(1, bytes, "TBufPool::InitBuffer");
        buffer.initialise(take(bytes, "TBufPool::InitBuffer"), bytes);
        return true;
    }
    template <class Pool> bool InitBufPool(Pool &pool, uint32_t bytes) {
        pool.region = {take(bytes, "TBufPool::InitBufPool"), 0, bytes};
        return true;
    }
    template <class Pool, class Shared> bool InitBufPool(Pool &pool, uint32_t bytes, Shared &shared) {
        return skhost::shareRegion(pool.region, bytes, shared.region);
    }
    void Reset() {
        region.used = 0;
        skhost::joinAllPipes();
    }

    // Not part of the public API.
    skhost::Region region;

  private:
    uint32_t take(uint64_t bytes, const char *api) { return skhost::takeRegion(region, skhost::memoryOf(position), bytes, api); }
};

class TPipe {
  public:
    TPipe() { Init(); }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;
    // The end of a pipe is a barrier. An exception that already unwinds this core must not meet another one.
    ~TPipe() noexcept(false) { state.close(this, !skhost::unwinding()); }

    void Init() { state.open(this); }
    void Destroy() { state.close(this, true); }
    void DestroyWithoutPipeAll() { state.close(this, false); }
    void Reset() { state.reset(); }

    template <TPosition source, TPosition destination, int32_t depth, auto mask>
    bool InitBuffer(TQueBind<source, destination, depth, mask> &queue, uint8_t count, uint32_t bytes) {
        bytes = skhost::alignBlock(bytes);
        skhost::checkBuffers(count, bytes, "TPipe::InitBuffer");
        constexpr skhost::Memory memory = skhost::memoryOf(TQueBind<source, destination, depth, mask>::kPosition);
        queue.initialise(state.take(memory, uint64_t{count} * bytes, "TPipe::InitBuffer"), count, bytes);
        return true;
    }
    template <TPosition position> bool InitBuffer(TBuf<position> &buffer, uint32_t bytes) {
        bytes = skhost::alignBlock(bytes);
        skhost::checkBuffers(1, bytes, "TPipe::InitBuffer");
        buffer.initialise(state.take(skhost::memoryOf(position), bytes, "TPipe::InitBuffer"), bytes);
        return true;
    }
    template <TPosition position, uint32_t ids> bool InitBufPool(TBufPool<position, ids> &pool, uint32_t bytes) {
        pool.region = {state.take(skhost::memoryOf(position), bytes, "TPipe::InitBufPool"), 0, bytes};
        return true;
    }
    template <TPosition position, uint32_t ids, class Shared>
    bool InitBufPool(TBufPool<position, ids> &pool, uint32_t bytes, Shared &shared) {
        return skhost::shareRegion(pool.region, bytes, shared.region);
    }

    template <HardEvent event> TEventID AllocEventID() { return static_cast<TEventID>(state.allocateEventId(event)); }
    template <HardEvent event> void ReleaseEventID(TEventID id) { state.releaseEventId(event, id); }
    template <HardEvent event> TEventID FetchEventID() { return FetchEventID(event); }
    TEventID FetchEventID(HardEvent event) { return static_cast<TEventID>(state.fetchEventId(event)); }
    template <TPosition position, class T> LocalTensor<T> GetAbsAddr(int32_t offset, int32_t elements) const {
        return LocalTensor<T>(position, static_cast<uint32_t>(offset), static_cast<uint32_t>(elements));
    }

  private:
    skhost::Pipe state;
};

}  // namespace AscendC

// The pipe that lives on the running core.
inline AscendC::TPipe *GetTPipePtr() { return static_cast<AscendC::TPipe *>(skhost::currentPipe("GetTPipePtr")); }
namespace AscendC {
using ::GetTPipePtr;
}
