// What the runtime library has beyond the public ACL, for programs that know they are on the emulation: memory of others,
// the streams that a thread has chosen, and work of the host in a stream.
#pragma once

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Lends memory to all devices until it is unregistered as often as it was registered.
void skrules_host_register_memory(void *address, size_t bytes);
void skrules_host_unregister_memory(void *address);

// The default stream of a device as a handle that means it on every thread, whichever device is current there; a null
// handle is the default stream of the current device. NULL: no such device.
aclrtStream skrules_host_default_stream(int32_t deviceId);
// The stream that this thread has chosen for a device, in the beginning its default stream. NULL: no such device.
aclrtStream skrules_host_current_stream(int32_t deviceId);
// Chooses a stream for its own device; the current device stays as it is.
aclError skrules_host_set_current_stream(aclrtStream stream);

// Runs work of the host in a stream, or records it when the stream is being captured; then it runs with every execution of
// the model. `run` returns why it failed, or NULL. `drop` is called once, when `context` is no longer needed, and after an
// error too.
typedef const char *(*skrules_host_work)(void *context);
aclError skrules_host_submit(aclrtStream stream, const char *name, skrules_host_work run, void (*drop)(void *), void *context);

#ifdef __cplusplus
}
#endif
