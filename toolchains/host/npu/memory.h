// Memory of tensors: from the emulated ACL, so that kernels may touch this memory and nothing else.
#pragma once

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "check.h"

namespace skhost::npu {

// One allocation. A tensor holds it, and so does the graph during whose capture it was made.
class Block {
  public:
    Block(size_t bytes, c10::DeviceIndex device);
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    void *address() const { return address_; }

  private:
    void *address_ = nullptr;
    const size_t bytes_;
    const c10::DeviceIndex device_;
};

class Allocator final : public c10::DeviceAllocator {
  public:
    // Never destroyed: tensors of the interpreter may outlive everything.
    static Allocator &instance() {
        static auto *allocator = new Allocator;
        return *allocator;
    }

    // On the current device. What is allocated while its current stream is being captured stays until the graph is gone: a
    // replay needs it, whether or not a tensor still does.
    c10::DataPtr allocate(size_t bytes) override {
        const c10::DeviceIndex device = currentDevice();
        if (bytes == 0) return {nullptr, c10::Device(kNpu, device)};
        auto *block = new std::shared_ptr<Block>(std::make_shared<Block>(bytes, device));
        if (const aclmdlRI graph = captureOf(device)) {
            const std::lock_guard<std::mutex> lock(lock_);
            graphs_[graph].push_back(*block);
        }
        return {(*block)->address(), block, &release, c10::Device(kNpu, device)};
    }

    // The memory of a graph that is gone.
    void releaseGraph(aclmdlRI graph) {
        std::vector<std::shared_ptr<Block>> blocks;  // freed after the lock
        const std::lock_guard<std::mutex> lock(lock_);
        const auto found = graphs_.find(graph);
        if (found == graphs_.end()) return;
        blocks.swap(found->second);
        graphs_.erase(found);
    }

    void copy_data(void *to, const void *from, size_t bytes) const override { default_copy_data(to, from, bytes); }

    bool initialized() override { return true; }
    void emptyCache(c10::MempoolId_t = {0, 0}) override {}  // nothing is cached
    void recordStream(const c10::DataPtr &, c10::Stream) override {}

    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
        const std::lock_guard<std::mutex> lock(statisticsLock_);
        const Statistics &of = statistics_.at(static_cast<size_t>(device));
        c10::CachingDeviceAllocator::DeviceStats stats;
        stats.allocation[0] = stats.active[0] = stats.segment[0] = of.blocks;
        stats.allocated_bytes[0] = stats.active_bytes[0] = stats.reserved_bytes[0] = stats.requested_bytes[0] = of.bytes;
        stats.num_device_alloc = of.blocks.allocated;
        stats.num_device_free = of.blocks.freed;
        return stats;
    }
    void resetAccumulatedStats(c10::DeviceIndex device) override {
        const std::lock_guard<std::mutex> lock(statisticsLock_);
        statistics_.at(static_cast<size_t>(device)).blocks.reset_accumulated();
        statistics_.at(static_cast<size_t>(device)).bytes.reset_accumulated();
    }
    void resetPeakStats(c10::DeviceIndex device) override {
        const std::lock_guard<std::mutex> lock(statisticsLock_);
        statistics_.at(static_cast<size_t>(device)).blocks.reset_peak();
        statistics_.at(static_cast<size_t>(device)).bytes.reset_peak();
    }

    void count(c10::DeviceIndex device, size_t bytes, bool more) {
        const std::lock_guard<std::mutex> lock(statisticsLock_);
        Statistics &of = statistics_.at(static_cast<size_t>(device));
        more ? of.blocks.increase(1) : of.blocks.decrease(1);
        more ? of.bytes.increase(bytes) : of.bytes.decrease(bytes);
    }

  private:
    struct Statistics {
        c10::CachingAllocator::Stat blocks, bytes;
    };

    static void release(void *block) { delete static_cast<std::shared_ptr<Block> *>(block); }

    std::mutex lock_;
    std::map<aclmdlRI, std::vector<std::shared_ptr<Block>>> graphs_;
    std::mutex statisticsLock_;
    std::array<Statistics, 64> statistics_;  // more than there can be devices
};

inline Block::Block(size_t bytes, c10::DeviceIndex device) : bytes_(bytes), device_(device) {
    const OnDevice here(device);
    const aclError code = aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (code == ACL_ERROR_RT_MEMORY_ALLOCATION) {
        TORCH_CHECK_WITH(OutOfMemoryError, false, "npu:", static_cast<int>(device), " is out of memory: no ", bytes, " bytes");
    }
    check(code, "aclrtMalloc");
    Allocator::instance().count(device, bytes, true);
}

inline Block::~Block() {
    (void)aclrtFree(address_);
    Allocator::instance().count(device_, bytes_, false);
}

// Pinned memory of the host: as good as any other here, but known as pinned.
class PinnedAllocator final : public c10::Allocator {
  public:
    static PinnedAllocator &instance() {
        static auto *allocator = new PinnedAllocator;
        return *allocator;
    }
    c10::DataPtr allocate(size_t bytes) override {
        void *address = nullptr;
        if (bytes == 0) return {nullptr, c10::DeviceType::CPU};
        check(aclrtMallocHost(&address, bytes), "aclrtMallocHost");
        const std::lock_guard<std::mutex> lock(lock_);
        blocks_[static_cast<const char *>(address)] = bytes;
        return {address, address, &release, c10::DeviceType::CPU};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void *to, const void *from, size_t bytes) const override { default_copy_data(to, from, bytes); }
    bool holds(const void *data) {
        const std::lock_guard<std::mutex> lock(lock_);
        const auto *address = static_cast<const char *>(data);
        const auto after = blocks_.upper_bound(address);
        return after != blocks_.begin() && address < std::prev(after)->first + std::prev(after)->second;
    }

  private:
    static void release(void *address) {
        PinnedAllocator &self = instance();
        {
            const std::lock_guard<std::mutex> lock(self.lock_);
            self.blocks_.erase(static_cast<const char *>(address));
        }
        (void)aclrtFreeHost(address);
    }
    std::mutex lock_;
    std::map<const char *, size_t> blocks_;
};

}  // namespace skhost::npu
