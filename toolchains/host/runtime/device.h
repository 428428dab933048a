// The emulated devices: streams, events, captured models, and the errors that wait to be asked for. Launches run when they
// are submitted, so a stream is a place where errors and captures are kept. The devices are alike and share the host's memory,
// but a kernel on one of them may not touch what was allocated on another.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model.h"

namespace skhost {

struct Stream;

// Between aclmdlRICaptureBegin and aclmdlRICaptureEnd. Streams that wait for an event of the capture join it.
struct Capture {
    Stream *origin = nullptr;
    std::unique_ptr<Model> model = std::make_unique<Model>();
    std::vector<Scope> scopes;
    bool broken = false;  // something wrong was submitted
};

struct Stream {
    int id = 0;  // 0: the default stream of its device
    int device = 0;
    std::string error;  // of the first launch that failed since the stream was last synchronised
    std::shared_ptr<Capture> capture;
    bool isDefault() const { return id == 0; }
};

struct Event {
    std::chrono::steady_clock::time_point time;
    bool recorded = false;
    std::weak_ptr<Capture> capture;
};

constexpr int kMaxDevices = 16;

class Device {
  public:
    Device();
    static Device &instance();

    std::mutex lock;  // guards all below
    Stream defaultStreams[kMaxDevices];
    std::map<void *, std::unique_ptr<Stream>> streams;
    std::map<void *, std::unique_ptr<Event>> events;
    std::map<void *, std::shared_ptr<Model>> models;
    std::map<void *, int> contexts;  // the device of each
    int nextStream = 1;
    bool initialized = false;

    // nullptr: there is no such stream. A null handle is the default stream of the thread's current device. The lock is held.
    Stream *findStream(void *handle);
    Event *findEvent(void *handle);
    std::shared_ptr<Model> findModel(void *handle);
};

// SKRULES_HOST_DEVICES, without it 2: code that takes device 0 for granted must be able to fail. 0: it is none of 1..kMaxDevices.
int deviceCount();
// Of this thread; 0 until it chooses another one.
int currentDevice();

// The text of aclGetRecentErrMsg on this thread.
void rememberError(const std::string &text);
const char *recentError();
// A launch on this stream went wrong: printed, remembered, and returned by the next synchronisation.
void reportLaunchError(void *stream, const std::string &text);

// Runs a node on a stream or records it in the stream's capture. False: there is no such stream.
bool submitNode(void *stream, Node node);

}  // namespace skhost
