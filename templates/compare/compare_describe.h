// Prints what the descriptor says of the operator as JSON, so that whoever prepares cases knows the resolved types.
#pragma once

#include <cstdio>
#include <string>

#include "compare_plan.h"
#include "skrules_descriptor.h"

namespace skrules {

inline std::string describeParameter(const skrules_parameter &parameter, const skrules_argument &argument) {
    static const char *const kinds[] = {"tensor", "tensor_list", "scalar", "host_struct"};
    static const char *const scalars[] = {"", "signed", "unsigned", "bool", "float", "half", "bfloat16"};
    std::string roles;
    for (const auto &[bit, name] :
         {std::pair<int, const char *>{SKRULES_INPUT, "input"}, {SKRULES_OUTPUT, "output"}, {SKRULES_WORKSPACE, "workspace"}}) {
        if ((parameter.roles & bit) != 0) roles += (roles.empty() ? "" : ",") + quoteJson(name);
    }
    return "{\"name\":" + quoteJson(parameter.name) + ",\"c_type\":" + quoteJson(parameter.c_type) +
           ",\"kind\":" + quoteJson(kinds[parameter.kind]) + ",\"roles\":[" + roles +
           "],\"nullable\":" + (parameter.nullable ? "true" : "false") + ",\"dtype\":" + quoteJson(parameter.dtype) +
           ",\"rank\":" + std::to_string(parameter.rank) + ",\"size\":" + std::to_string(argument.size) +
           ",\"scalar\":" + quoteJson(scalars[argument.scalar]) + "}";
}

inline void describe(const skrules_operator &table) {
    std::string text = "{\"operator\":" + quoteJson(table.name) + ",\"entries\":[";
    for (uint32_t i = 0; i < table.count; ++i) {
        const skrules_entry &entry = table.entries[i];
        text += std::string(i != 0 ? "," : "") + "{\"name\":" + quoteJson(entry.name) + ",\"kernel\":" + quoteJson(entry.kernel) +
                ",\"aic\":" + std::to_string(entry.aic) + ",\"aiv\":" + std::to_string(entry.aiv) +
                ",\"blocks\":" + std::to_string(entry.blocks) +
                ",\"absent\":" + quoteJson(entry.code->absent != nullptr ? entry.code->absent : "") + ",\"parameters\":[";
        for (uint32_t p = 0; p < entry.count; ++p) {
            const skrules_argument unknown{0, 1, SKRULES_NOT_SCALAR};
            const skrules_argument *arguments = entry.code->arguments;
            text += (p != 0 ? "," : "") + describeParameter(entry.parameters[p], arguments != nullptr ? arguments[p] : unknown);
        }
        text += "]}";
    }
    std::printf("%s]}\n", text.c_str());
}

}  // namespace skrules
