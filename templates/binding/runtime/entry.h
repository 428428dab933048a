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

// Python's names of torch's dtypes; the ones a contract may give, in the order of skrules_dtype.
constexpr DtypeName kDtypes[] = {
    {"bool", at::kBool},
    {"int8", at::kChar},
    {"uint8", at::kByte},
    {"int16", at::kShort},
    {"uint16", at::kUInt16},
    {"int32", at::kInt},
    {"uint32", at::kUInt32},
    {"int64", at::kLong},
    {"uint64", at::kUInt64},
    {"float16", at::kHalf},
    {"bfloat16", at::kBFloat16},
    {"float32", at::kFloat},
    {"float64", at::kDouble},
    {"float8_e4m3fn", at::kFloat8_e4m3fn},
    {"float8_e5m2", at::kFloat8_e5m2},
    {"complex64", at::kComplexFloat},
    {"complex128", at::kComplexDouble},
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

    // `item` is "[2]" for one of a list.
    std::string title(const std::string &item = "") const {
        return std::string("'") + declared->name + item + "' (" + declared->c_type + ")";
    }
};

struct Entry {
    const skrules_entry *declared;
    const char *arch;       // "dav-2201"
    std::string title;      // "add_custom: run_add(): ", the beginning of each message
    bool prepares = false;  // prepare_<name> of the table's entry, not run_<name>
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
    const std::string purpose = entry.prepares
                                    ? std::string("Writes what run_") + entry.declared->name + " reads to the end of '" +
                                          entry.declared->parameters[entry.declared->workspace].name +
                                          "'. Call it before a graph is captured, with the same arguments."
                                    : std::string("Launches ") + entry.declared->kernel + ".";
    std::string text = entry.function + "(" + names + ")\n--\n\n" + purpose + "\n";
    for (const Parameter &parameter : entry.parameters) {
        const bool isList = parameter.declared->kind == SKRULES_TENSOR_LIST;
        text += std::string("\n") + parameter.declared->name + ": " + (isList ? "list of " : "") + parameter.declared->c_type;
        if (*parameter.declared->dtype) text += std::string(", ") + parameter.declared->dtype;
        if (parameter.declared->rank >= 0) text += ", rank " + std::to_string(parameter.declared->rank);
        if (parameter.declared->nullable) text += ", or None";
    }
    return text;
}

// Throws std::runtime_error when the table does not hold together: it was made for another runtime, or damaged.
inline void prepare(Entry &entry, const skrules_module &module, const skrules_entry &declared, bool prepares) {
    const skrules_code &code = *declared.code;
    entry.declared = &declared;
    entry.arch = module.arch;
    entry.prepares = prepares;
    entry.function = std::string(prepares ? "prepare_" : "run_") + declared.name;
    entry.title = std::string(module.table->name) + ": " + entry.function + "(): ";
    for (uint32_t index = 0; index < declared.count; ++index) {
        static const skrules_argument unknown{0, 1, SKRULES_NOT_SCALAR};  // of a kernel that is not in this build
        const skrules_argument &argument = code.arguments ? code.arguments[index] : unknown;
        Parameter parameter{declared.parameters + index, &argument, nullptr, std::nullopt, 0};
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
    if (!code.launch && !code.run && !code.absent) throw std::runtime_error(entry.title + "has no launcher");
    if (declared.returned >= static_cast<int32_t>(declared.count))
        throw std::runtime_error(entry.title + "returns no parameter of its own");
    if (declared.workspace >= static_cast<int32_t>(declared.count) || (declared.descriptor_bytes && declared.workspace < 0))
        throw std::runtime_error(entry.title + "has no workspace for its descriptors");
    entry.documentation = documentationOf(entry);
}

}  // namespace skrules::binding
