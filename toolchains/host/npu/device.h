// Devices, streams and events of the emulated ACL as torch sees them.
//
// What a thread has chosen is kept in the emulated runtime and nowhere else: modules of operators, which know nothing of this
// file, launch on the device and the stream that torch has chosen.
#pragma once

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <mutex>
#include <vector>

#include "check.h"

namespace skhost::npu {

// torch wants 0 for a default stream; all others are the handles of the runtime.
inline aclrtStream handleOf(const c10::Stream &stream) {
    return stream.id() == 0 ? skrules_host_default_stream(stream.device_index())
                            : reinterpret_cast<aclrtStream>(static_cast<intptr_t>(stream.id()));
}

inline c10::Stream streamOf(c10::DeviceIndex device, aclrtStream handle) {
    const bool isDefault = handle == skrules_host_default_stream(device);
    const auto id = static_cast<c10::StreamId>(reinterpret_cast<intptr_t>(handle));
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kNpu, device), isDefault ? 0 : id);
}

// Streams are handed out in turn and never end: torch does not say when one is no longer used. As many a device as
// torch_npu has (NPUStream.cpp, kStreamsPerPool).
class StreamPool {
  public:
    static StreamPool &instance() {
        static auto *pool = new StreamPool;
        return *pool;
    }
    c10::Stream next(c10::DeviceIndex device) {
        const std::lock_guard<std::mutex> lock(lock_);
        Ring &ring = rings_.at(static_cast<size_t>(device));
        const size_t place = ring.taken++ % kStreams;
        if (place == ring.streams.size()) {
            const OnDevice here(device);
            aclrtStream created = nullptr;
            check(aclrtCreateStream(&created), "aclrtCreateStream");
            ring.streams.push_back(created);
        }
        return streamOf(device, ring.streams[place]);
    }

  private:
    static constexpr size_t kStreams = 32;
    struct Ring {
        std::vector<aclrtStream> streams;
        size_t taken = 0;
    };
    std::mutex lock_;
    std::array<Ring, 64> rings_;  // more than there can be devices
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
  public:
    c10::DeviceType type() const override { return kNpu; }

    c10::Device exchangeDevice(c10::Device device) const override {
        const c10::Device before = getDevice();
        if (device.has_index() && device.index() != before.index()) setDevice(device);
        return before;
    }
    c10::Device getDevice() const override { return {kNpu, currentDevice()}; }
    void setDevice(c10::Device device) const override { npu::setDevice(device.index()); }
    void uncheckedSetDevice(c10::Device device) const noexcept override { (void)aclrtSetDevice(device.index()); }
    c10::DeviceIndex deviceCount() const noexcept override { return npu::deviceCount(); }

    c10::Stream getStream(c10::Device device) const override {
        const c10::DeviceIndex index = indexOf(device);
        const aclrtStream stream = skrules_host_current_stream(index);
        TORCH_CHECK(stream, aclGetRecentErrMsg());
        return streamOf(index, stream);
    }
    c10::Stream getDefaultStream(c10::Device device) const override {
        return c10::Stream(c10::Stream::DEFAULT, c10::Device(kNpu, indexOf(device)));
    }
    c10::Stream getNewStream(c10::Device device, int) const override { return StreamPool::instance().next(indexOf(device)); }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getNewStream(device, 0); }
    c10::Stream exchangeStream(c10::Stream stream) const override {
        const c10::Stream before = getStream(stream.device());
        check(skrules_host_set_current_stream(handleOf(stream)), "skrules_host_set_current_stream");
        return before;
    }
    bool queryStream(const c10::Stream &stream) const override {
        aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
        check(aclrtStreamQuery(handleOf(stream), &status), "aclrtStreamQuery");
        return status == ACL_STREAM_STATUS_COMPLETE;
    }
    void synchronizeStream(const c10::Stream &stream) const override {
        check(aclrtSynchronizeStream(handleOf(stream)), "aclrtSynchronizeStream");
    }
    void synchronizeDevice(const c10::DeviceIndex device) const override {
        const OnDevice here(device);
        check(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    }
    // No `override`: not every torch asks for these two.
    void *getStreamNativeHandle(const c10::Stream stream) const { return handleOf(stream); }
    bool isStreamCapturing(const c10::Stream &stream) const {
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        check(aclmdlRICaptureGetInfo(handleOf(stream), &status, nullptr), "aclmdlRICaptureGetInfo");
        return status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    }

    void record(void **event, const c10::Stream &stream, const c10::DeviceIndex, const c10::EventFlag) const override {
        if (!*event) check(aclrtCreateEvent(event), "aclrtCreateEvent");
        check(aclrtRecordEvent(*event, handleOf(stream)), "aclrtRecordEvent");
    }
    void block(void *event, const c10::Stream &stream) const override {
        if (event) check(aclrtStreamWaitEvent(handleOf(stream), event), "aclrtStreamWaitEvent");
    }
    bool queryEvent(void *event) const override {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
        if (event) check(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
        return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }
    void synchronizeEvent(void *event) const override {
        if (event) check(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
    }
    void destroyEvent(void *event, const c10::DeviceIndex) const noexcept override {
        if (event) (void)aclrtDestroyEvent(event);
    }
    double elapsedTime(void *start, void *end, const c10::DeviceIndex) const override {
        float milliseconds = 0;
        check(aclrtEventElapsedTime(&milliseconds, start, end), "aclrtEventElapsedTime");
        return milliseconds;
    }

  private:
    static c10::DeviceIndex indexOf(c10::Device device) { return device.has_index() ? device.index() : currentDevice(); }
};

}  // namespace skhost::npu
