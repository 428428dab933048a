#pragma once

#error "lib/matmul_intf.h: the high-level Matmul is not emulated by the host toolchain"
