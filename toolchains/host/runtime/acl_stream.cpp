#include "acl_call.h"
#include "device.h"
#include "skrules_host/runtime.h"

using namespace skhost;

extern "C" {

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) {
    if (stream == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream", "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    auto created = std::make_unique<Stream>();
    created->id = device.nextStream++;
    created->device = currentDevice();
    *stream = created.get();
    device.streams[*stream] = std::move(created);
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream) { return aclrtCreateStreamWithConfig(stream, 0, 0); }

aclError aclrtDestroyStream(aclrtStream handle) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    const Stream *stream = device.findStream(handle);
    if (stream == nullptr || stream->isDefault())
        return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyStream", "no such stream");
    if (stream->capture != nullptr)
        return refuse(ACL_ERROR_RT_STREAM_CAPTURED, "aclrtDestroyStream", "the stream is being captured");
    device.streams.erase(handle);
    return ACL_SUCCESS;
}

aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus *status) {
    if (status == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery", "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    if (device.findStream(handle) == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamQuery", "no such stream");
    *status = ACL_STREAM_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream handle, int32_t *streamId) {
    if (streamId == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId", "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    const Stream *stream = device.findStream(handle);
    if (stream == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamGetId", "no such stream");
    *streamId = stream->id;
    return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) {
    if (stream == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetCurrentDefaultStream", "null pointer");
    *stream = skrules_host_default_stream(currentDevice());
    return ACL_SUCCESS;
}

// What was submitted before has run already; what a wait does is to draw a stream into a capture.
aclError aclrtStreamWaitEvent(aclrtStream handle, aclrtEvent eventHandle) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    Stream *stream = device.findStream(handle);
    const Event *event = device.findEvent(eventHandle);
    if (stream == nullptr || event == nullptr) {
        return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamWaitEvent", "no such %s", stream == nullptr ? "stream" : "event");
    }
    const std::shared_ptr<Capture> capture = event->capture.lock();
    if (capture == nullptr || capture == stream->capture) return ACL_SUCCESS;
    if (stream->capture != nullptr) {
        return refuse(ACL_ERROR_STREAM_CAPTURE_CONFLICT, "aclrtStreamWaitEvent", "the stream belongs to another capture");
    }
    if (stream->isDefault()) {
        return refuse(ACL_ERROR_INVALID_PARAM, "aclrtStreamWaitEvent", "the default stream cannot be captured");
    }
    stream->capture = capture;
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    if (timeout < -1) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtStreamWaitEventWithTimeout", "timeout %d", timeout);
    return aclrtStreamWaitEvent(stream, event);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) {
    if (event == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent", "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    auto created = std::make_unique<Event>();
    *event = created.get();
    device.events[*event] = std::move(created);
    return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event) { return aclrtCreateEventWithFlag(event, 0); }
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) { return aclrtCreateEventWithFlag(event, flag); }

aclError aclrtDestroyEvent(aclrtEvent event) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    if (device.events.erase(event) == 0) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyEvent", "no such event");
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent eventHandle, aclrtStream handle) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    const Stream *stream = device.findStream(handle);
    Event *event = device.findEvent(eventHandle);
    if (stream == nullptr || event == nullptr) {
        return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtRecordEvent", "no such %s", stream == nullptr ? "stream" : "event");
    }
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    event->capture = stream->capture;
    return ACL_SUCCESS;
}

aclError aclrtResetEvent(aclrtEvent handle, aclrtStream stream) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    Event *event = device.findEvent(handle);
    if (event == nullptr || device.findStream(stream) == nullptr) {
        return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtResetEvent", "no such %s", event == nullptr ? "event" : "stream");
    }
    *event = Event();
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus *status) {
    if (status == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus", "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    const Event *event = device.findEvent(handle);
    if (event == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtQueryEventStatus", "no such event");
    *status = event->recorded ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent handle) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    if (device.findEvent(handle) == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtSynchronizeEvent", "no such event");
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    if (ms == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime", "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    const Event *start = device.findEvent(startEvent), *end = device.findEvent(endEvent);
    if (start == nullptr || end == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtEventElapsedTime", "no such event");
    if (!start->recorded || !end->recorded) {
        return refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "aclrtEventElapsedTime", "an event was not recorded");
    }
    *ms = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return ACL_SUCCESS;
}

}  // extern "C"
