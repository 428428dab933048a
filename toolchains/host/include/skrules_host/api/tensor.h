// LocalTensor, GlobalTensor and LocalMemAllocator.
#pragma once

#include "skrules_host/api/engine.h"

namespace skhost {

struct Buffer;  // of a queue, see pipe.h

// On-chip memory of this core seen by the scalar unit.
uint8_t *reachScalar(const LocalView &view, uint64_t from, uint32_t bytes, bool write, const char *api);
// The address of an on-chip byte, without any check; 0 where the core has no such memory.
uint64_t addressOf(const LocalView &view);
LocalView viewAt(AscendC::TPosition position, uint64_t address, uint64_t bytes);
// Fails: an allocator or a reader ran out of its memory.
[[noreturn]] void failCapacity(Memory memory, uint64_t used, uint64_t requested, const char *api);
uint32_t capacityOf(Memory memory);

}  // namespace skhost

namespace AscendC {

template <class T> class LocalTensor {
  public:
    using PrimType = T;

    LocalTensor() = default;
    // A tensor at a fixed address (static tensor programming). `address` and `elements` are checked when it is used.
    LocalTensor(TPosition position, uint32_t address, uint32_t elements)
        : view(skhost::viewAt(position, address, skhost::bytesOf<T>(elements))),
          bytes(view.end - view.offset),
          position(position) {}
    explicit LocalTensor(uint32_t address) : view(skhost::viewAt(TPosition::VECCALC, address, 0)) {}

    uint64_t GetPhyAddr(uint32_t offset = 0) const { return skhost::addressOf((*this)[offset].view); }
    T GetValue(uint32_t index) const { return *at(index, false, "LocalTensor::GetValue"); }
    template <class S> void SetValue(uint32_t index, S value) const {
        *at(index, true, "LocalTensor::SetValue") = static_cast<T>(value);
    }
    T &operator()(uint32_t index) const { return *at(index, true, "LocalTensor::operator()"); }
    LocalTensor operator[](uint32_t elements) const {
        LocalTensor tail = *this;
        const uint64_t skipped = skhost::bytesOf<T>(elements);
        tail.view.offset += static_cast<uint32_t>(skipped);
        tail.bytes = bytes > skipped ? bytes - static_cast<uint32_t>(skipped) : 0;
        return tail;
    }
    template <class U> LocalTensor<U> ReinterpretCast() const {
        LocalTensor<U> other;
        other.view = view;
        other.bytes = bytes;
        other.position = position;
        other.buffer = buffer;
        other.tag = tag;
        return other;
    }
    template <class S> void SetAddrWithOffset(LocalTensor<S> &source, uint32_t elements) {
        *this = source[elements].template ReinterpretCast<T>();
    }
    uint32_t GetSize() const { return static_cast<uint32_t>(uint64_t{8} * bytes / skhost::bitsOf<T>()); }
    uint32_t GetLength() const { return bytes; }
    void SetSize(uint32_t elements) { bytes = static_cast<uint32_t>(skhost::bytesOf<T>(elements)); }
    void SetBufferLen(uint32_t length) { bytes = length; }
    int32_t GetPosition() const { return static_cast<int32_t>(position); }
    void SetUserTag(TTagType value) { tag = value; }
    TTagType GetUserTag() const { return tag; }

    // Not part of the public API.
    skhost::LocalView view;
    uint32_t bytes = 0;
    TPosition position = TPosition::VECCALC;
    skhost::Buffer *buffer = nullptr;
    TTagType tag = 0;

  private:
    T *at(uint32_t index, bool write, const char *api) const {
        static_assert(skhost::bitsOf<T>() >= 8, "int4b_t elements have no address of their own");
        return reinterpret_cast<T *>(skhost::reachScalar(view, skhost::bytesOf<T>(index), sizeof(T), write, api));
    }
};

template <class T> class GlobalTensor {
  public:
    using PrimType = T;

    void SetGlobalBuffer(T *buffer, uint64_t elements) {
        address = buffer;
        size = elements;
    }
    void SetGlobalBuffer(T *buffer) { SetGlobalBuffer(buffer, 0); }
    const T *GetPhyAddr() const { return address; }
    T *GetPhyAddr(uint64_t offset) const { return (*this)[offset].address; }
    T GetValue(uint64_t index) const { return *at(index, "GlobalTensor::GetValue"); }
    void SetValue(uint64_t index, T value) const { *at(index, "GlobalTensor::SetValue") = value; }
    T &operator()(uint64_t index) const { return *at(index, "GlobalTensor::operator()"); }
    GlobalTensor operator[](uint64_t elements) const {
        GlobalTensor tail = *this;
        tail.address = reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(address) + skhost::bytesOf<T>(elements));
        tail.size = size > elements ? size - elements : 0;
        return tail;
    }
    template <class U> GlobalTensor<U> ReinterpretCast() const {
        GlobalTensor<U> other;
        other.SetGlobalBuffer(reinterpret_cast<U *>(address), size * skhost::bitsOf<T>() / skhost::bitsOf<U>());
        return other;
    }
    uint64_t GetSize() const { return size; }
    template <CacheRwMode mode = CacheRwMode::RW> void SetL2CacheHint(CacheMode) {}  // a hint changes no result

    // Not part of the public API.
    T *address = nullptr;
    uint64_t size = 0;  // elements, as told to SetGlobalBuffer

  private:
    T *at(uint64_t index, const char *api) const {
        T *element = (*this)[index].address;
        skhost::checkGlobal(element, sizeof(T), api, "element");
        return element;
    }
};

template <Hardware hardware = Hardware::UB> class LocalMemAllocator {
  public:
    uint32_t GetCurAddr() const { return head; }
    template <TPosition position, class T, uint32_t elements> LocalTensor<T> Alloc() { return take<T>(position, elements); }
    template <TPosition position, class T> LocalTensor<T> Alloc(uint32_t elements) { return take<T>(position, elements); }
    template <class T, uint32_t elements> LocalTensor<T> Alloc() { return take<T>(skhost::positionOf(hardware), elements); }
    template <class T> LocalTensor<T> Alloc(uint32_t elements) { return take<T>(skhost::positionOf(hardware), elements); }

  private:
    template <class T> LocalTensor<T> take(TPosition position, uint32_t elements) {
        const uint64_t bytes = skhost::bytesOf<T>(elements);
        const skhost::Memory memory = skhost::memoryOf(position);
        if (head + bytes > skhost::capacityOf(memory)) skhost::failCapacity(memory, head, bytes, "LocalMemAllocator::Alloc");
        const uint32_t at = head;
        head += static_cast<uint32_t>(bytes);
        return LocalTensor<T>(position, at, elements);
    }
    uint32_t head = 0;
};

}  // namespace AscendC
