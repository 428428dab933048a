"""Lints for super kernels: what they follow, and what they leave alone."""

from __future__ import annotations

import time

import pytest

from skrules.arch_file import load_archs
from skrules.source.kernels import read
from skrules.validate.compat_file import load_compat
from skrules.validate.examination import examine
from skrules.validate.registry import load_rules, rule_named
from skrules.validate.subject import Decision, Subject, files_of

RULES = load_rules()
ARCHS = load_archs()
COMPAT = load_compat(ARCHS)
A2 = COMPAT.target_of_arch("dav-2201")


def lines(name, text, *headers, decisions=(), targets=(A2,)):
    read_headers = [read(data.encode(), header) for header, data in headers]
    unit = read(text.encode(), "k.asc", headers=read_headers)
    subject = Subject(files=files_of([(unit, read_headers)]), decisions=decisions, targets=targets, compat=COMPAT)
    return [(finding.at.file, finding.at.line) for finding in rule_named(name, RULES).check(subject)]


SYNC = "__global__ __vector__ void k(GM_ADDR x) {\nRun(x);\n}\n"
HELPER = ("run.h", "class Sync {\n    void Wait() { AscendC::SyncAll(); }\n};\nvoid Run(GM_ADDR x) { Sync s; s.Wait(); }\n")


def test_sync_all_is_followed_into_headers_and_the_number_of_blocks_is_that_of_the_contract():
    few, all_of_them = (Decision(kernel="k", block_dim=count) for count in (8, 48))
    unknown = Decision(kernel="k")
    assert lines("sk.sync-all-partial-cores", SYNC, HELPER, decisions=(few,)) == [("run.h", 2)]
    assert lines("sk.sync-all-partial-cores", SYNC, HELPER, decisions=(all_of_them,)) == []
    assert lines("sk.sync-all-partial-cores", SYNC, HELPER, decisions=(unknown,)) == []
    assert lines("sk.sync-all-partial-cores", SYNC, HELPER) == []
    assert lines("sk.sync-all-partial-cores", SYNC, HELPER, decisions=(few,), targets=()) == []


@pytest.mark.parametrize(
    ("call", "is_wrong"),
    [
        ("SyncAll();", True),
        ("AscendC::SyncAll<true>();", True),
        ("SyncAll(gm, ub);", True),
        ("SyncAll(gm, ub, 8);", False),  # told how many cores wait
        ("mine.sync_all();", False),
        ("// SyncAll();", False),
    ],
)
def test_forms_of_sync_all(call, is_wrong):
    text = f"__global__ __vector__ void k(GM_ADDR x) {{\n{call}\n}}\n"
    found = lines("sk.sync-all-partial-cores", text, decisions=(Decision(kernel="k", block_dim=8),))
    assert found == ([("k.asc", 2)] if is_wrong else [])


@pytest.mark.parametrize(
    ("write", "is_wrong"),
    [
        ("yGm(0) = 1;", True),
        ("yGm(i) += 2;", True),
        ("yGm(i)++;", True),
        ("many[1](0) = 1;", True),
        ("float v = yGm(0);", False),
        ("if (yGm(0) == 1) {}", False),
        ("yGm.SetValue(0, 1);", False),
        ("other(0) = 1;", False),
        ("yGm(0) = 1; DataCacheCleanAndInvalid<float>(yGm);", False),
        ("// yGm(0) = 1;", False),
    ],
)
def test_scalar_writes(write, is_wrong):
    text = f"""class K {{
    void Run(int i) {{
{write}
    }}
    AscendC::GlobalTensor<float> xGm, yGm;
    AscendC::GlobalTensor<float> many[2];
}};
void Other() {{ DataCacheCleanAndInvalid<float>(zGm); }}
"""
    assert lines("sk.scalar-write-cache", text) == ([("k.asc", 3)] if is_wrong else [])


def mix(aiv, body):
    return f"__global__ __mix__(1, {aiv}) void k(GM_ADDR x) {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("if (GetSubBlockIdx() == 0) { CrossCoreSetFlag<0x2, PIPE_MTE3>(1); }", [2]),
        ("if (AscendC::GetSubBlockIdx() == 0) CrossCoreWaitFlag(1);", [2]),
        ("if (GetSubBlockIdx()) { Run(); } else { CrossCoreWaitFlag(1); }", [2]),
        ("if (GetSubBlockIdx()) { CrossCoreWaitFlag(1); } else { CrossCoreWaitFlag(1); }", []),
        ("if (GetSubBlockIdx()) { Run(); }\nCrossCoreWaitFlag(1);", []),
        ("if ASCEND_IS_AIV { CrossCoreWaitFlag(1); }", []),
        ("if (n) { CrossCoreWaitFlag(1); }", []),
    ],
)
def test_flags_on_one_vector_core(body, at):
    assert [line for _, line in lines("sk.mix11-cross-core-flag", mix(1, body))] == at
    assert lines("sk.mix11-cross-core-flag", mix(2, body)) == []


def test_matmul_on_every_vector_core():
    body = "Matmul<A, B, C> mm;\nREGIST_MATMUL_OBJ(&pipe, w, mm);\nmm.IterateAll(x);"
    assert lines("sk.mix11-matmul", mix(1, body)) == [("k.asc", 2)]
    assert lines("sk.mix11-matmul", mix(2, body)) == []
    assert lines("sk.mix11-matmul", "#define ASCENDC_CUBE_ONLY\n" + mix(1, body)) == []
    assert lines("sk.mix11-matmul", mix(1, body + "\nif (GetSubBlockIdx() == 0) {}")) == []


