// Stands for the host runtime library: the functions that the binding runtime calls, and what the tests ask of it.
#include <cstddef>
#include <cstdint>
#include <string>

namespace {
struct State {
    uint32_t launches = 0;
    uint32_t blocks = 0;
    std::string error;
    bool noDevice = false;
    int captured = 0;        // negative: nobody can tell
    void *stream = nullptr;  // of the last launch
    char streams[4] = {};    // their addresses are the streams of four devices
    int current = 0;
} state;
}  // namespace

extern "C" {
int aclrtGetDeviceInfo(uint32_t, int attribute, int64_t *value) {
    if (state.noDevice) return 107001;
    *value = attribute == 201 ? 48 : attribute == 101 ? 24 : attribute == 601 ? 2201 : 0;
    return 0;
}
int aclrtGetDevice(int32_t *device) {
    *device = state.current;
    return state.current < 0 ? 107002 : 0;
}
int aclrtSynchronizeStream(void *) { return state.error.empty() ? 0 : 507015; }
int aclmdlRICaptureGetInfo(void *, int *status, void **) {
    *status = state.captured > 0;
    return state.captured < 0 ? 107003 : 0;
}
void *skrules_host_current_stream(int32_t device) { return device < 0 || device > 3 ? nullptr : &state.streams[device]; }
const char *aclGetRecentErrMsg() {
    static std::string said;
    said = state.error;
    state.error.clear();
    return said.c_str();
}

void stub_launch(uint32_t blocks, void *stream) {
    state.stream = stream;
    ++state.launches;
    state.blocks = blocks;
}
void stub_fail(const char *reason) { state.error = reason; }
void stub_no_device(int gone) { state.noDevice = gone != 0; }
void stub_capture(int captured) { state.captured = captured; }
void stub_set_device(int device) { state.current = device; }
// The device whose stream the last launch was on.
int stub_device() { return static_cast<int>(static_cast<char *>(state.stream) - state.streams); }
uint32_t stub_launches() { return state.launches; }
uint32_t stub_blocks() { return state.blocks; }
}
