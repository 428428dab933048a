#include <cstdio>
#include <cstring>

#include "acl_call.h"
#include "device.h"
#include "fusion.h"
#include "message.h"
#include "super_kernel/super_kernel.h"

using namespace skhost;

namespace {

constexpr size_t kMaxScopeName = 255;
constexpr const char *kUnfusibleScope = "default_sk_scope_name";  // what the public runtime calls a scope without a name

// The capture of a stream with the lock held; sets `code` when there is no such stream.
Capture *captureOf(Device &device, aclrtStream handle, const char *call, aclError &code) {
    const Stream *stream = device.findStream(handle);
    code = stream == nullptr ? refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such stream") : ACL_SUCCESS;
    return stream == nullptr ? nullptr : stream->capture.get();
}

aclError checkScopeName(const char *call, const char *name) {
    if (name == nullptr) return ACL_SUCCESS;
    if (*name == '\0') return refuse(ACL_ERROR_INVALID_PARAM, call, "the name is empty");
    if (std::strlen(name) > kMaxScopeName)
        return refuse(ACL_ERROR_INVALID_PARAM, call, "the name has more than %zu bytes", kMaxScopeName);
    return ACL_SUCCESS;
}

aclError readOptions(const aclskOptions *given, OptimizeOptions &options) {
    const char *call = "aclskOptimize";
    if (given == nullptr) return ACL_SUCCESS;
    if (given->options == nullptr && given->numOptions > 0) return refuse(ACL_ERROR_INVALID_PARAM, call, "options is null");
    for (size_t i = 0; i < given->numOptions; ++i) {
        const aclskOption &option = given->options[i];
        if (option.optionType >= aclskOptionType::SK_OPTION_MAX) {
            return refuse(ACL_ERROR_INVALID_PARAM, call, "option type %u is unknown", static_cast<unsigned>(option.optionType));
        }
        if (option.optionType == aclskOptionType::SPLIT_MODE) {
            options.splits = option.splitMode.splitCnt;
            if (options.splits < 1 || options.splits > kMaxSplits) {
                return refuse(ACL_ERROR_INVALID_PARAM, call, "SPLIT_MODE %u is none of 1..%d", options.splits, kMaxSplits);
            }
        } else if (option.optionType == aclskOptionType::DEBUG_SYNC_ALL) {
            options.syncAll = option.debugSync.debugSyncAll != 0;
        } else if (option.optionType == aclskOptionType::KERNEL_MAP ||
                   option.optionType == aclskOptionType::DEBUG_PER_OP_MAX_CORE_NUM) {
            return refuse(ACL_ERROR_FEATURE_UNSUPPORTED, call, "option type %u is not emulated",
                          static_cast<unsigned>(option.optionType));
        }
    }
    return ACL_SUCCESS;
}

std::shared_ptr<Model> lockedModel(aclmdlRI handle) {
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    return device.findModel(handle);
}

}  // namespace