ARGS = "struct KArgs { GM_ADDR x; };\n"


@pytest.mark.parametrize(
    ("use", "is_wrong"),
    [
        ("block_idx", True),
        ("get_block_num()", True),
        ("block_num + 1", True),
        ("args->block_idx", False),
        ("mine::block_idx", False),
        ("GetBlockIdx()", False),
    ],
)
def test_raw_variables(use, is_wrong):
    text = f"{ARGS}__sk__ __vector__ void k_sk(const KArgs *args) {{\nRun({use});\n}}\n"
    assert lines("sk.raw-block-variable", text) == ([("k.asc", 3)] if is_wrong else [])
    kernel = f"__global__ __vector__ void k(const KArgs *args) {{\nRun({use});\n}}\n"
    assert lines("sk.raw-block-variable", kernel) == []  # adaptation sees to these


def test_raw_variables_of_a_helper_and_of_the_author():
    helper = ("h.h", "int Mine() {\n    return block_idx;\n}\n")
    text = f"{ARGS}__sk__ __vector__ void k_sk(const KArgs *args) {{ Run(Mine()); }}\n"
    assert lines("sk.raw-block-variable", text, helper) == [("h.h", 2)]
    declared = ("h.h", "int Mine() {\n    int block_idx = 3;\n    return block_idx;\n}\n")
    assert lines("sk.raw-block-variable", text, declared) == []


def test_the_block_number_of_the_launch():
    text = (
        ARGS + "__sk__ __vector__ void k_sk(const KArgs *args) {\nauto n = AscendC::GetBlockNum();\nObject().GetBlockNum();\n}\n"
    )
    assert lines("sk.block-num-of-launch", text) == [("k.asc", 3)]
    alias = "namespace ac = AscendC;\n" + text.replace("AscendC::", "ac::")
    assert lines("sk.block-num-of-launch", alias) == [("k.asc", 4)]


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("TPipe a; a.DestroyWithoutPipeAll();\nTPipe b; b.DestroyWithoutPipeAll();", [4]),
        ("TPipe a; a.DestroyWithoutPipeAll(); PipeBarrier<PIPE_ALL>();\nTPipe b; b.DestroyWithoutPipeAll();", []),
        ("TPipe a; a.Destroy();\nTPipe b; b.DestroyWithoutPipeAll();", []),  # Destroy waits
        ("if (c) { TPipe a; a.DestroyWithoutPipeAll(); } else {\nTPipe b; b.DestroyWithoutPipeAll(); }", []),
        ("if (c) { TPipe a; a.DestroyWithoutPipeAll(); return; }\nTPipe b; b.DestroyWithoutPipeAll();", []),
        ("if (c) { TPipe a; a.DestroyWithoutPipeAll(); }\nTPipe b; b.DestroyWithoutPipeAll();", [4]),
        ("#if A\nTPipe a; a.DestroyWithoutPipeAll();\n#else\nTPipe b; b.DestroyWithoutPipeAll();\n#endif", []),
    ],
)
def test_barriers_between_pipes(body, at):
    text = f"{ARGS}__sk__ __vector__ void k_sk(const KArgs *args) {{\n{body}\n}}\n"
    assert [line for _, line in lines("sk.tpipe-barrier-between", text)] == at


@pytest.mark.parametrize(
    ("mask", "call", "is_wrong"),
    [
        (4, "SetNextTaskStart();", True),
        (6, "SetNextTaskStart();", False),
        (6, "", True),
        (5, "", True),
        (5, "WaitPreTaskEnd();", False),
        (7, "WaitPreTaskEnd(); SetNextTaskStart();", False),
        (4, "", False),
        ("MASK", "SetNextTaskStart();", False),
    ],
)
def test_early_start(mask, call, is_wrong):
    kernel = "__global__ __vector__ void k(GM_ADDR x) {}\n"
    text = f"{kernel}{ARGS}__sk__ __vector__ void k_sk(const KArgs *args) {{ Run(); {call} }}\nSK_BIND(k, {mask}, k_sk);\n"
    assert lines("sk.early-start-capability", text) == ([("k.asc", 4)] if is_wrong else [])


def test_early_start_of_what_the_build_binds():
    text = "__global__ __vector__ void k(GM_ADDR x) { AscendC::SetNextTaskStart(); }\n"
    assert lines("sk.early-start-capability", text) == []
    assert lines("sk.early-start-capability", text, decisions=(Decision(kernel="k", mask=4),)) == [("k.asc", 1)]
    assert lines("sk.early-start-capability", text, decisions=(Decision(kernel="k", mask=6),)) == []


def test_many_kernels_that_come_to_many_functions_are_looked_at_in_time():
    text = "".join(f"__aicore__ inline void f{each}() {{ f{each + 1}(); }}\n" for each in range(300))
    for each in range(30):
        text += f"struct Args{each} {{ GM_ADDR x; }};\n__global__ __vector__ void k{each}(GM_ADDR x) {{ f0(); }}\n"
        text += f"__sk__ __vector__ void k{each}_sk(const Args{each} *args) {{ f0(); }}\nSK_BIND(k{each}, 4, k{each}_sk);\n"
    subject = Subject(files=files_of([(read(text.encode(), "a.asc"), ())]))
    started = time.process_time()
    examine(subject, RULES)
    assert time.process_time() - started < 3
