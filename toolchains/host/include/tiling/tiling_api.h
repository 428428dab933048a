#pragma once

#error "tiling/tiling_api.h: the tiling library of the high-level API is not emulated by the host toolchain"
