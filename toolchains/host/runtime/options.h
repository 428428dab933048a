// Switches that a person sets in the environment. They are read again at every launch.
#pragma once

namespace skhost {

struct Options {
    bool strict = false;   // SKRULES_HOST_STRICT=1: warnings are errors, on-chip memory is poisoned at every launch
    double timeout = 300;  // SKRULES_HOST_TIMEOUT: seconds of CPU time a launch may take; 0: any
};

const Options &options();
void readOptions();

}  // namespace skhost
