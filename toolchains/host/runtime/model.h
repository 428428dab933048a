// A captured graph (aclmdlRI): launches in the order of capture, and how to execute them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cores.h"
#include "skrules_host/launch.h"

namespace skhost {

// The argument block of a launch, aligned for whatever an Args struct contains.
class ArgumentBlock {
  public:
    ArgumentBlock() = default;
    ArgumentBlock(const uint8_t *bytes, size_t count);
    const uint8_t *data() const { return reinterpret_cast<const uint8_t *>(lines_.data()); }

  private:
    struct alignas(64) Line {
        uint8_t bytes[64];
    };
    std::vector<Line> lines_;
};

struct Scope {
    std::string name;
    bool fusible;
};

struct Node {
    std::string name;
    std::vector<Scope> scopes;  // outermost first
    int device = 0;

    // A kernel, ...
    int aic = 0, aiv = 0;
    uint32_t blocks = 0;
    const ArchSpec *arch = nullptr;
    Function function = nullptr;
    Invoker invoker = nullptr;
    ArgumentBlock arguments;
    // ... or work of the host, such as a copy of memory: returns the error, empty: none.
    std::function<std::string()> work;

    // Decided by aclskOptimize.
    std::string reason = "NOT_OPTIMIZED";  // why it runs as a launch of its own; empty: it is part of superKernel
    int superKernel = -1;                  // index in Model::superKernels
    int twinRuns = 0;                      // cores that ran the twin in the last execution

    bool isKernel() const { return function != nullptr; }
    int64_t coresOf(CoreKind kind) const { return static_cast<int64_t>(blocks) * (kind == CoreKind::AIC ? aic : aiv); }
    std::string scopeName() const;  // names joined by "_"; empty: none
};

struct SuperKernel;

struct Model {
    std::vector<Node> nodes;
    std::vector<std::unique_ptr<SuperKernel>> superKernels;
    bool hasScopes = false;
    std::mutex busy;  // one execution at a time
    std::string report;

    Model();
    ~Model();
};

// Runs a kernel as a launch of its own; returns the error, empty: none.
std::string runNode(const Node &node);
// Runs everything in order and stops at the first error.
std::string executeModel(Model &model);
// JSON: [{"kernel", "scope", "fused", "super_kernel", "blocks", "sk_blocks", "reason", "twin_runs"}] in capture order.
const char *reportModel(Model &model);

}  // namespace skhost
