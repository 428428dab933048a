// What public programs include. They count on it for the standard streams too, and kernel files for the device API.
#pragma once

#include "acl_rt.h"

#ifdef __cplusplus
#include <fstream>
#include <iostream>
#include <string>
#if defined(__NPU_ARCH__) && __has_include("kernel_operator.h")
#include "kernel_operator.h"
#endif
#endif
