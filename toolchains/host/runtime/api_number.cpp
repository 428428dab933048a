// Wide conversions between half and float; with F16C where the processor has it.
#include "api_number.h"

#include <immintrin.h>

namespace skhost {
namespace {

__attribute__((target("avx,f16c"))) size_t widenFast(float *to, const half *from, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i))));
    return i;
}
__attribute__((target("avx,f16c"))) size_t narrowFast(half *to, const float *from, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    return i;
}
const bool kFast = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");

}  // namespace

void halfToFloat(float *to, const half *from, size_t count) {
    for (size_t i = kFast ? widenFast(to, from, count) : 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}
void floatToHalf(half *to, const float *from, size_t count) {
    for (size_t i = kFast ? narrowFast(to, from, count) : 0; i < count; ++i) to[i] = static_cast<half>(from[i]);
}

const char *typeName(DType type) {
    static const char *const names[kDTypes] = {"int4b_t", "int8_t",   "uint8_t", "int16_t",    "uint16_t", "int32_t", "uint32_t",
                                               "int64_t", "uint64_t", "half",    "bfloat16_t", "float",    "double",  "struct"};
    return names[static_cast<int>(type)];
}

}  // namespace skhost
