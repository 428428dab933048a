// Structs that go to a kernel by value: their bytes, made on the Python side.
#pragma once

#include <torch/csrc/utils/object_ptr.h>

#include <cstring>
#include <string>

#include "entry.h"
#include "refusal.h"

namespace skrules::binding {

inline void requireSize(const Parameter &parameter, Py_ssize_t bytes) {
    if (bytes != static_cast<Py_ssize_t>(parameter.argument->size)) {
        refuse(PyExc_ValueError, parameter.title() + " takes exactly " + std::to_string(parameter.argument->size) +
                                     " bytes, got " + std::to_string(bytes));
    }
}

inline void copyBuffer(const Parameter &parameter, PyObject *value, void *to) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(value, &buffer, PyBUF_C_CONTIGUOUS) != 0) {
        PyErr_Clear();
        refuse(PyExc_ValueError, parameter.title() + " takes bytes that lie in one piece, got " + shown(value));
    }
    const Py_ssize_t bytes = buffer.len;
    if (bytes == static_cast<Py_ssize_t>(parameter.argument->size)) std::memcpy(to, buffer.buf, static_cast<size_t>(bytes));
    PyBuffer_Release(&buffer);
    requireSize(parameter, bytes);
}

inline void copySequence(const Parameter &parameter, PyObject *value, uint8_t *to) {
    THPObjectPtr items(PySequence_Fast(value, ""));
    if (!items) throw Raised{};
    requireSize(parameter, PySequence_Fast_GET_SIZE(items.get()));
    for (Py_ssize_t index = 0; index < static_cast<Py_ssize_t>(parameter.argument->size); ++index) {
        // Asked for each time: __index__ of an item may be Python code that changes the list, even its length.
        requireSize(parameter, PySequence_Fast_GET_SIZE(items.get()));
        THPObjectPtr keep(Py_NewRef(PySequence_Fast_GET_ITEM(items.get(), index)));
        PyObject *item = keep.get();
        const std::string place = parameter.title() + ", byte " + std::to_string(index) + ",";
        if (!PyIndex_Check(item))
            refuse(PyExc_TypeError, place + " takes an int, got " + shown(item) + " (" + typeName(item) + ")");
        const Py_ssize_t byte = PyNumber_AsSsize_t(item, nullptr);  // clips what is too large
        if (byte == -1 && PyErr_Occurred()) throw Raised{};
        if (byte < 0 || byte > 255) refuse(PyExc_ValueError, place + " takes 0..255, got " + shown(item));
        to[index] = static_cast<uint8_t>(byte);
    }
}

inline void convertStruct(const Parameter &parameter, PyObject *value, void *to) {
    if (PyObject_CheckBuffer(value)) return copyBuffer(parameter, value, to);
    const bool isSequence = PySequence_Check(value) && !PyUnicode_Check(value) && !PyDict_Check(value);
    if (!isSequence || THPVariable_Check(value)) {
        refuse(PyExc_TypeError, parameter.title() + " takes bytes or a sequence of " + std::to_string(parameter.argument->size) +
                                    " byte values, got " + shown(value) + " (" + typeName(value) + ")");
    }
    copySequence(parameter, value, static_cast<uint8_t *>(to));
}

}  // namespace skrules::binding
