#include "fault.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "message.h"
#include "options.h"
#include "scheduler.h"

namespace skhost {

namespace {

// The timer has a signal of its own, so that nobody's alarm() is mistaken for it.
int timeoutSignal() { return SIGRTMAX - 2; }
const int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, timeoutSignal()};
constexpr int kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
constexpr size_t kHandlerStack = 64 * 1024;

struct sigaction g_former[kSignalCount];
char g_handlerStack[kHandlerStack];  // one launch at a time
struct Fault {
    int signal;
    uintptr_t address;
} g_fault;
struct Range {
    uintptr_t begin = 0, end = 0;
    bool has(uintptr_t address) const { return address >= begin && address < end; }
};
Range g_libc, g_self;  // text of the C library and of this one

const char *signalText(int signal) {
    switch (signal) {
        case SIGSEGV:
        case SIGBUS:
            return "bad memory access";
        case SIGFPE:
            return "integer division by zero";
        case SIGILL:
            return "illegal instruction";
        case SIGABRT:
            return "abort() or a failed assertion";
        default:
            return "the launch takes longer than SKRULES_HOST_TIMEOUT allows (an endless loop?)";
    }
}

// Where a faulting core continues: on its own stack, from the top, because nothing on it is needed any more.
[[noreturn]] void land() {
    EmulatedCore &core = *runningCore();
    std::string text = describeCore() + signalText(g_fault.signal);
    if (g_fault.signal == SIGSEGV || g_fault.signal == SIGBUS) text += ": " + describeAddress(core, g_fault.address);
    Scheduler::current()->abandon(core, text);
}

int findTexts(dl_phdr_info *info, size_t, void *) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto &header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        const Range range{begin, begin + header.p_memsz};
        if (range.has(reinterpret_cast<uintptr_t>(&::malloc))) g_libc = range;
        if (range.has(reinterpret_cast<uintptr_t>(&land))) g_self = range;
    }
    return 0;
}

// A core that stops inside the C library may hold the lock of the heap. The copy routines hold none, and they are where
// a bad pointer shows.
bool mayStopAt(uintptr_t pc, int signal) {
    if (signal == timeoutSignal()) return !g_libc.has(pc) && !g_self.has(pc);
    if (!g_libc.has(pc)) return true;
    constexpr uintptr_t kRoutineBytes = 4096;
    const uintptr_t routines[] = {
        reinterpret_cast<uintptr_t>(&std::memcpy), reinterpret_cast<uintptr_t>(&std::memmove),
        reinterpret_cast<uintptr_t>(&std::memset),
        reinterpret_cast<uintptr_t>(static_cast<int (*)(const void *, const void *, size_t)>(&std::memcmp)),
        reinterpret_cast<uintptr_t>(&std::strlen)};
    for (const uintptr_t routine : routines) {
        if (pc >= routine && pc < routine + kRoutineBytes) return true;
    }
    return false;
}

// Sends the interrupted thread to land() when the handler returns. False: not known how on this machine.
bool redirect(ucontext_t &context, uintptr_t stackTop) {
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&land);
    context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(stackTop - 64 - sizeof(void *));  // as after a call
    return true;
#elif defined(__aarch64__)
    context.uc_mcontext.pc = reinterpret_cast<uintptr_t>(&land);
    context.uc_mcontext.sp = stackTop - 64;
    return true;
#else
    (void)context;
    (void)stackTop;
    return false;
#endif
}

uintptr_t programCounter(const ucontext_t &context) {
#if defined(__x86_64__)
    return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return context.uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

void say(const char *text) {
    const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
    (void)written;
}

// Not a kernel of ours: whoever was there before us decides.
void passOn(int signal) {
    for (int i = 0; i < kSignalCount; ++i) {
        if (kSignals[i] == signal) sigaction(signal, &g_former[i], nullptr);
    }
    if (signal == SIGABRT) raise(signal);
}

void onFault(int signal, siginfo_t *info, void *context) {
    auto &interrupted = *static_cast<ucontext_t *>(context);
    EmulatedCore *core = runningCore();
    if (core == nullptr) {
        if (signal != timeoutSignal()) passOn(signal);
        return;
    }
    const bool raised = signal == SIGABRT;  // abort() lets go of its lock before it raises
    if (!raised && !mayStopAt(programCounter(interrupted), signal)) {
        if (signal == timeoutSignal()) return;  // the timer comes again
        say("skrules-host: error: ");
        say(Scheduler::current()->plan().name);
        say(": ");
        say(signalText(signal));
        say(" inside the C library; the process cannot go on\n");
        _exit(70);
    }
    g_fault = {signal, reinterpret_cast<uintptr_t>(info->si_addr)};
    if (redirect(interrupted, core->fiber.top())) return;
    say("skrules-host: error: a kernel faulted\n");
    _exit(70);
}

}  // namespace

FaultGuard::FaultGuard() {
    if (g_libc.end == 0) dl_iterate_phdr(findTexts, nullptr);
    stack_t stack = {};
    stack.ss_sp = g_handlerStack;
    stack.ss_size = kHandlerStack;
    sigaltstack(&stack, &formerStack_);
    const bool timed = options().timeout > 0;
    for (int i = 0; i < kSignalCount; ++i) {
        struct sigaction action = {};
        action.sa_sigaction = onFault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(kSignals[i], &action, &g_former[i]);
    }
    if (!timed) return;
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timeoutSignal();
#ifndef sigev_notify_thread_id
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
#else
    event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
#endif
    timed_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    if (!timed_) return;
    itimerspec when = {};
    when.it_value.tv_sec = static_cast<time_t>(options().timeout);
    when.it_value.tv_nsec = static_cast<long>((options().timeout - static_cast<double>(when.it_value.tv_sec)) * 1e9) + 1;
    when.it_interval.tv_nsec = 10'000'000;
    timer_settime(timer_, 0, &when, nullptr);
}

FaultGuard::~FaultGuard() {
    if (timed_) timer_delete(timer_);
    for (int i = 0; i < kSignalCount; ++i) {
        sigaction(kSignals[i], &g_former[i], nullptr);
    }
    sigaltstack(&formerStack_, nullptr);
}

}  // namespace skhost
