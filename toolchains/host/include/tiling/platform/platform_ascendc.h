#pragma once

#error "tiling/platform/platform_ascendc.h: the platform query of the tiling library is not emulated by the host toolchain"
