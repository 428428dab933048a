#include "memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "cores.h"
#include "scheduler.h"
#include "skrules_host/runtime.h"

namespace skhost {

namespace {

constexpr size_t kAlignment = 512;  // of aclrtMalloc
constexpr size_t kRemembered = 64;  // freed ranges, for the message
constexpr size_t kNear = 65536;     // so far behind its end an address still counts as a miss of that range
constexpr int kFresh = 0xA5;        // fresh memory is not zero on a device either

constexpr int kEveryDevice = -1;  // of memory that is lent

struct Allocation {
    size_t bytes = 0;
    int device = kEveryDevice;
    int references = 0;
    bool owned = false;
};

// begin 0: none.
struct Allocated {
    uintptr_t begin = 0;
    size_t bytes = 0;
    int device = kEveryDevice;
};

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Every range by its first byte. Lent ranges may overlap (views of one tensor); the largest size bounds how far back a
// range that holds an address can begin.
class Registry {
  public:
    static Registry &instance() {
        static Registry registry;
        return registry;
    }

    void add(uintptr_t begin, size_t bytes, bool owned, int device) {
        const std::lock_guard<std::mutex> lock(lock_);
        Allocation &allocation = ranges_[begin];
        allocation.bytes = std::max(allocation.bytes, bytes);
        allocation.owned = allocation.owned || owned;
        if (owned) allocation.device = device;
        ++allocation.references;
        largest_ = std::max(largest_, allocation.bytes);
        forgetFreed(begin, begin + bytes + (owned ? kGlobalUnit : 0));
        ++generation_;
    }

    bool remove(uintptr_t begin, bool owned) {
        const std::lock_guard<std::mutex> lock(lock_);
        const auto range = ranges_.find(begin);
        if (range == ranges_.end() || range->second.owned != owned) return false;
        if (--range->second.references > 0) return true;
        if (freed_.size() >= kRemembered) freed_.erase(freed_.begin());
        freed_[begin] = range->second.bytes;
        ranges_.erase(range);
        ++generation_;
        return true;
    }

    // The range that holds `address`, preferably all of [address, address + bytes).
    Allocated find(uintptr_t address, size_t bytes) {
        const std::lock_guard<std::mutex> lock(lock_);
        Allocated found;
        for (auto range = ranges_.upper_bound(address); range != ranges_.begin();) {
            --range;
            if (address - range->first >= largest_) break;
            if (address - range->first >= range->second.bytes) continue;
            found = {range->first, range->second.bytes, range->second.device};
            if (address - range->first + bytes <= range->second.bytes) break;
        }
        return found;
    }

    bool wasFreed(uintptr_t address) {
        const std::lock_guard<std::mutex> lock(lock_);
        const auto range = freed_.upper_bound(address);
        return range != freed_.begin() && address - std::prev(range)->first < std::prev(range)->second;
    }

    // The nearest range that ends at or shortly before `address`.
    Allocated findBefore(uintptr_t address) {
        const std::lock_guard<std::mutex> lock(lock_);
        const auto range = ranges_.upper_bound(address);
        if (range == ranges_.begin()) return {};
        const auto [begin, allocation] = *std::prev(range);
        if (address - begin - allocation.bytes > kNear) return {};
        return {begin, allocation.bytes, allocation.device};
    }

    uint64_t generation() const { return generation_; }

  private:
    // Memory that is in use again, or stands behind an allocation's end, was not freed in any sense that helps.
    void forgetFreed(uintptr_t begin, uintptr_t end) {
        for (auto range = freed_.begin(); range != freed_.end() && range->first < end;)
            range = range->first + range->second > begin ? freed_.erase(range) : std::next(range);
    }

