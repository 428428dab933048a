// What generic code of torch asks an accelerator.
#pragma once

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>

#include "check.h"
#include "memory.h"
#include "random.h"

namespace skhost::npu {

class Hooks final : public at::PrivateUse1HooksInterface {
  public:
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return npu::deviceCount() > 0; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    void init() const override {}
    c10::DeviceIndex deviceCount() const override { return npu::deviceCount(); }
    c10::DeviceIndex getCurrentDevice() const override { return currentDevice(); }
    void setCurrentDevice(c10::DeviceIndex device) const override { setDevice(device); }
    c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
        const c10::DeviceIndex before = currentDevice();
        if (device >= 0) setDevice(device);
        return before;
    }
    c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }

    const at::Generator &getDefaultGenerator(c10::DeviceIndex device) const override { return defaultGenerator(device); }
    at::Generator getNewGenerator(c10::DeviceIndex device) const override {
        return at::make_generator<Generator>(device < 0 ? currentDevice() : device);
    }

    bool isPinnedPtr(const void *data) const override { return PinnedAllocator::instance().holds(data); }
    at::Allocator *getPinnedMemoryAllocator() const override { return &PinnedAllocator::instance(); }

    void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override {
        const OnDevice here(storage.device().index());
        at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);  // with the storage's own allocator
    }
};

}  // namespace skhost::npu
