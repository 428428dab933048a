// A fiber: a stack and a place to continue. Cores of a launch are fibers on one OS thread, so that scheduling is
// deterministic, switching is cheap and a deadlock is a fact and not a timeout.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(SKRULES_HOST_UCONTEXT)
#define SKRULES_HOST_UCONTEXT
#endif
#ifdef SKRULES_HOST_UCONTEXT
#include <ucontext.h>
#endif

namespace skhost {

class Fiber {
  public:
    using Entry = void (*)();
    static constexpr size_t kStackBytes = 1 << 20;

    Fiber() = default;
    ~Fiber();
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    void start(Entry entry);  // the next resume() calls `entry`, which never returns
    void resume();            // from the scheduler: runs the fiber until it suspends
    void suspend();           // from the fiber: back to the scheduler

    // The page below the stack: touching it is a stack overflow.
    bool guards(uintptr_t address) const;
    uintptr_t top() const { return base_ + kStackBytes; }

  private:
    uintptr_t base_ = 0;  // of the usable stack; the guard page ends here
    // The exception state of the thread belongs to the fiber that runs (see Itanium C++ ABI, __cxa_eh_globals): a
    // fiber may wait inside a catch block while others throw.
    struct Exceptions {
        void *caught = nullptr;
        unsigned uncaught = 0;
    } exceptions_, outer_;
#ifdef SKRULES_HOST_UCONTEXT
    ucontext_t here_, scheduler_;
#else
    void *here_ = nullptr, *scheduler_ = nullptr;  // saved stack pointers
#endif
};

}  // namespace skhost
