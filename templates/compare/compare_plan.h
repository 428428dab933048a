// The plan of a comparison: which cases to run on which data, as written by skrules.compare.plan. Plain C++.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace skrules {

using Bytes = std::vector<uint8_t>;

enum class Use { IN, OUT, INOUT, WORKSPACE, VALUE, NONE };

struct PlanArgument {
    std::string name;
    Use use = Use::NONE;
    uint64_t bytes = 0;  // of a tensor
    std::string file;    // initial content of a tensor, "" for the sentinel
    Bytes value;         // of a scalar or struct
};

struct PlanCase {
    std::string name;
    std::string entry;
    uint32_t blocks = 0;  // 0: all cores
    std::vector<PlanArgument> arguments;
};

inline Bytes readFile(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

inline void writeFile(const std::string &path, const Bytes &bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

inline Bytes parseHex(const std::string &text) {
    Bytes bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

inline Use parseUse(const std::string &word) {
    if (word == "in") return Use::IN;
    if (word == "out") return Use::OUT;
    if (word == "inout") return Use::INOUT;
    if (word == "workspace") return Use::WORKSPACE;
    throw std::runtime_error("plan: unknown use of a tensor: " + word);
}

inline std::vector<PlanCase> readPlan(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != "skrules-plan 1") throw std::runtime_error(path + " is not a plan of this version");
    std::vector<PlanCase> cases;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "case") {
            cases.emplace_back();
            words >> cases.back().name >> cases.back().entry >> cases.back().blocks;
        } else if (kind != "end" && !kind.empty()) {
            if (cases.empty()) throw std::runtime_error("plan: an argument before the first case");
            PlanArgument argument;
            std::string word;
            words >> argument.name;
            if (kind == "tensor") {
                words >> argument.bytes >> word >> argument.file;
                argument.use = parseUse(word);
                if (argument.file == "-") argument.file.clear();
            } else if (kind == "scalar" || kind == "struct") {
                words >> word;
                argument.use = Use::VALUE;
                argument.value = parseHex(word);
            } else if (kind != "null") {
                throw std::runtime_error("plan: unknown line: " + line);
            }
            if (!words) throw std::runtime_error("plan: incomplete line: " + line);
            cases.back().arguments.push_back(argument);
        }
    }
    return cases;
}

inline std::string quoteJson(const std::string &text) {
    std::string quoted = "\"";
    for (char c : text) {
        char escape[8];
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            quoted += escape;
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

}  // namespace skrules
