#include "message.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>

#include "options.h"
#include "scheduler.h"

namespace skhost {

namespace {

std::string format(const char *pattern, va_list values) {
    char text[2048];
    std::vsnprintf(text, sizeof(text), pattern, values);
    return text;
}

std::string kernelName() {
    const EmulatedCore *core = runningCore();
    if (core == nullptr) return "host";
    std::string name = Scheduler::current()->plan().name;
    if (core->task != nullptr) name += std::string(":") + core->task;
    return name;
}

std::mutex &warningLock() {
    static std::mutex lock;
    return lock;
}

std::set<std::string> &warningsSaid() {
    static std::set<std::string> said;
    return said;
}

}  // namespace

std::string describeCore() {
    const EmulatedCore *core = runningCore();
    if (core == nullptr) return "";
    return "[" + kernelName() + (core->isCube() ? " AIC" : " AIV") + " block " + std::to_string(core->blockIndex) + "." +
           std::to_string(core->subIndex) + " (GetBlockIdx=" + std::to_string(core->logicalIndex) + ")] ";
}

void printError(const std::string &text) { std::fprintf(stderr, "skrules-host: error: %s\n", text.c_str()); }

void printWarning(const std::string &kernel, const std::string &place, const std::string &text) {
    const std::lock_guard<std::mutex> lock(warningLock());
    if (!warningsSaid().insert(kernel + "\n" + text).second) return;
    std::fprintf(stderr, "skrules-host: warning: %s%s\n", place.c_str(), text.c_str());
}

void fail(const char *pattern, ...) {
    va_list values;
    va_start(values, pattern);
    const std::string text = format(pattern, values);
    va_end(values);
    EmulatedCore *core = runningCore();
    if (core == nullptr) throw std::runtime_error(text);
    Scheduler::current()->abandon(*core, describeCore() + text);
}

void warn(const char *pattern, ...) {
    va_list values;
    va_start(values, pattern);
    const std::string text = format(pattern, values);
    va_end(values);
    if (options().strict && g_core != nullptr) fail("%s (SKRULES_HOST_STRICT)", text.c_str());
    printWarning(kernelName(), describeCore(), text);
}

}  // namespace skhost

extern "C" unsigned long skrules_host_warning_count() {
    const std::lock_guard<std::mutex> lock(skhost::warningLock());
    return skhost::warningsSaid().size();
}
