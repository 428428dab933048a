// The one emulated device: streams, events, captured models, and the errors that wait to be asked for. Launches run when
// they are submitted, so a stream is a place where errors and captures are kept.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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
    int id = 0;
    std::string error;  // of the first launch that failed since the stream was last synchronised
    std::shared_ptr<Capture> capture;
};

struct Event {
    std::chrono::steady_clock::time_point time;
    bool recorded = false;
    std::weak_ptr<Capture> capture;
};

class Device {
  public:
    static Device &instance();

    std::mutex lock;  // guards all below
    Stream defaultStream;
    std::map<void *, std::unique_ptr<Stream>> streams;
    std::map<void *, std::unique_ptr<Event>> events;
    std::map<void *, std::shared_ptr<Model>> models;
    std::set<void *> contexts;
    int nextStream = 1;
    bool initialized = false;

    // nullptr: there is no such stream. A null handle is the default stream. The lock is held.
    Stream *findStream(void *handle);
    Event *findEvent(void *handle);
    std::shared_ptr<Model> findModel(void *handle);
};

// The text of aclGetRecentErrMsg on this thread.
void rememberError(const std::string &text);
const char *recentError();
// A launch on this stream went wrong: printed, remembered, and returned by the next synchronisation.
void reportLaunchError(void *stream, const std::string &text);

// Runs a node on a stream or records it in the stream's capture. False: there is no such stream.
bool submitNode(void *stream, Node node);

}  // namespace skhost
