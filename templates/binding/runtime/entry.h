// An operator's table as the binding runtime works on it: names as Python strings, dtypes as torch's, places of values.
#pragma once

#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../skrules_descriptor.h"

namespace skrules::binding {

struct DtypeName {
    const char *name;
    at::ScalarType type;
};

// Python's names of torch's dtypes; the ones a contract may give.
constexpr DtypeName kDtypes[] = {
    {"bool", at::kBool},
    {"uint8", at::kByte},
    {"uint16", at::kUInt16},
    {"uint32", at::kUInt32},
    {"uint64", at::kUInt64},
    {"int8", at::kChar},
    {"int16", at::kShort},
    {"int32", at::kInt},
    {"int64", at::kLong},
    {"float16", at::kHalf},
    {"bfloat16", at::kBFloat16},
    {"float32", at::kFloat},
    {"float64", at::kDouble},
    {"complex64", at::kComplexFloat},
    {"complex128", at::kComplexDouble},
    {"float8_e4m3fn", at::kFloat8_e4m3fn},
    {"float8_e5m2", at::kFloat8_e5m2},
};

inline std::string dtypeName(at::ScalarType type) {
    for (const DtypeName &known : kDtypes) {
        if (known.type == type) return known.name;
    }
    return at::toString(type);
}

struct Parameter {
    const skrules_parameter *declared;
    const skrules_argument *argument;
    PyObject *name;                       // interned
    std::optional<at::ScalarType> dtype;  // empty: any
    size_t offset;                        // of the value in the argument block

    std::string title() const { return std::string("'") + declared->name + "' (" + declared->c_type + ")"; }
};

struct Entry {
    const skrules_entry *declared;
    const char *arch;   // "dav-2201"
    std::string title;  // "add_custom: run_add(): ", the beginning of each message
    std::vector<Parameter> parameters;
    size_t bytes = 0;      // of the argument block
    std::string function;  // "run_add"
    std::string documentation;
    PyMethodDef method;
    // All cores of a device, asked for once; guarded by the GIL.
    mutable int coresOfDevice = -1;
    mutable uint32_t cores = 0;
};

constexpr size_t kBlockAlign = 64;

inline std::string documentationOf(const Entry &entry) {
    std::string names;
    for (const Parameter &parameter : entry.parameters)
        names += (names.empty() ? "" : ", ") + std::string(parameter.declared->name);
    // The first line is what inspect.signature reads.
    std::string text = entry.function + "(" + names + ")\n--\n\nLaunches " + entry.declared->kernel + ".\n";
    for (const Parameter &parameter : entry.parameters) {
        text += std::string("\n") + parameter.declared->name + ": " + parameter.declared->c_type;
        if (*parameter.declared->dtype) text += std::string(", ") + parameter.declared->dtype;
        if (parameter.declared->rank >= 0) text += ", rank " + std::to_string(parameter.declared->rank);
        if (parameter.declared->nullable) text += ", or None";
    }
    return text;
}

// Throws std::runtime_error when the table does not hold together: it was made for another runtime, or damaged.
inline void prepare(Entry &entry, const skrules_module &module, const skrules_entry &declared) {
    entry.declared = &declared;
    entry.arch = module.arch;
    entry.function = std::string("run_") + declared.name;
    entry.title = std::string(module.table->name) + ": " + entry.function + "(): ";
    for (uint32_t index = 0; index < declared.count; ++index) {
        Parameter parameter{declared.parameters + index, declared.arguments + index, nullptr, std::nullopt, 0};
        const skrules_argument &argument = *parameter.argument;
        if (!argument.align || argument.align > kBlockAlign)
            throw std::runtime_error(entry.title + parameter.title() + " has an odd alignment");
        if (*parameter.declared->dtype) {
            for (const DtypeName &known : kDtypes) {
                if (!std::strcmp(known.name, parameter.declared->dtype)) parameter.dtype = known.type;
            }
            if (!parameter.dtype) throw std::runtime_error(entry.title + "unknown dtype '" + parameter.declared->dtype + "'");
        }
        parameter.name = PyUnicode_InternFromString(parameter.declared->name);
        parameter.offset = (entry.bytes + argument.align - 1) / argument.align * argument.align;
        entry.bytes = parameter.offset + argument.size;
        entry.parameters.push_back(parameter);
    }
    if (!declared.launch) throw std::runtime_error(entry.title + "has no launcher");
    if (declared.returned >= static_cast<int32_t>(declared.count))
        throw std::runtime_error(entry.title + "returns no parameter of its own");
    entry.documentation = documentationOf(entry);
}

}  // namespace skrules::binding
