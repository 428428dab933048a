// How an ACL function refuses: the code goes to the caller, the reason to aclGetRecentErrMsg.
#pragma once

#include "acl/acl_rt.h"

namespace skhost {

// Remembers "<call>: <reason>" and the code, and returns the code.
aclError refuse(aclError code, const char *call, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Remembers the code of a launch that failed, for aclrtGetLastError.
void setLastError(aclError code);
aclError lastError(bool clear);

// Refuses a device that there is not, and every device while the environment describes none.
aclError checkDevice(const char *call, int64_t device);

}  // namespace skhost
