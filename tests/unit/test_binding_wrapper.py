"""Runtime wrappers: what an entry takes with one, what its source must be, and the text that calls it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_binding_launcher import AT, LANGUAGE, VECTOR, check_golden, entry, parameter

from skrules.binding import templates
from skrules.binding.descriptor import render_descriptor
from skrules.binding.launcher import render_launchers
from skrules.binding.wrapper import check_shared, check_wrapped, parameters_of, workspace_of
from skrules.contract.entry import Entry, EntryParameter
from skrules.contract.model import EntryContract, ParameterKind, Role, RuntimeWrapper
from skrules.errors import Location
from skrules.source.kernels import read

LIST, SCALAR = ParameterKind.TENSOR_LIST, ParameterKind.SCALAR
WRAPPER = RuntimeWrapper(
    source="wrapper.cpp",
    entry="cat_run",
    tensor_list_descriptor_strategy="prepared_workspace_tail",
    prepare_entry="cat_prepare",
    descriptor_bytes=64,
    descriptor_order=("xs",),
)
PLAIN = RuntimeWrapper(source="wrapper.cpp", entry="cat_run")
PLACES = {
    "runtime_wrapper.source": Location(file="contract.yaml", line=11, column=1),
    "runtime_wrapper.tensor_list_descriptor_strategy": Location(file="contract.yaml", line=12, column=1),
    "runtime_wrapper.entry": Location(file="contract.yaml", line=13, column=1),
    "runtime_wrapper.prepare_entry": Location(file="contract.yaml", line=14, column=1),
    "parameters.scratch": Location(file="contract.yaml", line=15, column=1),
    "workspaces": Location(file="contract.yaml", line=16, column=1),
    "runtime_wrapper.descriptor_order": Location(file="contract.yaml", line=17, column=1),
}
SCRATCH = parameter("scratch", "GM_ADDR", roles=(Role.WORKSPACE,))
SOURCE = """const char *cat_run(const skrules_launch &) { return nullptr; }
const char *cat_prepare(const skrules_prepare &) { return nullptr; }
"""


def cat(*more: EntryParameter, wrapper: RuntimeWrapper = WRAPPER, name: str = "cat") -> Entry:
    made = entry(
        name,
        parameter("xs", "GM_ADDR", LIST, roles=(Role.INPUT,), dtype="float16", rank=2),
        parameter("out", "__gm__ half *", roles=(Role.OUTPUT,)),
        *more,
        returns="out",
    )
    return replace(made, contract=EntryContract(name=name, at=AT, runtime_wrapper=wrapper, positions=PLACES))


def names_of(one: Entry) -> list[str]:
    return [each.name for each in parameters_of(one)]


def findings(one: Entry, source: str | None = SOURCE) -> list[str]:
    unit = None if source is None else read(source.encode(), "ops/cat/wrapper.cpp")
    return [str(finding) for finding in check_wrapped(one, unit)]


def test_launchers_and_tables_with_a_wrapper() -> None:
    one = cat(SCRATCH, parameter("n", "uint32_t", SCALAR))
    check_golden("wrapped_launchers.asc", render_launchers([one]))
    check_golden("wrapped_descriptor.cpp", render_descriptor("cat", [one], {"cat": VECTOR}))


def test_a_workspace_is_added_for_descriptors_when_the_kernel_has_none() -> None:
    assert (names_of(cat()), workspace_of(cat())) == (["xs", "out", "workspace"], "workspace")
    assert (names_of(cat(SCRATCH)), workspace_of(cat(SCRATCH))) == (["xs", "out", "scratch"], "scratch")
    assert (names_of(cat(wrapper=PLAIN)), workspace_of(cat(wrapper=PLAIN))) == (["xs", "out"], "")
    assert '{"workspace", "GM_ADDR", SKRULES_TENSOR, SKRULES_WORKSPACE, 0, -1, ""}' in render_descriptor(
        "cat", [cat()], {"cat": VECTOR}
    )


def test_a_good_wrapper_has_no_findings() -> None:
    assert findings(cat(SCRATCH)) == findings(cat()) == findings(cat(wrapper=PLAIN)) == findings(entry("plain"), None) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "blocker: contract.yaml:11:1: there is no file 'wrapper.cpp' [codegen.runtime-wrapper-source-missing]"),
        (
            "// cat_run(\nconst char *cat_prepare(int);",
            "blocker: contract.yaml:13:1: wrapper.cpp has no 'cat_run(' [codegen.runtime-wrapper-entry-missing]",
        ),
        ("int cat_run();", "blocker: contract.yaml:14:1: wrapper.cpp has no 'cat_prepare('"),
        (
            SOURCE + "__global__ __vector__ void helper(GM_ADDR x) {}\n",
            "blocker: ops/cat/wrapper.cpp:3:1: the runtime wrapper defines the kernel 'helper', "
            "which would be launched without an SK function [codegen.runtime-wrapper-kernel]",
        ),
    ],
)
def test_the_source_of_a_wrapper(source: str | None, message: str) -> None:
    (found,) = findings(cat(), source)
    assert found.startswith(message)


def test_an_order_of_lists_that_are_none() -> None:
    one = entry("cat", parameter("x", "GM_ADDR", roles=(Role.INPUT,)))
    (found,) = findings(replace(one, contract=cat().contract))
    assert found == (
        "blocker: contract.yaml:17:1: descriptor_order is [xs], but entry 'cat' has no tensor lists "
        "[codegen.tensor-list-descriptor-order-mismatch]\n  descriptor_order: []"
    )
    other = replace(WRAPPER, descriptor_order=())
    assert findings(replace(one, contract=cat(wrapper=other).contract)) == []


def test_a_declaration_of_the_kernel_is_no_kernel() -> None:
    assert findings(cat(), SOURCE + "__global__ __vector__ void cat(GM_ADDR xs, GM_ADDR out);\n") == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            (SCRATCH, parameter("tail", "GM_ADDR", roles=(Role.WORKSPACE,))),
            "blocker: contract.yaml:12:1: entry 'cat' has the workspaces scratch, tail: which of them holds the "
            "descriptors is not known [codegen.tensor-list-workspace-ambiguous]",
        ),
        (
            (replace(SCRATCH, nullable=True),),
            "blocker: contract.yaml:15:1: the workspace 'scratch' of entry 'cat' holds its descriptors and cannot be nullable "
            "[codegen.io-contract-parameter-invalid]",
        ),
        (
            (replace(SCRATCH, kind=LIST),),
            "blocker: contract.yaml:16:1: the workspace 'scratch' of entry 'cat' is a tensor list; descriptors need a tensor "
            "[codegen.io-contract-tensor-invalid]",
        ),
        (
            (parameter("workspace", "uint32_t", SCALAR),),
            "blocker: contract.yaml:12:1: entry 'cat' has no workspace for its descriptors, and its parameter 'workspace' "
            "is none [codegen.tensor-list-workspace-missing]",
        ),
    ],
)
def test_the_workspace_of_descriptors(more: tuple[EntryParameter, ...], message: str) -> None:
    (found,) = findings(cat(*more))
    assert found.startswith(message)


def test_a_wrapper_belongs_to_one_file() -> None:
    one, other = cat(), cat(name="dog")
    assert check_shared([("a.asc", [one, other]), ("b.asc", [entry("plain")])]) == ()
    (found,) = check_shared([("a.asc", [one]), ("b.asc", [other])])
    assert str(found).startswith(
        "blocker: contract.yaml:11:1: wrapper.cpp is the wrapper of kernels in a.asc and in b.asc "
        "[codegen.runtime-wrapper-shared]"
    )


WRITTEN = """#include "skrules_wrapper.h"
struct Tiling { int n; };
void cat(GM_ADDR, half *, GM_ADDR, float, const Tiling &) {}
namespace ascendc_ops {
const char *cat_run(const skrules_launch &, const skrules_list &, const skrules_tensor &, const skrules_tensor &, float, Tiling) {
    return skrules_refuse("%d%%", 7);
}
const char *cat_prepare(const skrules_prepare &, const skrules_list &, const skrules_tensor &, const skrules_tensor &, float,
                        Tiling) {
    return nullptr;
}
}
"""


def compiled(tmp_path: Path, source: str) -> str:
    """The first error of a compiler for a wrapper with its launchers; "" when there is none."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    one = cat(SCRATCH, parameter("scale", "float", SCALAR), parameter("tiling", "const Tiling &", ParameterKind.HOST_STRUCT))
    path = tmp_path / "kernel.cpp"
    path.write_text(LANGUAGE + source + render_launchers([one]))
    command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", f"-I{templates.directory()}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    assert "warning" not in done.stderr
    return next((line for line in done.stderr.splitlines() if "error" in line), "")


