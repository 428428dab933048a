// The binding runtime: makes an importable Python module from an operator's table.
//
// Compiled once for a torch version, a Python and a toolchain, and linked into the module of every operator and arch; the
// module's own init function is in its descriptor and hands over its table. Everything here is hidden but that call.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/object_ptr.h>

#include <exception>
#include <memory>
#include <string>

#include "runtime/call.h"
#include "runtime/entry.h"
#include "runtime/refusal.h"
#include "runtime/wrapped.h"
#include "skrules_descriptor.h"

namespace skrules::binding {
namespace {

constexpr uint32_t kLayout = 3;

PyObject *run(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    const auto *entry = static_cast<const Entry *>(PyCapsule_GetPointer(self, nullptr));
    if (!entry) return nullptr;
    try {
        const skrules_code &code = *entry->declared->code;
        const Arguments given{arguments, PyVectorcall_NARGS(static_cast<size_t>(count)), names};
        if (code.absent) refuse(PyExc_RuntimeError, code.absent);
        if (entry->prepares) return prepareWrapped(*entry, given);
        return code.launch ? call(*entry, given) : callWrapped(*entry, given);
    } catch (const Refusal &refusal) {
        PyErr_SetString(refusal.type, (entry->title + refusal.message).c_str());
    } catch (const Raised &) {
    } catch (python_error &error) {  // torch's own
        error.restore();
    } catch (const c10::Error &error) {
        PyErr_SetString(PyExc_RuntimeError, (entry->title + error.what_without_backtrace()).c_str());
    } catch (const std::exception &error) {
        PyErr_SetString(PyExc_RuntimeError, (entry->title + error.what()).c_str());
    }
    return nullptr;
}

// A new reference that is dropped unless it is taken.
using Reference = THPObjectPtr;

Reference checked(PyObject *object) {
    if (!object) throw Raised{};
    return Reference(object);
}

void set(PyObject *module, const char *name, PyObject *value) {
    Reference keep = checked(value);
    if (PyObject_SetAttrString(module, name, value) != 0) throw Raised{};
}

// Adds one function. Its entry lives as long as the process, as modules do.
const Entry &addFunction(PyObject *module, PyObject *moduleName, const skrules_module &described, const skrules_entry &declared,
                         bool prepares) {
    auto *entry = new Entry();
    prepare(*entry, described, declared, prepares);
    entry->method = {entry->function.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)),
                     METH_FASTCALL | METH_KEYWORDS, entry->documentation.c_str()};
    Reference capsule = checked(PyCapsule_New(entry, nullptr, nullptr));
    set(module, entry->function.c_str(), PyCFunction_NewEx(&entry->method, capsule.get(), moduleName));
    return *entry;
}

// Adds run_<entry>, and prepare_<entry> where there is something to prepare; returns the tuple of its parameter names.
Reference addEntry(PyObject *module, PyObject *moduleName, const skrules_module &described, const skrules_entry &declared) {
    const Entry &entry = addFunction(module, moduleName, described, declared, false);
    if (declared.descriptor_bytes) addFunction(module, moduleName, described, declared, true);
    Reference names = checked(PyTuple_New(static_cast<Py_ssize_t>(declared.count)));
    for (uint32_t index = 0; index < declared.count; ++index) {
        PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(index), Py_NewRef(entry.parameters[index].name));
    }
    return names;
}

PyObject *makeModule(const skrules_module &described) {
    const skrules_operator &table = *described.table;
    if (table.version != kLayout) {
        PyErr_Format(PyExc_ImportError, "%s: its table has layout %u, the binding runtime reads %u", described.name,
                     table.version, kLayout);
        return nullptr;
    }
    Reference torch = checked(PyImport_ImportModule("torch"));  // THPVariable_Check knows no tensors before
    auto *definition =
        new PyModuleDef{PyModuleDef_HEAD_INIT, described.name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
    Reference module = checked(PyModule_Create(definition));
    Reference name = checked(PyModule_GetNameObject(module.get()));
    Reference entries = checked(PyDict_New());
    for (uint32_t index = 0; index < table.count; ++index) {
        Reference names = addEntry(module.get(), name.get(), described, table.entries[index]);
        if (PyDict_SetItemString(entries.get(), table.entries[index].name, names.get()) != 0) throw Raised{};
    }
    set(module.get(), "__skrules_operator__", PyUnicode_FromString(table.name));
    set(module.get(), "__skrules_arch__", PyUnicode_FromString(described.arch));
    set(module.get(), "__skrules_toolchain__", PyUnicode_FromString(described.toolchain));
    if (PyObject_SetAttrString(module.get(), "__skrules_entries__", entries.get()) != 0) throw Raised{};
    return module.release();
}

}  // namespace
}  // namespace skrules::binding

extern "C" PyObject *skrules_module_init(const skrules_module *module) {
    try {
        return skrules::binding::makeModule(*module);
    } catch (const skrules::binding::Raised &) {
    } catch (python_error &error) {
        error.restore();
    } catch (const std::exception &error) {
        PyErr_SetString(PyExc_ImportError, error.what());
    }
    return nullptr;
}
