#include "options.h"

#include <cstdlib>
#include <cstring>

#include "skrules_host/core.h"

namespace skhost {

namespace {

Options g_options;

bool isSet(const char *name) {
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace

const Options &options() { return g_options; }

void readOptions() {
    g_raceTracking = isSet("SKRULES_HOST_RACE");
    g_options.strict = isSet("SKRULES_HOST_STRICT");
    const char *timeout = std::getenv("SKRULES_HOST_TIMEOUT");
    g_options.timeout = timeout == nullptr || *timeout == '\0' ? Options().timeout : std::atof(timeout);
}

}  // namespace skhost
