// The tables of cat, made by skrules from its contract.
#include "skrules_descriptor.h"

// The tables and launchers are this module's own: several modules with the same names live in one process.
#pragma GCC visibility push(hidden)

extern "C" {
extern const skrules_code skrules_code_cat;
}

namespace {

// name, type, kind, roles, nullable, rank, dtype
const skrules_parameter parameters_cat[] = {
    {"xs", "GM_ADDR", SKRULES_TENSOR_LIST, SKRULES_INPUT, 0, 2, "float16"},
    {"out", "__gm__ half *", SKRULES_TENSOR, SKRULES_OUTPUT, 0, -1, ""},
    {"scratch", "GM_ADDR", SKRULES_TENSOR, SKRULES_WORKSPACE, 0, -1, ""},
    {"n", "uint32_t", SKRULES_SCALAR, 0, 0, -1, ""},
};

// name, kernel, core, aic, aiv, blocks, count, parameters, code, returned, workspace, descriptor bytes, largest
const skrules_entry entries[] = {
    {"cat", "cat", SKRULES_VECTOR, 0, 1, 0, 4,
     parameters_cat, &skrules_code_cat, 1, 2, 64, 0},
};

}  // namespace

extern "C" {

extern const skrules_operator skrules_operator_table;
const skrules_operator skrules_operator_table = {3, "cat", 1, entries};

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
