// As much of a device language as launchers need, in plain C++: kernels are functions that run on the spot.
#pragma once

#include <cstdint>
#include <cstring>

#define __gm__
#define GM_ADDR uint8_t *

struct half {
    uint16_t bits;
};
struct bfloat16_t {
    uint16_t bits;
};

extern "C" {
void stub_launch(uint32_t blocks, void *stream);  // in place of <<<blocks, nullptr, stream>>>
void stub_fail(const char *reason);
}