    std::mutex lock_;
    std::map<uintptr_t, Allocation> ranges_;
    std::map<uintptr_t, size_t> freed_;
    size_t largest_ = 0;
    std::atomic<uint64_t> generation_{1};
};

struct HostBlocks {
    std::mutex lock;
    std::set<void *> blocks;
    static HostBlocks &instance() {
        static HostBlocks blocks;
        return blocks;
    }
};

}  // namespace

void *allocateGlobal(size_t bytes, int device) {
    // The next unit after the end belongs to nobody, so that a read past the end of one range does not find another.
    const size_t usable = rounded(bytes, kGlobalUnit);
    if (usable < bytes || usable > PTRDIFF_MAX - 2 * kAlignment) return nullptr;
    void *address = std::aligned_alloc(kAlignment, rounded(usable + kGlobalUnit, kAlignment));
    if (address == nullptr) return nullptr;
    std::memset(address, kFresh, usable);
    Registry::instance().add(reinterpret_cast<uintptr_t>(address), usable, true, device);
    return address;
}

bool freeGlobal(void *address) {
    if (!Registry::instance().remove(reinterpret_cast<uintptr_t>(address), true)) return false;
    std::free(address);
    return true;
}

void *allocateHost(size_t bytes) {
    if (bytes > PTRDIFF_MAX - 2 * kAlignment) return nullptr;
    void *address = std::aligned_alloc(kAlignment, rounded(std::max<size_t>(bytes, 1), kAlignment));
    if (address == nullptr) return nullptr;
    HostBlocks &host = HostBlocks::instance();
    const std::lock_guard<std::mutex> lock(host.lock);
    host.blocks.insert(address);
    return address;
}

bool freeHost(void *address) {
    HostBlocks &host = HostBlocks::instance();
    {
        const std::lock_guard<std::mutex> lock(host.lock);
        if (host.blocks.erase(address) == 0) return false;
    }
    std::free(address);
    return true;
}

Place placeOf(const void *address, size_t bytes) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    const Allocated range = Registry::instance().find(at, bytes);
    if (range.begin == 0) return Place::OUTSIDE;
    return bytes <= range.bytes - (at - range.begin) ? Place::INSIDE : Place::CROSSES_END;
}

void checkGlobal(const void *address, size_t bytes, const char *operation, const char *operand) {
    EmulatedCore *core = runningCore();
    const auto at = reinterpret_cast<uintptr_t>(address);
    Registry &registry = Registry::instance();
    const uint64_t generation = registry.generation();
    if (core != nullptr && core->allocation[2] == generation && at >= core->allocation[0] && at < core->allocation[1] &&
        bytes <= core->allocation[1] - at) {
        return;
    }
    Allocated range = registry.find(at, bytes);
    if (range.begin != 0 && bytes <= range.bytes - (at - range.begin)) {
        if (core == nullptr) return;
        const int device = Scheduler::current()->plan().device;
        if (range.device != kEveryDevice && range.device != device) {
            fail("%s: %s lies on device %d, the kernel runs on device %d", operation, operand, range.device, device);
        }
        core->allocation[0] = range.begin;
        core->allocation[1] = range.begin + range.bytes;
        core->allocation[2] = generation;
        return;
    }
    if (range.begin == 0 && !registry.wasFreed(at)) range = registry.findBefore(at);
    if (range.begin != 0) {
        fail("%s: %s is out of bounds in GM: %zu bytes at offset %zu of an allocation of %zu bytes", operation, operand, bytes,
             static_cast<size_t>(at - range.begin), range.bytes);
    }
    const char *why = at == 0 ? "is a null pointer" : registry.wasFreed(at) ? "was freed" : "lies in no device allocation";
    fail("%s: %s (%zu bytes at %p) %s", operation, operand, bytes, address, why);
}

}  // namespace skhost

extern "C" void skrules_host_register_memory(void *address, size_t bytes) {
    if (address != nullptr)
        skhost::Registry::instance().add(reinterpret_cast<uintptr_t>(address), bytes, false, skhost::kEveryDevice);
}

extern "C" void skrules_host_unregister_memory(void *address) {
    skhost::Registry::instance().remove(reinterpret_cast<uintptr_t>(address), false);
}
