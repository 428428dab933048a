#include "model.h"

#include <cstdio>
#include <cstring>

#include "fusion.h"
#include "scheduler.h"

namespace skhost {

namespace {

void runBody(void *context) {
    const Node &node = *static_cast<const Node *>(context);
    node.invoker(node.function, node.arguments.data());
}

std::string quoted(const std::string &text) {
    std::string json = "\"";
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            json += '\\';
            json += letter;
        } else if (code < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof(escape), "\\u%04x", code);
            json += escape;
        } else {
            json += letter;
        }
    }
    return json + "\"";
}

}  // namespace

ArgumentBlock::ArgumentBlock(const uint8_t *bytes, size_t count) : lines_(count / sizeof(Line) + 1) {
    if (count > 0) std::memcpy(static_cast<void *>(lines_.data()), bytes, count);
}

std::string Node::scopeName() const {
    std::string text;
    for (const Scope &scope : scopes) text += (text.empty() ? "" : "_") + scope.name;
    return text;
}

Model::Model() = default;
Model::~Model() = default;

std::string runNode(const Node &node) {
    if (!node.isKernel()) return node.work();
    return Scheduler::run(
        {node.name.c_str(), node.aic, node.aiv, node.blocks, node.arch, node.device, runBody, const_cast<Node *>(&node)});
}

std::string executeModel(Model &model) {
    const std::lock_guard<std::mutex> lock(model.busy);
    for (Node &node : model.nodes) node.twinRuns = 0;
    int done = -1;
    for (Node &node : model.nodes) {
        if (node.superKernel < 0) {
            if (std::string error = runNode(node); !error.empty()) return error;
        } else if (node.superKernel != done) {
            done = node.superKernel;
            if (std::string error = runSuperKernel(*model.superKernels[done]); !error.empty()) return error;
        }
    }
    return "";
}

const char *reportModel(Model &model) {
    const std::lock_guard<std::mutex> lock(model.busy);
    std::string json = "[";
    for (const Node &node : model.nodes) {
        const SuperKernel *fused = node.superKernel < 0 ? nullptr : model.superKernels[node.superKernel].get();
        json += json.size() > 1 ? ",\n{" : "{";
        json += "\"kernel\":" + quoted(node.name) + ",\"scope\":" + quoted(node.scopeName());
        json += std::string(",\"fused\":") + (fused == nullptr ? "false" : "true");
        json += ",\"super_kernel\":" + quoted(fused == nullptr ? "" : fused->name);
        json += ",\"blocks\":" + std::to_string(node.blocks);
        json += ",\"sk_blocks\":" + std::to_string(fused == nullptr ? 0 : fused->blocks);
        json += ",\"reason\":" + quoted(node.reason) + ",\"twin_runs\":" + std::to_string(node.twinRuns) + "}";
    }
    model.report = json + "]";
    return model.report.c_str();
}

}  // namespace skhost
