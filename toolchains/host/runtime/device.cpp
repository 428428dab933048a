#include "device.h"

#include <utility>

#include "message.h"
#include "scheduler.h"

namespace skhost {

namespace {

thread_local std::string t_recentError;

constexpr uint32_t kMaxBlocks = 65535;

// What is wrong with a launch before anything runs; empty: nothing.
std::string refuseLaunch(const LaunchConfig &config, const KernelInfo &kernel, Function function) {
    const std::string name = kernel.name == nullptr ? "a kernel" : kernel.name;
    if (g_core != nullptr) return name + ": a kernel cannot launch a kernel";
    if (kernel.name == nullptr || function == nullptr) return name + ": the function is null";
    if (config.blocks == 0) return name + ": launch with 0 blocks";
    if (config.blocks > kMaxBlocks) return name + ": the number of blocks is none of 1.." + std::to_string(kMaxBlocks);
    const bool cores = (kernel.aic == 0 && kernel.aiv == 1) || (kernel.aic == 1 && kernel.aiv >= 0 && kernel.aiv <= 2);
    if (!cores)
        return name + ": " + std::to_string(kernel.aic) + " AIC and " + std::to_string(kernel.aiv) +
               " AIV cores a block are no kernel type";
    if (findArch(kernel.arch) == nullptr)
        return name + ": it was compiled for arch " + std::to_string(kernel.arch) + ", which is not in the arch table";
    return "";
}

}  // namespace

Device::Device() {
    for (int index = 0; index < kMaxDevices; ++index) defaultStreams[index].device = index;
}

Device &Device::instance() {
    // Never destroyed: launches may come from destructors of other modules.
    static auto *device = new Device;
    return *device;
}

Stream *Device::findStream(void *handle) {
    if (handle == nullptr) return &defaultStreams[currentDevice()];
    for (Stream &stream : defaultStreams) {
        if (handle == &stream) return &stream;
    }
    const auto found = streams.find(handle);
    return found == streams.end() ? nullptr : found->second.get();
}

Event *Device::findEvent(void *handle) {
    const auto found = events.find(handle);
    return found == events.end() ? nullptr : found->second.get();
}

std::shared_ptr<Model> Device::findModel(void *handle) {
    const auto found = models.find(handle);
    return found == models.end() ? nullptr : found->second;
}

void rememberError(const std::string &text) { t_recentError = text; }

const char *recentError() { return t_recentError.empty() ? nullptr : t_recentError.c_str(); }

void reportLaunchError(void *handle, const std::string &text) {
    printError(text);
    rememberError(text);
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    Stream *stream = device.findStream(handle);
    if (stream == nullptr) stream = &device.defaultStreams[currentDevice()];
    if (stream->error.empty()) stream->error = text;
    if (stream->capture != nullptr) stream->capture->broken = true;
}

bool submitNode(void *handle, Node node) {
    Device &device = Device::instance();
    {
        const std::lock_guard<std::mutex> lock(device.lock);
        const Stream *stream = device.findStream(handle);
        if (stream == nullptr) return false;
        node.device = stream->device;
        if (stream->capture != nullptr) {
            node.scopes = stream->capture->scopes;
            stream->capture->model->nodes.push_back(std::move(node));
            return true;
        }
    }
    const std::string error = runNode(node);
    if (!error.empty()) reportLaunchError(handle, error);
    return true;
}

void submit(const LaunchConfig &config, const KernelInfo &kernel, Function function, Invoker invoker, const uint8_t *arguments,
            size_t bytes) {
    const std::string error = refuseLaunch(config, kernel, function);
    if (!error.empty()) {
        if (g_core != nullptr) fail("%s", error.c_str());
        reportLaunchError(config.stream, error);
        return;
    }
    Node node;
    node.name = kernel.name;
    node.aic = kernel.aic;
    node.aiv = kernel.aiv;
    node.blocks = config.blocks;
    node.arch = findArch(kernel.arch);
    node.function = function;
    node.invoker = invoker;
    node.arguments = ArgumentBlock(arguments, bytes);
    if (!submitNode(config.stream, std::move(node))) {
        reportLaunchError(config.stream, std::string(kernel.name) + ": launch on a stream that does not exist");
    }
}

}  // namespace skhost
