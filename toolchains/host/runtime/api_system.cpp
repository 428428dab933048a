// Masks, printing and other odds and ends of a core.
#include <chrono>
#include <cstdarg>
#include <cstdio>

#include "api_number.h"
#include "skrules_host/api/system.h"

namespace skhost {

void setMaskCount(uint64_t lanes) {
    Core &core = self();
    if (core.counterMode) {
        core.mask[0] = lanes;
        core.mask[1] = 0;
        return;
    }
    core.mask[0] = lanes >= 64 ? ~0ull : (1ull << lanes) - 1;
    core.mask[1] = lanes >= 128 ? ~0ull : lanes > 64 ? (1ull << (lanes - 64)) - 1 : 0;
}

void trap() { fail("Trap()"); }

int64_t cycles() {  // 50 MHz, the system counter of the device
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count() / 20;
}

void print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
}

void dump(const LocalView *view, const void *global, DType type, uint64_t elements, uint32_t description) {
    const char *api = "DumpTensor";
    const uint64_t bytes = elements * elementBits(type) / 8;
    const uint8_t *data = static_cast<const uint8_t *>(global);
    if (view)
        data = reach(*view, 0, bytes, {api, "tensor", PIPE_S, false, 1, kAnyLocal});
    else
        checkGlobal(global, bytes, api, "tensor");
    std::printf("DumpTensor: desc=%u, block=%d, position=%s, data_type=%s, elements=%llu\n[", description, self().blockIndex,
                view ? memoryName(view->memory) : "GM", typeName(type), static_cast<unsigned long long>(elements));
    withNumber(type, [&](auto zero) {
        using T = decltype(zero);
        for (uint64_t i = 0; i < elements; ++i) {
            T value;
            std::memcpy(&value, data + i * sizeof(T), sizeof(T));
            std::printf("%s%.6g", i ? ", " : "", static_cast<double>(static_cast<typename Lane<T>::Type>(value)));
        }
    });
    std::printf("]\n");
}

}  // namespace skhost
