// What SK_BIND has said: kernel address -> SK twins.
#pragma once

#include "skrules_host/sk.h"

namespace skhost {

struct BoundTwins {
    bool found = false;
    bool conflict = false;  // bound more than once, and differently
    TwinThunk entries[kMaxSplits] = {};
};
BoundTwins findTwins(Function kernel);

}  // namespace skhost
