// Tensors as kernel arguments: what is checked before an address goes to a kernel.
#pragma once

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/python_variable.h>

#include <sstream>
#include <string>

#include "device.h"
#include "entry.h"
#include "refusal.h"

namespace skrules::binding {

template <class Value> std::string text(const Value &value) {
    std::ostringstream stream;
    stream << value;
    return stream.str();
}

inline bool writes(const Parameter &parameter) { return parameter.declared->roles & (SKRULES_OUTPUT | SKRULES_WORKSPACE); }

// The tensor of `value`, checked against its parameter; `title` names it in messages.
template <class Title> const at::Tensor &checkTensor(const Parameter &parameter, PyObject *value, const Title &title) {
    const at::Tensor &tensor = THPVariable_Unpack(value);
    if (tensor.layout() != at::kStrided)
        refuse(PyExc_ValueError, title() + " must be dense, got layout " + text(tensor.layout()));
    if (!isNpu(tensor.device())) {
        refuse(PyExc_ValueError, title() + " must be on the npu, got a tensor on " + tensor.device().str() + kWhichNpu);
    }
    // Nobody would notice otherwise: an output that was passed in gets no history, and gradients just stop.
    if (tensor.requires_grad() && c10::GradMode::is_enabled()) {
        refuse(PyExc_RuntimeError, title() + " requires grad, and there is no backward; call it under torch.no_grad()");
    }
    if (parameter.dtype && tensor.scalar_type() != *parameter.dtype) {
        refuse(PyExc_TypeError, title() + " must be " + parameter.declared->dtype + ", got " + dtypeName(tensor.scalar_type()));
    }
    if (parameter.declared->rank >= 0 && tensor.dim() != parameter.declared->rank) {
        refuse(PyExc_ValueError, title() + " must have rank " + std::to_string(parameter.declared->rank) + ", got rank " +
                                     std::to_string(tensor.dim()) + ", shape " + text(tensor.sizes()));
    }
    if (!tensor.is_contiguous()) {
        const char *help = writes(parameter) ? "" : "; pass .contiguous() of it";  // a copy would take the result
        refuse(PyExc_ValueError, title() + " must be contiguous, got shape " + text(tensor.sizes()) + " with strides " +
                                     text(tensor.strides()) + help);
    }
    if (tensor.is_conj() || tensor.is_neg()) {
        refuse(PyExc_ValueError, title() + " is a lazy conjugate or negation; pass .resolve_conj() or .resolve_neg() of it");
    }
    // Fake tensors and other wrappers name a device but have nothing on it.
    if (!tensor.has_storage() || (tensor.numel() && !tensor.storage().data())) {
        refuse(PyExc_ValueError, title() + " has no memory, got a " + typeName(value));
    }
    return tensor;
}

// The tensor of `value`, or nullptr for a None that the contract allows.
inline const at::Tensor *acceptTensor(const Parameter &parameter, PyObject *value) {
    if (value == Py_None && parameter.declared->nullable) return nullptr;
    if (!THPVariable_Check(value)) {
        const char *wanted = parameter.declared->nullable ? " takes a torch.Tensor or None, got " : " takes a torch.Tensor, got ";
        refuse(PyExc_TypeError, parameter.title() + wanted + shown(value) + " (" + typeName(value) + ")");
    }
    return &checkTensor(parameter, value, [&] { return parameter.title(); });
}

inline void *addressOf(const Parameter &parameter, const at::Tensor &tensor) {
    // A storage that is copied on write is copied here.
    return writes(parameter) ? tensor.mutable_data_ptr() : const_cast<void *>(tensor.const_data_ptr());
}

// Tells autograd, and whoever saved the tensor for a backward pass, that its values are new.
inline void markWritten(const Parameter &parameter, const at::Tensor &tensor) {
    if (writes(parameter) && !tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
}

}  // namespace skrules::binding
