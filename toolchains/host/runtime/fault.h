// While a launch runs, a fault inside a kernel (bad address, division by zero, abort, endless loop) ends the launch with
// a message that names the core, and not the process.
#pragma once

#include <csignal>
#include <ctime>

namespace skhost {

// Installs the handlers on this thread for its lifetime and puts the former ones back.
class FaultGuard {
  public:
    FaultGuard();
    ~FaultGuard();
    FaultGuard(const FaultGuard &) = delete;
    FaultGuard &operator=(const FaultGuard &) = delete;

  private:
    stack_t formerStack_;
    timer_t timer_;
    bool timed_ = false;
};

}  // namespace skhost
