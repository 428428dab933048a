// The device API, emulated on the CPU. `__NPU_ARCH__` (2201, 3510) selects the emulated arch.
#pragma once

#ifndef __NPU_ARCH__
#error "kernel_operator.h: compile with -D__NPU_ARCH__=<arch>, e.g. 2201 for dav-2201"
#endif

#include "skrules_host/api/compare.h"
#include "skrules_host/api/convert.h"
#include "skrules_host/api/cube.h"
#include "skrules_host/api/data_copy.h"
#include "skrules_host/api/keywords.h"
#include "skrules_host/api/not_emulated.h"
#include "skrules_host/api/permute.h"
#include "skrules_host/api/pipe.h"
#include "skrules_host/api/reduce.h"
#include "skrules_host/api/sync.h"
#include "skrules_host/api/system.h"
#include "skrules_host/api/vector.h"
#include "skrules_host/sk.h"
