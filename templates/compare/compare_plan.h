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

#include "skrules_wrapper.h"

namespace skrules {

using Bytes = std::vector<uint8_t>;

enum class Use { IN, OUT, INOUT, WORKSPACE };

struct PlanTensor {
    Use use = Use::IN;
    uint64_t bytes = 0;
    std::string file;  // initial content, "" for the sentinel
    uint32_t dtype = SKRULES_DTYPE_OTHER;
    std::vector<int64_t> dims;
};

struct PlanArgument {
    enum class Kind { TENSOR, LIST, VALUE, NONE };
    std::string name;
    Kind kind = Kind::NONE;
    std::vector<PlanTensor> tensors;  // one of a tensor, any number of a list
    Bytes value;                      // of a scalar or struct

    // What the files of a tensor are called by: "x", or "xs[2]" in a list.
    std::string label(size_t index) const { return kind == Kind::LIST ? name + "[" + std::to_string(index) + "]" : name; }
};

struct PlanCase {
    std::string name;
    std::string entry;
    uint32_t blocks = 0;       // 0: all cores
    uint32_t superBlocks = 0;  // of the super kernel, 0: not decided
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
    for (size_t i = 0; i + 1 < text.size(); i += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

inline Use parseUse(const std::string &word) {
    if (word == "in") return Use::IN;
    if (word == "out") return Use::OUT;
    if (word == "inout") return Use::INOUT;
    if (word == "workspace") return Use::WORKSPACE;
    throw std::runtime_error("plan: unknown use of a tensor: " + word);
}

// "2x3" are two dimensions, "-" is none.
inline std::vector<int64_t> parseDims(const std::string &word) {
    std::vector<int64_t> dims;
    std::istringstream parts(word == "-" ? "" : word);
    for (std::string part; std::getline(parts, part, 'x');) dims.push_back(std::stoll(part));
    return dims;
}

inline PlanTensor parseTensor(std::istream &words) {
    PlanTensor tensor;
    std::string use, dims;
    words >> tensor.bytes >> use >> tensor.file >> tensor.dtype >> dims;
    if (!words) return tensor;  // the caller says that the line is incomplete
    tensor.use = parseUse(use);
    if (tensor.file == "-") tensor.file.clear();
    tensor.dims = parseDims(dims);
    return tensor;
}

class PlanReader {
  public:
    std::vector<PlanCase> read(std::istream &file) {
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string kind;
            words >> kind;
            if (items_ != 0 && kind != "item") throw std::runtime_error("plan: a list is too short before: " + line);
            if (kind.empty() || kind == "end") continue;
            if (kind == "case") {
                cases_.emplace_back();
                words >> cases_.back().name >> cases_.back().entry >> cases_.back().blocks;
            } else if (kind == "super" && !cases_.empty()) {
                words >> cases_.back().superBlocks;
            } else {
                readArgument(kind, words, line);
            }
            if (!words) throw std::runtime_error("plan: incomplete line: " + line);
        }
        if (items_ != 0) throw std::runtime_error("plan: a list is too short at the end");
        return std::move(cases_);
    }

  private:
    void readArgument(const std::string &kind, std::istream &words, const std::string &line) {
        if (cases_.empty()) throw std::runtime_error("plan: an argument before the first case");
        std::vector<PlanArgument> &arguments = cases_.back().arguments;
        if (kind == "item") {
            if (items_ == 0) throw std::runtime_error("plan: a list is too long: " + line);
            --items_;
            arguments.back().tensors.push_back(parseTensor(words));
            return;
        }
        PlanArgument argument;
        words >> argument.name;
        if (kind == "tensor") {
            argument.kind = PlanArgument::Kind::TENSOR;
            argument.tensors.push_back(parseTensor(words));
        } else if (kind == "list") {
            argument.kind = PlanArgument::Kind::LIST;
            words >> items_;
        } else if (kind == "scalar" || kind == "struct") {
            std::string word;
            words >> word;
            argument.kind = PlanArgument::Kind::VALUE;
            argument.value = parseHex(word);
        } else if (kind != "null") {
            throw std::runtime_error("plan: unknown line: " + line);
        }
        arguments.push_back(argument);
    }

    std::vector<PlanCase> cases_;
    size_t items_ = 0;  // that the list read last still waits for
};

inline std::vector<PlanCase> readPlan(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != "skrules-plan 2") throw std::runtime_error(path + " is not a plan of this version");
    return PlanReader().read(file);
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
