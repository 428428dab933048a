// What a runtime wrapper is given: tensors as views, lists of them, and the launch. No torch, no AscendC.
//
// A wrapper is a function in namespace ascendc_ops that the contract names as `runtime_wrapper.entry`. It takes the launch and
// then what the kernel takes, in the kernel's order: a view for a tensor, a list for a tensor list, scalars and structs by
// value. It starts the kernel once on `launch.stream` and returns nullptr, or starts nothing and says why (skrules_refuse).
//
//     const char *concat_wrapper(const skrules_launch &launch, const skrules_list &inputs, const skrules_tensor &out, uint32_t
//     n);
//
// `runtime_wrapper.prepare_entry` takes the same after a skrules_prepare. It is called before a graph is captured and only fills
// `descriptor`; those bytes are then at the end of the workspace, where `launch.descriptor` points. What a view points to lives
// as long as the call.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>

extern "C" {

enum skrules_dtype : uint32_t {
    SKRULES_DTYPE_OTHER = 0,
    SKRULES_DTYPE_BOOL,
    SKRULES_DTYPE_INT8,
    SKRULES_DTYPE_UINT8,
    SKRULES_DTYPE_INT16,
    SKRULES_DTYPE_UINT16,
    SKRULES_DTYPE_INT32,
    SKRULES_DTYPE_UINT32,
    SKRULES_DTYPE_INT64,
    SKRULES_DTYPE_UINT64,
    SKRULES_DTYPE_FLOAT16,
    SKRULES_DTYPE_BFLOAT16,
    SKRULES_DTYPE_FLOAT32,
    SKRULES_DTYPE_FLOAT64,
    SKRULES_DTYPE_FLOAT8_E4M3FN,
    SKRULES_DTYPE_FLOAT8_E5M2,
    SKRULES_DTYPE_COMPLEX64,
    SKRULES_DTYPE_COMPLEX128,
};

// A dense tensor in device memory. One that is not given (nullable) has no address, no bytes and no dimensions.
struct skrules_tensor {
    void *address;
    uint64_t bytes;
    const int64_t *dims;
    uint32_t rank;
    uint32_t dtype;  // skrules_dtype
};

struct skrules_list {
    const skrules_tensor *items;
    uint32_t count;
};

struct skrules_launch {
    uint32_t blocks;
    void *stream;
    void *descriptor;  // in device memory, as it was prepared; nullptr where the contract has no descriptors
    uint64_t descriptor_bytes;
};

struct skrules_prepare {
    void *descriptor;  // in host memory, zeros
    uint64_t descriptor_bytes;
};
}

// The value to return for a call that cannot be served, with the reason as printf writes it.
__attribute__((format(printf, 1, 2))) inline const char *skrules_refuse(const char *format, ...) {
    static thread_local char text[512];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return text;
}
