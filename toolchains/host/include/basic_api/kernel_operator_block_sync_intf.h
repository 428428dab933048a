// The emulated device API is one header.
#pragma once

#include "kernel_operator.h"
