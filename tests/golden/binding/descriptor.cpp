// The tables of sample, made by skrules from its contract.
#include "skrules_descriptor.h"

// The tables and launchers are this module's own: several modules with the same names live in one process.
#pragma GCC visibility push(hidden)

extern "C" {
extern const skrules_code skrules_code_scale;
extern const skrules_code skrules_code_nothing;
}

namespace {

// name, type, kind, roles, nullable, rank, dtype
const skrules_parameter parameters_scale[] = {
    {"x", "GM_ADDR", SKRULES_TENSOR, SKRULES_INPUT, 0, 2, "float16"},
    {"y", "__gm__ half *__restrict__", SKRULES_TENSOR, SKRULES_INPUT | SKRULES_OUTPUT, 1, -1, ""},
    {"scratch", "GM_ADDR", SKRULES_TENSOR, SKRULES_WORKSPACE, 0, -1, ""},
    {"factor", "half", SKRULES_SCALAR, 0, 0, -1, ""},
    {"tiling", "Tiling", SKRULES_HOST_STRUCT, 0, 0, -1, ""},
};

// name, kernel, core, aic, aiv, blocks, count, parameters, code, returned, workspace, descriptor bytes, largest
const skrules_entry entries[] = {
    {"scale", "math::v2::scale<half>", SKRULES_VECTOR, 0, 1, 0, 5,
     parameters_scale, &skrules_code_scale, 1, -1, 0, 0},
    {"nothing", "nothing", SKRULES_VECTOR, 0, 1, 0, 0,
     nullptr, &skrules_code_nothing, -1, -1, 0, 0},
};

}  // namespace

extern "C" {

extern const skrules_operator skrules_operator_table;
const skrules_operator skrules_operator_table = {3, "sample", 2, entries};

#ifdef SKRULES_MODULE
#if !defined(SKRULES_ARCH) || !defined(SKRULES_TOOLCHAIN)
#error "SKRULES_MODULE needs SKRULES_ARCH and SKRULES_TOOLCHAIN"
#endif
#define SKRULES_TEXT_(tokens) #tokens
#define SKRULES_TEXT(tokens) SKRULES_TEXT_(tokens)
#define SKRULES_INIT_(module) PyInit_##module
#define SKRULES_INIT(module) SKRULES_INIT_(module)

// PyObject without Python.h. The module's address outlives it: the binding runtime keeps it.
struct _object;
struct _object *skrules_module_init(const skrules_module *module);

__attribute__((visibility("default"))) struct _object *SKRULES_INIT(SKRULES_MODULE)() {
    static const skrules_module module = {SKRULES_TEXT(SKRULES_MODULE), SKRULES_TEXT(SKRULES_ARCH), SKRULES_TEXT(SKRULES_TOOLCHAIN),
                                          &skrules_operator_table};
    return skrules_module_init(&module);
}
#endif
}

#pragma GCC visibility pop
