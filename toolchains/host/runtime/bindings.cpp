#include "bindings.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace skhost {

namespace {

struct Bindings {
    std::mutex lock;
    std::map<Function, std::vector<TwinBinding>> byKernel;
    static Bindings &instance() {
        // Never destroyed: kernel modules unbind when they are unloaded, which may be after our own statics.
        static auto *bindings = new Bindings;
        return *bindings;
    }
};

bool same(const TwinBinding &a, const TwinBinding &b) {
    return a.capabilities == b.capabilities && a.count == b.count && std::equal(a.twins, a.twins + a.count, b.twins);
}

std::string describeMismatch(const TwinBinding &binding) {
    const LayoutMismatch &mismatch = binding.mismatch;
    if (mismatch.field == 0) return "";
    return std::string("SK_BIND(") + binding.text + "): field " + std::to_string(mismatch.field) +
           " of the Args struct lies at offset " + std::to_string(mismatch.offset) +
           ", the argument block of the kernel has parameter " + std::to_string(mismatch.field) + " at " +
           std::to_string(mismatch.expected) + ": same order, alignas(4) on values smaller than 4 bytes";
}

}  // namespace

void bindTwins(const TwinBinding &binding) {
    Bindings &bindings = Bindings::instance();
    const std::lock_guard<std::mutex> lock(bindings.lock);
    bindings.byKernel[binding.kernel].push_back(binding);
}

void unbindTwins(const TwinBinding &binding) {
    Bindings &bindings = Bindings::instance();
    const std::lock_guard<std::mutex> lock(bindings.lock);
    auto &list = bindings.byKernel[binding.kernel];
    const auto found = std::find_if(list.begin(), list.end(), [&](const TwinBinding &entry) { return same(entry, binding); });
    if (found != list.end()) list.erase(found);
    if (list.empty()) bindings.byKernel.erase(binding.kernel);
}

BoundTwins findTwins(Function kernel) {
    Bindings &bindings = Bindings::instance();
    const std::lock_guard<std::mutex> lock(bindings.lock);
    BoundTwins bound;
    const auto found = bindings.byKernel.find(kernel);
    if (found == bindings.byKernel.end()) return bound;
    const TwinBinding &first = found->second.front();
    bound.found = true;
    bound.mismatch = describeMismatch(first);
    for (const TwinBinding &other : found->second) bound.conflict = bound.conflict || !same(first, other);
    // Slots that were not named repeat the first twin; two different twins alternate ("balance").
    for (int i = 0; i < kMaxSplits; ++i) bound.entries[i] = first.thunks[i < first.count ? i : 0];
    std::vector<Function> different(first.twins, first.twins + first.count);
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    if (different.size() == 2) {
        bound.entries[2] = bound.entries[0];
        bound.entries[3] = bound.entries[1];
    }
    return bound;
}

}  // namespace skhost
