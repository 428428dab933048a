// What the kernel reads of its inputs, as the wrapper writes it.
#ifndef OPS_CONCAT_CUSTOM_CONCAT_DESCRIPTOR_H
#define OPS_CONCAT_CUSTOM_CONCAT_DESCRIPTOR_H

#include <cstdint>

constexpr uint32_t kMostInputs = 8;

// As numbers of 64 bits: count, total elements, and for each input its address and its elements.
constexpr uint32_t kCountAt = 0;
constexpr uint32_t kTotalAt = 1;
constexpr uint32_t kInputsAt = 2;
constexpr uint32_t kNumbers = kInputsAt + 2 * kMostInputs;

#endif  // OPS_CONCAT_CUSTOM_CONCAT_DESCRIPTOR_H
