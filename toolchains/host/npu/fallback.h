// Every operator of torch that has no implementation for this device: the CPU's carries it out. Under capture it becomes a
// node of the graph that does so with every replay.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/native/CPUFallback.h>

#include <vector>

#include "capture.h"
#include "random.h"

namespace skhost::npu {

using Stack = torch::jit::Stack;

template <class Visit> void eachTensor(const c10::IValue &value, const Visit &visit) {
    if (value.isTensor()) {
        if (value.toTensor().defined()) visit(value.toTensor());
    } else if (value.isTensorList()) {
        for (const at::Tensor &tensor : value.toTensorVector()) visit(tensor);
    } else if (value.isOptionalTensorList()) {
        for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector()) {
            if (tensor && tensor->defined()) visit(*tensor);
        }
    }
}

// Where the operator runs: on the device of its first tensor, else on the one that it names, else on the current one.
inline c10::Device deviceOf(const std::vector<c10::IValue> &arguments) {
    std::optional<c10::Device> found;
    for (const c10::IValue &value : arguments) {
        eachTensor(value, [&](const at::Tensor &tensor) {
            if (!found && tensor.device().type() == kNpu) found = tensor.device();
        });
        if (!found && value.isDevice() && value.toDevice().has_index() && value.toDevice().type() == kNpu)
            found = value.toDevice();
    }
    return found.value_or(c10::Device(kNpu, currentDevice()));
}

inline bool takesGenerator(const c10::Argument &argument) {
    const auto optional = argument.type()->cast<c10::OptionalType>();
    return (optional ? optional->getElementType() : argument.type())->kind() == c10::TypeKind::GeneratorType;
}

// The CPU draws from its own generators: it gets the one behind the given, or behind the default one of the device.
inline void lendGenerator(const c10::FunctionSchema &schema, Stack &arguments, c10::Device device) {
    for (size_t index = 0; index < arguments.size(); ++index) {
        if (!takesGenerator(schema.arguments()[index])) continue;
        const at::Generator given = arguments[index].isNone() ? defaultGenerator(device.index()) : arguments[index].toGenerator();
        TORCH_CHECK(given.device() == device, "the generator is on ", given.device(), ", the operator runs on ", device);
        arguments[index] = innerOf(given);
    }
}

inline void work(const c10::OperatorHandle &op, Stack *arguments, c10::Device device) {
    const Working working;
    lendGenerator(op.schema(), *arguments, device);
    at::native::cpu_fallback(op, arguments);
}

// Results that are arguments themselves, as the schema says; false: one is not.
inline bool resultsAmong(const c10::FunctionSchema &schema, const Stack &arguments, Stack &results) {
    for (const c10::Argument &result : schema.returns()) {
        if (!result.alias_info()) return false;
        bool found = false;
        for (size_t index = 0; index < arguments.size() && !found; ++index) {
            const c10::AliasInfo *alias = schema.arguments()[index].alias_info();
            if (!alias || alias->beforeSets() != result.alias_info()->beforeSets()) continue;
            results.push_back(arguments[index]);
            found = true;
        }
        if (!found) return false;
    }
    return true;
}

// Whether the operator changes something that was there before. An `out` that shares no memory with what is read does not count.
inline bool changesInputs(const c10::FunctionSchema &schema, const Stack &arguments) {
    std::vector<const c10::StorageImpl *> read;
    for (size_t index = 0; index < arguments.size(); ++index) {
        if (schema.arguments()[index].is_out()) continue;
        const c10::AliasInfo *alias = schema.arguments()[index].alias_info();
        if (alias && alias->isWrite()) return true;
        eachTensor(arguments[index], [&](const at::Tensor &tensor) {
            if (tensor.has_storage()) read.push_back(tensor.storage().unsafeGetStorageImpl());
        });
    }
    bool shared = false;
    for (size_t index = 0; index < arguments.size(); ++index) {
        if (!schema.arguments()[index].is_out()) continue;
        eachTensor(arguments[index], [&](const at::Tensor &tensor) {
            for (const c10::StorageImpl *storage : read) shared = shared || storage == tensor.storage().unsafeGetStorageImpl();
        });
    }
    return shared;
}

// Brings the results of a replay to where those of the capture are.
inline void deliver(const Stack &made, const Stack &recorded) {
    for (size_t index = 0; index < made.size(); ++index) {
        std::vector<at::Tensor> sources, targets;
        eachTensor(made[index], [&](const at::Tensor &tensor) { sources.push_back(tensor); });
        eachTensor(recorded[index], [&](const at::Tensor &tensor) { targets.push_back(tensor); });
        TORCH_CHECK(sources.size() == targets.size(), "a replay gives another number of tensors than the capture");
        for (size_t item = 0; item < sources.size(); ++item) {
            if (sources[item].is_same(targets[item])) continue;
            TORCH_CHECK(sources[item].sizes() == targets[item].sizes(), "a replay gives shape ", sources[item].sizes(),
                        ", the capture gave ", targets[item].sizes());
            copyMemory(sources[item], targets[item]);
        }
    }
}

// On a device nothing runs during a capture. Here an operator that only makes new tensors is run once, for their shapes.
inline void capture(const c10::OperatorHandle &op, Stack *stack, c10::Device device) {
    const c10::FunctionSchema &schema = op.schema();
    const std::string name = schema.operator_name().name;
    TORCH_CHECK(!op.hasTag(at::Tag::data_dependent_output) && !op.hasTag(at::Tag::dynamic_output_shape), name,
                " waits for values on ", device, ", where a graph is being captured");
    const Stack arguments(*stack);
    if (changesInputs(schema, arguments)) {
        stack->clear();
        TORCH_CHECK(resultsAmong(schema, arguments, *stack), name,
                    " changes an argument and makes new tensors, which cannot be captured on the emulated npu");
    } else {
        work(op, stack, device);
    }
    submit(device, name.c_str(), [op, arguments, recorded = *stack, device] {
        Stack replayed(arguments);
        work(op, &replayed, device);
        deliver(replayed, recorded);
    });
}

inline void fallback(const c10::OperatorHandle &op, Stack *stack) {
    const size_t count = op.schema().arguments().size();
    TORCH_INTERNAL_ASSERT(stack->size() >= count);
    // What lies below the arguments is of no concern here.
    Stack mine(std::make_move_iterator(stack->end() - static_cast<std::ptrdiff_t>(count)), std::make_move_iterator(stack->end()));
    stack->resize(stack->size() - count);
    const c10::Device device = deviceOf(mine);
    isBeingCaptured(device) ? capture(op, &mine, device) : work(op, &mine, device);
    for (c10::IValue &result : mine) stack->push_back(std::move(result));
}

}  // namespace skhost::npu
