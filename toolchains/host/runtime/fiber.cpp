#include "fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#ifndef SKRULES_HOST_UCONTEXT
// Saves the registers that a function must preserve (System V x86-64) on the stack it leaves and loads those of the one
// it enters. ucontext does the same with a system call for the signal mask, which costs fifty times as much.
extern "C" void skrulesHostSwitch(void **save, void *load);
asm(R"(
    .text
    .globl skrulesHostSwitch
    .hidden skrulesHostSwitch
    .type skrulesHostSwitch, @function
skrulesHostSwitch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size skrulesHostSwitch, .-skrulesHostSwitch
)");
#endif

namespace skhost {

namespace {
size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
}  // namespace

Fiber::~Fiber() {
    if (base_ != 0) munmap(reinterpret_cast<void *>(base_ - pageBytes()), kStackBytes + pageBytes());
}

bool Fiber::guards(uintptr_t address) const { return base_ != 0 && address < base_ && address >= base_ - pageBytes(); }

void Fiber::start(Entry entry) {
    if (base_ == 0) {
        void *memory = mmap(nullptr, kStackBytes + pageBytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        mprotect(memory, pageBytes(), PROT_NONE);
        base_ = reinterpret_cast<uintptr_t>(memory) + pageBytes();
    }
    exceptions_ = {};
#ifdef SKRULES_HOST_UCONTEXT
    getcontext(&here_);
    here_.uc_stack.ss_sp = reinterpret_cast<void *>(base_);
    here_.uc_stack.ss_size = kStackBytes;
    here_.uc_link = nullptr;
    makecontext(&here_, entry, 0);
#else
    // What skrulesHostSwitch pops: control words, six registers, the address to return to; then a zero return address
    // that ends stack walks and gives `entry` the alignment of a called function.
    struct Frame {
        uint32_t mxcsr;
        uint16_t x87, unused;
        void *registers[6];
        Entry entry;
        void *end;
    };
    auto *frame = reinterpret_cast<Frame *>(top() - sizeof(Frame));
    std::memset(frame, 0, sizeof(Frame));
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(frame->mxcsr), "=m"(frame->x87));
    frame->entry = entry;
    here_ = frame;
#endif
}

void Fiber::resume() {
    void *state = abi::__cxa_get_globals();
    std::memcpy(static_cast<void *>(&outer_), state, sizeof(void *) + sizeof(unsigned));
    std::memcpy(state, static_cast<void *>(&exceptions_), sizeof(void *) + sizeof(unsigned));
#ifdef SKRULES_HOST_UCONTEXT
    swapcontext(&scheduler_, &here_);
#else
    skrulesHostSwitch(&scheduler_, here_);
#endif
    std::memcpy(static_cast<void *>(&exceptions_), state, sizeof(void *) + sizeof(unsigned));
    std::memcpy(state, static_cast<void *>(&outer_), sizeof(void *) + sizeof(unsigned));
}

void Fiber::suspend() {
#ifdef SKRULES_HOST_UCONTEXT
    swapcontext(&here_, &scheduler_);
#else
    skrulesHostSwitch(&here_, scheduler_);
#endif
}

}  // namespace skhost
