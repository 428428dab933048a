// One call of run_<entry> whose launch is generated: Python arguments to parameters by name, each checked and converted, then the
// launch.
#pragma once

#include <c10/util/SmallVector.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "device.h"
#include "entry.h"
#include "number.h"
#include "refusal.h"
#include "structure.h"
#include "tensor.h"

namespace skrules::binding {

// The arguments of a METH_FASTCALL | METH_KEYWORDS function.
struct Arguments {
    PyObject *const *values;
    Py_ssize_t positional;
    PyObject *names;  // a tuple, or nullptr
};

using Values = c10::SmallVector<PyObject *, 16>;

inline std::string namesOf(const Entry &entry) {
    std::string names;
    for (const Parameter &parameter : entry.parameters)
        names += (names.empty() ? "" : ", ") + std::string(parameter.declared->name);
    return names.empty() ? "none" : names;
}

inline size_t indexOf(const Entry &entry, PyObject *name) {
    for (size_t index = 0; index < entry.parameters.size(); ++index) {
        if (entry.parameters[index].name == name) return index;  // both are interned as a rule
    }
    for (size_t index = 0; index < entry.parameters.size(); ++index) {
        if (PyUnicode_Compare(entry.parameters[index].name, name) == 0) return index;
    }
    refuse(PyExc_TypeError, "no parameter " + shown(name) + "; parameters: " + namesOf(entry));
}

// Borrowed values in parameter order, one each.
inline Values match(const Entry &entry, const Arguments &given) {
    const auto count = static_cast<Py_ssize_t>(entry.parameters.size());
    if (given.positional > count) {
        refuse(PyExc_TypeError, "takes " + std::to_string(count) + " arguments, got " + std::to_string(given.positional) +
                                    "; parameters: " + namesOf(entry));
    }
    Values values(given.values, given.values + given.positional);
    values.resize(entry.parameters.size(), nullptr);
    const Py_ssize_t named = given.names ? PyTuple_GET_SIZE(given.names) : 0;
    for (Py_ssize_t position = 0; position < named; ++position) {
        const size_t index = indexOf(entry, PyTuple_GET_ITEM(given.names, position));
        if (values[index]) refuse(PyExc_TypeError, "parameter " + shown(entry.parameters[index].name) + " is given twice");
        values[index] = given.values[given.positional + position];
    }
    std::string missing;
    for (const Parameter &parameter : entry.parameters) {
        if (!values[static_cast<size_t>(&parameter - entry.parameters.data())]) {
            missing += (missing.empty() ? "" : ", ") + std::string(parameter.declared->name);
        }
    }
    if (!missing.empty()) refuse(PyExc_TypeError, "missing: " + missing + "; parameters: " + namesOf(entry));
    return values;
}

// Where the values of one launch lie, each at its offset: on the stack, unless a struct is large.
class Block {
  public:
    explicit Block(size_t bytes) {
        if (bytes > sizeof(small_)) large_.reset(static_cast<std::byte *>(::operator new(bytes, std::align_val_t{kBlockAlign})));
    }
    void *at(size_t offset) { return (large_ ? large_.get() : small_) + offset; }

  private:
    struct Free {
        void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t{kBlockAlign}); }
    };
    alignas(kBlockAlign) std::byte small_[512];
    std::unique_ptr<std::byte, Free> large_;
};

// The very object that was given for the tensor that the contract returns, or None.
inline PyObject *resultOf(const Entry &entry, const Values &values) {
    return Py_NewRef(entry.declared->returned < 0 ? Py_None : values[static_cast<size_t>(entry.declared->returned)]);
}

inline PyObject *call(const Entry &entry, const Arguments &given) {
    const Values values = match(entry, given);
    const size_t count = entry.parameters.size();
    Block block(entry.bytes);
    c10::SmallVector<const void *, 16> addresses(count, nullptr);
    c10::SmallVector<const at::Tensor *, 16> tensors(count, nullptr);
    const at::Tensor *first = nullptr;
    const Parameter *firstParameter = nullptr;
    for (size_t index = 0; index < count; ++index) {
        const Parameter &parameter = entry.parameters[index];
        void *to = block.at(parameter.offset);
        addresses[index] = to;
        switch (parameter.declared->kind) {
            case SKRULES_TENSOR: {
                const at::Tensor *tensor = tensors[index] = acceptTensor(parameter, values[index]);
                if (tensor && !first) {
                    first = tensor;
                    firstParameter = &parameter;
                }
                if (tensor && tensor->device() != first->device()) {
                    refuse(PyExc_ValueError, parameter.title() + " is on " + tensor->device().str() + ", but " +
                                                 firstParameter->title() + " is on " + first->device().str());
                }
                break;
            }
            case SKRULES_SCALAR:
                convertScalar(parameter, values[index], to);
                break;
            case SKRULES_HOST_STRUCT:
                convertStruct(parameter, values[index], to);
                break;
            default:
                refuse(PyExc_RuntimeError, parameter.title() + " is of a kind that generated launches do not know");
        }
    }
    // Addresses last: converting a number may run Python code, and that could resize a tensor.
    for (size_t index = 0; index < count; ++index) {
        if (entry.parameters[index].declared->kind != SKRULES_TENSOR) continue;
        void *address = tensors[index] ? addressOf(entry.parameters[index], *tensors[index]) : nullptr;
        std::memcpy(block.at(entry.parameters[index].offset), &address, sizeof(address));
    }
    launch(entry, deviceIndex(first), [&](uint32_t blocks, void *stream) -> const char * {
        entry.declared->code->launch(blocks, stream, addresses.data());
        return nullptr;
    });
    for (size_t index = 0; index < count; ++index) {
        if (tensors[index]) markWritten(entry.parameters[index], *tensors[index]);
    }
    return resultOf(entry, values);
}

}  // namespace skrules::binding
