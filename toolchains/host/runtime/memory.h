// Device memory: what a kernel may touch. Ranges come from aclrtMalloc and from others that lend theirs (torch).
#pragma once

#include <cstddef>
#include <cstdint>

namespace skhost {

constexpr size_t kGlobalUnit = 32;  // an allocation is usable up to the next multiple of this

void *allocateGlobal(size_t bytes, int device);  // nullptr: out of memory
bool freeGlobal(void *address);                  // false: not from allocateGlobal
void *allocateHost(size_t bytes);
bool freeHost(void *address);

enum class Place : uint8_t { OUTSIDE, INSIDE, CROSSES_END };
// Whether [address, address + bytes) lies in one device range.
Place placeOf(const void *address, size_t bytes);

}  // namespace skhost
