// How concat_custom is prepared and launched. Compiled together with the kernel.
#include "skrules_wrapper.h"

#include "concat_descriptor.h"

namespace ascendc_ops {

static_assert(kNumbers * sizeof(uint64_t) <= 160, "the contract gives the descriptor 160 bytes");

// Before a graph is captured: where the inputs are and how long they are.
const char *concat_prepare(const skrules_prepare &prepare, const skrules_list &inputs, const skrules_tensor &out,
                           const skrules_tensor &)
{
    if (inputs.count == 0 || inputs.count > kMostInputs) {
        return skrules_refuse("'inputs' takes 1 to %u tensors, got %u", kMostInputs, inputs.count);
    }
    uint64_t *numbers = static_cast<uint64_t *>(prepare.descriptor);
    numbers[kCountAt] = inputs.count;
    for (uint32_t i = 0; i < inputs.count; ++i) {
        const skrules_tensor &input = inputs.items[i];
        if (input.dims[1] != out.dims[1]) {
            return skrules_refuse("'inputs'[%u] has %lld columns, and 'out' has %lld", i, static_cast<long long>(input.dims[1]),
                                  static_cast<long long>(out.dims[1]));
        }
        numbers[kInputsAt + 2 * i] = reinterpret_cast<uint64_t>(input.address);
        numbers[kInputsAt + 2 * i + 1] = input.bytes / sizeof(uint16_t);
        numbers[kTotalAt] += input.bytes / sizeof(uint16_t);
    }
    if (numbers[kTotalAt] * sizeof(uint16_t) != out.bytes) {
        return skrules_refuse("'inputs' have %llu elements together, and 'out' has %llu",
                              static_cast<unsigned long long>(numbers[kTotalAt]),
                              static_cast<unsigned long long>(out.bytes / sizeof(uint16_t)));
    }
    return numbers[kTotalAt] > UINT32_MAX ? "'out' has more elements than the kernel counts" : nullptr;
}

// In a captured graph, or outside of one: one launch and nothing else.
const char *concat_wrapper(const skrules_launch &launch, const skrules_list &inputs, const skrules_tensor &out,
                           const skrules_tensor &workspace)
{
    // The descriptor may be of another call with the same inputs, so the output is checked again.
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < inputs.count; ++i) {
        bytes += inputs.items[i].bytes;
    }
    if (bytes != out.bytes) {
        return skrules_refuse("'inputs' have %llu bytes together, and 'out' has %llu", static_cast<unsigned long long>(bytes),
                              static_cast<unsigned long long>(out.bytes));
    }
    concat_custom<<<launch.blocks, nullptr, launch.stream>>>(static_cast<GM_ADDR>(launch.descriptor), static_cast<GM_ADDR>(out.address),
                                                             static_cast<GM_ADDR>(workspace.address));
    return nullptr;
}

}  // namespace ascendc_ops
