// Generators of the device: they draw what the CPU's would, from a state of their own.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

#include <array>

#include "check.h"

namespace skhost::npu {

class Generator final : public c10::GeneratorImpl {
  public:
    explicit Generator(c10::DeviceIndex device, at::Generator inner = at::detail::createCPUGenerator())
        : c10::GeneratorImpl(c10::Device(kNpu, device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
          inner_(std::move(inner)) {}

    void set_current_seed(uint64_t seed) override { inner_.set_current_seed(seed); }
    uint64_t current_seed() const override { return inner_.current_seed(); }
    uint64_t seed() override { return inner_.seed(); }
    void set_offset(uint64_t offset) override { inner_.set_offset(offset); }
    uint64_t get_offset() const override { return inner_.get_offset(); }
    void set_state(const c10::TensorImpl &state) override { inner_.unsafeGetGeneratorImpl()->set_state(state); }
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner_.unsafeGetGeneratorImpl()->get_state(); }
    static c10::DeviceType device_type() { return kNpu; }

    // The CPU's generator behind it.
    const at::Generator &inner() const { return inner_; }

  private:
    Generator *clone_impl() const override { return new Generator(device().index(), inner_.clone()); }
    at::Generator inner_;
};

inline const at::Generator &defaultGenerator(c10::DeviceIndex device) {
    static auto *generators = [] {
        auto *made = new std::array<at::Generator, 64>;  // more than there can be devices
        for (size_t index = 0; index < made->size(); ++index)
            (*made)[index] = at::make_generator<Generator>(static_cast<c10::DeviceIndex>(index));
        return made;
    }();
    return generators->at(static_cast<size_t>(device < 0 ? currentDevice() : device));
}

inline const at::Generator &innerOf(const at::Generator &generator) {
    return static_cast<Generator *>(generator.unsafeGetGeneratorImpl())->inner();
}

}  // namespace skhost::npu
