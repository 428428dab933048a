// How a call is refused: what is thrown, and how values are shown in messages.
#pragma once

#include <torch/csrc/python_headers.h>

#include <cstddef>
#include <string>

namespace skrules::binding {

// Becomes the Python exception `type`. The message goes on after "<operator>: run_<entry>(): ".
struct Refusal {
    PyObject *type;
    std::string message;
};

// A Python exception is set already.
struct Raised {};

[[noreturn]] inline void refuse(PyObject *type, std::string message) { throw Refusal{type, std::move(message)}; }

inline std::string typeName(PyObject *object) { return Py_TYPE(object)->tp_name; }

// The repr of a value, cut to a length that fits a message.
inline std::string shown(PyObject *object) {
    constexpr size_t kLongest = 80;
    PyObject *text = PyObject_Repr(object);
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
    std::string result = utf8 ? utf8 : "a value without a repr";
    PyErr_Clear();
    Py_XDECREF(text);
    if (result.size() > kLongest) {
        size_t end = kLongest;
        while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
        result = result.substr(0, end) + "...";
    }
    return result;
}

}  // namespace skrules::binding