def test_a_wrapper_is_called_with_views_and_values(tmp_path: Path) -> None:
    assert compiled(tmp_path, WRITTEN) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float,\n", "int,\n"),
        ("cat_prepare(const skrules_prepare &", "cat_prepare(const skrules_launch &"),
        ("cat_prepare(const skrules_prepare &, const skrules_list &, ", "cat_prepare(const skrules_prepare &, "),
        ("const char *cat_prepare", "int cat_prepare"),
    ],
)
def test_a_wrapper_of_another_type_is_told_the_right_one(tmp_path: Path, old: str, new: str) -> None:
    assert old in WRITTEN
    text = WRITTEN.replace(old, new).replace("return nullptr", "return 0")
    assert compiled(tmp_path, text).endswith(
        "static assertion failed: cat: the runtime wrapper must be: const char *cat_prepare(const skrules_prepare &prepare, "
        "const skrules_list &xs, const skrules_tensor &out, const skrules_tensor &scratch, float scale, const Tiling tiling), "
        "in namespace ascendc_ops"
    )


def test_an_overloaded_wrapper_is_found(tmp_path: Path) -> None:
    assert compiled(tmp_path, WRITTEN + "namespace ascendc_ops { const char *cat_run(int) { return nullptr; } }\n") == ""


def test_dtypes_of_the_header_are_those_of_a_contract_in_order() -> None:
    import re

    from skrules.contract.dtypes import DTYPES

    header = (templates.directory() / "skrules_wrapper.h").read_text()
    assert re.findall(r"SKRULES_DTYPE_(\w+)", header) == ["OTHER", *(name.upper() for name in DTYPES)]
    runtime = (templates.directory() / "runtime" / "entry.h").read_text()
    assert re.findall(r'\{"(\w+)", at::k\w+\}', runtime) == list(DTYPES)