extern "C" {

aclError aclmdlRICaptureBegin(aclrtStream handle, aclmdlRICaptureMode mode) {
    const char *call = "aclmdlRICaptureBegin";
    if (mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
        return refuse(ACL_ERROR_INVALID_PARAM, call, "mode %d is none of 0..2", static_cast<int>(mode));
    }
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    Stream *stream = device.findStream(handle);
    if (stream == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such stream");
    if (stream->isDefault()) return refuse(ACL_ERROR_INVALID_PARAM, call, "the default stream cannot be captured");
    if (stream->capture != nullptr) return refuse(ACL_ERROR_RT_STREAM_CAPTURED, call, "the stream is being captured already");
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureGetInfo(aclrtStream handle, aclmdlRICaptureStatus *status, aclmdlRI *modelRI) {
    const char *call = "aclmdlRICaptureGetInfo";
    if (status == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, call, "null pointer");
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    aclError code = ACL_SUCCESS;
    const Capture *capture = captureOf(device, handle, call, code);
    if (code != ACL_SUCCESS) return code;
    *status = capture == nullptr ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
              : capture->broken  ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                 : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    if (modelRI != nullptr) *modelRI = capture == nullptr ? nullptr : capture->model.get();
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream handle, aclmdlRI *modelRI) {
    const char *call = "aclmdlRICaptureEnd";
    if (modelRI == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, call, "null pointer");
    *modelRI = nullptr;
    Device &device = Device::instance();
    std::shared_ptr<Capture> capture;  // dropped after the lock: what it holds may take its time, and locks of others
    const std::lock_guard<std::mutex> lock(device.lock);
    Stream *stream = device.findStream(handle);
    if (stream == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such stream");
    capture = stream->capture;
    if (capture == nullptr) return refuse(ACL_ERROR_RT_STREAM_NOT_CAPTURED, call, "the stream is not being captured");
    if (capture->origin != stream)
        return refuse(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, call, "the capture began on another stream");
    for (auto &[other, joined] : device.streams) {
        if (joined->capture == capture) joined->capture = nullptr;
    }
    if (capture->broken) return refuse(ACL_ERROR_RT_STREAM_UNJOINED, call, "a launch of the capture was refused");
    for (const Scope &scope : capture->scopes) printWarning("aclskScopeBegin", "", "scope " + scope.name + " was never ended");
    *modelRI = capture->model.get();
    device.models[*modelRI] = std::move(capture->model);
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
    if (mode == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureThreadExchangeMode", "null pointer");
    static thread_local aclmdlRICaptureMode current = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    std::swap(*mode, current);
    return ACL_SUCCESS;
}

aclError aclmdlRIExecuteAsync(aclmdlRI handle, aclrtStream streamHandle) {
    const char *call = "aclmdlRIExecuteAsync";
    const std::shared_ptr<Model> model = lockedModel(handle);
    if (model == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such model");
    {
        Device &device = Device::instance();
        const std::lock_guard<std::mutex> lock(device.lock);
        aclError code = ACL_SUCCESS;
        const Capture *capture = captureOf(device, streamHandle, call, code);
        if (code != ACL_SUCCESS) return code;
        if (capture != nullptr) return refuse(ACL_ERROR_RT_STREAM_CAPTURED, call, "the stream is being captured");
    }
    const std::string error = executeModel(*model);
    if (!error.empty()) reportLaunchError(streamHandle, error);
    return ACL_SUCCESS;
}

aclError aclmdlRIExecute(aclmdlRI handle, int32_t timeout) {
    const char *call = "aclmdlRIExecute";
    if (timeout < -1) return refuse(ACL_ERROR_INVALID_PARAM, call, "timeout %d", timeout);
    const std::shared_ptr<Model> model = lockedModel(handle);
    if (model == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such model");
    const std::string error = executeModel(*model);
    if (error.empty()) return ACL_SUCCESS;
    printError(error);
    rememberError(error);
    setLastError(ACL_ERROR_RT_AICORE_EXCEPTION);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

aclError aclmdlRIDestroy(aclmdlRI handle) {
    Device &device = Device::instance();
    std::shared_ptr<Model> model;  // dropped after the lock
    const std::lock_guard<std::mutex> lock(device.lock);
    model = device.findModel(handle);
    if (device.models.erase(handle) == 0) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIDestroy", "no such model");
    return ACL_SUCCESS;
}

aclError aclmdlRIDebugPrint(aclmdlRI handle) {
    const char *report = skrules_host_sk_report(handle);
    if (report == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIDebugPrint", "no such model");
    std::printf("%s\n", report);
    return ACL_SUCCESS;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI handle, const char *path, uint32_t) {
    const char *call = "aclmdlRIDebugJsonPrint";
    if (path == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, call, "null pointer");
    const char *report = skrules_host_sk_report(handle);
    if (report == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "no such model");
    std::FILE *file = std::fopen(path, "w");
    if (file == nullptr) return refuse(ACL_ERROR_RT_PARAM_INVALID, call, "%s cannot be written", path);
    const bool written = std::fprintf(file, "%s\n", report) > 0;
    return std::fclose(file) == 0 && written ? ACL_SUCCESS : refuse(ACL_ERROR_INTERNAL_ERROR, call, "%s cannot be written", path);
}

aclError aclskOptimize(aclmdlRI handle, aclskOptions *given) {
    const std::shared_ptr<Model> model = lockedModel(handle);
    if (model == nullptr) return refuse(ACL_ERROR_INVALID_PARAM, "aclskOptimize", "no such model");
    if (model->nodes.empty()) return refuse(ACL_ERROR_FAILURE, "aclskOptimize", "nothing was captured");
    OptimizeOptions options;
    if (const aclError code = readOptions(given, options); code != ACL_SUCCESS) return code;
    const std::string error = optimizeModel(*model, options);
    return error.empty() ? ACL_SUCCESS : refuse(ACL_ERROR_FAILURE, "aclskOptimize", "%s", error.c_str());
}

aclError aclskScopeBegin(const char *scopeName, aclrtStream stream) {
    const char *call = "aclskScopeBegin";
    if (const aclError code = checkScopeName(call, scopeName); code != ACL_SUCCESS) return code;
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    aclError code = ACL_SUCCESS;
    Capture *capture = captureOf(device, stream, call, code);
    if (capture == nullptr) return code;  // outside of a capture a scope has no meaning and does no harm
    capture->scopes.push_back({scopeName == nullptr ? kUnfusibleScope : scopeName, scopeName != nullptr});
    // Only scopes with a name keep the rest of the graph out.
    capture->model->hasScopes = capture->model->hasScopes || scopeName != nullptr;
    return ACL_SUCCESS;
}

aclError aclskScopeEnd(const char *scopeName, aclrtStream stream) {
    const char *call = "aclskScopeEnd";
    if (const aclError code = checkScopeName(call, scopeName); code != ACL_SUCCESS) return code;
    Device &device = Device::instance();
    const std::lock_guard<std::mutex> lock(device.lock);
    aclError code = ACL_SUCCESS;
    Capture *capture = captureOf(device, stream, call, code);
    if (capture == nullptr) return code;
    const std::string name = scopeName == nullptr ? kUnfusibleScope : scopeName;
    for (auto scope = capture->scopes.rbegin(); scope != capture->scopes.rend(); ++scope) {
        if (scope->name != name) continue;
        capture->scopes.erase(std::next(scope).base());
        return ACL_SUCCESS;
    }
    return refuse(ACL_ERROR_INVALID_PARAM, call, "scope %s was not begun", name.c_str());
}

const char *skrules_host_sk_report(aclmdlRI handle) {
    const std::shared_ptr<Model> model = lockedModel(handle);
    return model == nullptr ? nullptr : reportModel(*model);
}

}  // extern "C"
