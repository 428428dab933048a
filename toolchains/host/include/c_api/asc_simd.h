#pragma once

#error "c_api/asc_simd.h: the C API is not emulated by the host toolchain"
