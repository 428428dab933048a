#pragma once

#error "simt_api/asc_simt.h: SIMT is not emulated by the host toolchain"
