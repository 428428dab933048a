// The table that describes an operator to the binding runtime and to the compare program. Plain C++, no torch, no
// AscendC: it is compiled in a moment.
#pragma once

#include <cstdint>

#include "skrules_wrapper.h"

extern "C" {

enum skrules_kind : uint8_t { SKRULES_TENSOR = 0, SKRULES_TENSOR_LIST = 1, SKRULES_SCALAR = 2, SKRULES_HOST_STRUCT = 3 };
enum skrules_role : uint8_t { SKRULES_INPUT = 1, SKRULES_OUTPUT = 2, SKRULES_WORKSPACE = 4 };  // bits
enum skrules_core : uint8_t { SKRULES_VECTOR = 0, SKRULES_CUBE = 1, SKRULES_MIX = 2, SKRULES_BARE = 3 };
enum skrules_scalar : uint32_t {
    SKRULES_NOT_SCALAR = 0,
    SKRULES_SIGNED,
    SKRULES_UNSIGNED,
    SKRULES_BOOL,
    SKRULES_FLOAT,
    SKRULES_HALF,
    SKRULES_BFLOAT16
};

// What the kernel's translation unit knows of a parameter: its resolved C++ type.
struct skrules_argument {
    uint32_t size;
    uint32_t align;
    uint32_t scalar;  // skrules_scalar; SKRULES_FLOAT of size 4 or 8
};

struct skrules_parameter {
    const char *name;
    const char *c_type;
    uint8_t kind;   // skrules_kind
    uint8_t roles;  // skrules_role bits
    uint8_t nullable;
    int8_t rank;        // -1: any
    const char *dtype;  // "float16", ... or "": any
};

// arguments[i] points to the i-th kernel argument by value: for a tensor to a device address, else to the scalar or struct.
typedef void (*skrules_launcher)(uint32_t blocks, void *stream, const void *const *arguments);
// The same for a runtime wrapper, but a skrules_tensor for a tensor and a skrules_list for a list. They return nullptr or
// why the call is refused.
typedef const char *(*skrules_runner)(const skrules_launch *launch, const void *const *arguments);
typedef const char *(*skrules_preparer)(const skrules_prepare *prepare, const void *const *arguments);

// What the translation unit of an entry's kernel has of it: either `launch`, or `run` of its runtime wrapper, or the reason
// why there is no kernel in this build, and then nothing else.
struct skrules_code {
    const skrules_argument *arguments;
    skrules_launcher launch;
    skrules_runner run;
    skrules_preparer prepare;  // nullptr: nothing to prepare
    const char *absent;
};

struct skrules_entry {
    const char *name;    // public name
    const char *kernel;  // what is launched, e.g. "scale_bias_custom<half>"
    uint8_t core;        // skrules_core
    uint8_t aic;         // cores per block
    uint8_t aiv;
    uint32_t blocks;  // from the contract; 0: all cores of the device of the kernel's kind
    uint32_t count;
    const skrules_parameter *parameters;
    const skrules_code *code;
    int32_t returned;           // index of the tensor that run_<name> returns, -1: none
    int32_t workspace;          // index of the tensor whose end holds the prepared descriptors, -1: none
    uint32_t descriptor_bytes;  // of those descriptors
    uint8_t largest;            // 1: by its contract no kernel of its super kernel has more blocks than it is launched with
};

// Descriptors lie at the end of the workspace, at a multiple of the unit of a copy.
constexpr uint64_t SKRULES_DESCRIPTOR_ALIGN = 32;

// Where the descriptors of a workspace are, or nullptr when it is too small for them.
inline void *skrules_descriptor_in(void *workspace, uint64_t bytes, uint64_t descriptor_bytes) {
    const uintptr_t start = reinterpret_cast<uintptr_t>(workspace);
    if (!start || bytes < descriptor_bytes) return nullptr;
    const uintptr_t place = (start + bytes - descriptor_bytes) / SKRULES_DESCRIPTOR_ALIGN * SKRULES_DESCRIPTOR_ALIGN;
    return place < start ? nullptr : reinterpret_cast<void *>(place);
}

struct skrules_operator {
    uint32_t version;  // of this layout: 3
    const char *name;
    uint32_t count;
    const skrules_entry *entries;
};

// What an importable module says of itself. Made by the descriptor when SKRULES_MODULE, SKRULES_ARCH and
// SKRULES_TOOLCHAIN are defined; the table is the same for all of them.
struct skrules_module {
    const char *name;       // "add_custom_dav_2201"
    const char *arch;       // "dav-2201"
    const char *toolchain;  // "bisheng" or "host"
    const skrules_operator *table;
};
}
