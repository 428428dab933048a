// Words of the device language that a host compiler does not know. They carry no meaning here: the kind of a kernel and
// the cores it runs on are told to the runtime by whoever launches it (skrules_host/launch.h).
#pragma once

#include <cstdint>

#include "skrules_host/core.h"

#define __global__
#define __vector__
#define __cube__
#define __mix__(cubeCores, vectorCores)
#define __sk__
#define __aicore__
#define __launch_bounds__(...)
#define __schedmode__(...)
#define __kfc_workspace__
#define __BLOCK_LOCAL__

// Address spaces. Which memory an address lies in is checked when it is used.
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __ssbuf__
#define __biasbuf__

// Hints about pipes and aliases for the device compiler.
#define __inout_pipe__(pipe)
#define __in_pipe__(pipe)
#define __out_pipe__(pipe)
#define __sync_alias__
#define __sync_noalias__

#define GM_ADDR uint8_t *

// Kernels write `if ASCEND_IS_AIV {`: the parentheses belong to the macro.
#define ASCEND_IS_AIC (::skhost::self().kind == ::skhost::CoreKind::AIC)
#define ASCEND_IS_AIV (::skhost::self().kind == ::skhost::CoreKind::AIV)
#define ASCEND_IS_NOT_AIC (!ASCEND_IS_AIC)
#define ASCEND_IS_NOT_AIV (!ASCEND_IS_AIV)

#define KERNEL_TASK_TYPE(key, type)
#define KERNEL_TASK_TYPE_DEFAULT(type)

// Functions on vector registers (dav-3510) are a language of their own.
#define __simd_vf__ VectorRegisterFunctionsAreNotEmulatedByTheHostToolchain
#define __simd_callee__ VectorRegisterFunctionsAreNotEmulatedByTheHostToolchain

// On the device a failed assertion traps. Later inclusions of <cassert> bring the host's own `assert` back.
#define ascendc_assert(condition, ...) ((condition) ? (void)0 : ::skhost::fail("assertion failed: %s", #condition))
#define ASCENDC_ASSERT(condition, ...) ascendc_assert(condition)
#ifndef assert
#define assert(...) ((__VA_ARGS__) ? (void)0 : ::skhost::fail("assertion failed: %s", #__VA_ARGS__))
#endif
