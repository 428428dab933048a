#pragma once

#error "kernel_tiling/kernel_tiling.h: the tiling of the high-level API is not emulated by the host toolchain"
