// What SK_BIND has said: kernel address -> SK twins.
#pragma once

#include <string>

#include "skrules_host/sk.h"

namespace skhost {

struct BoundTwins {
    bool found = false;
    bool conflict = false;  // bound more than once, and differently
    std::string mismatch;   // how the Args struct differs from the argument block; empty: it does not
    TwinThunk entries[kMaxSplits] = {};
};
BoundTwins findTwins(Function kernel);

}  // namespace skhost
