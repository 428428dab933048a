"""Modules: what they say of themselves, and that several live in one process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from tests.binding.conftest import ENTRIES, Workshop, add_entry, entry, load, parameter  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_npu")

OTHER = """#include "device.h"
template <class T> void add(__gm__ T *x, __gm__ T *y, __gm__ T *z, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) z[i] = x[i] - y[i];
}
"""


def test_a_module_describes_itself(module: ModuleType) -> None:
    assert module.__skrules_operator__ == "sample"
    assert module.__skrules_arch__ == "dav-2201"
    assert module.__skrules_toolchain__ == "host"
    assert list(module.__skrules_entries__) == [one.name for one in ENTRIES]
    assert module.__skrules_entries__["add"] == ("x", "y", "z", "n")
    assert module.__skrules_entries__["nothing"] == ()
    assert {name for name in dir(module) if name.startswith("run_")} == {f"run_{one.name}" for one in ENTRIES}
    assert {name for name in dir(module) if name.startswith("prepare_")} == {"prepare_chain", "prepare_bare_list"}


def test_two_operators_and_two_archs_with_equal_names_live_together(module: ModuleType, workshop: Workshop) -> None:
    minus = load(workshop.build("minus", [add_entry()], kernels=OTHER))
    other_arch = load(workshop.build("sample", [add_entry()], kernels=OTHER, arch="dav-3510"))
    x, y, z = torch.full((4,), 5.0), torch.ones(4), torch.zeros(4)
    for which, result in ((module, 6.0), (minus, 4.0), (other_arch, 4.0), (module, 6.0)):
        which.run_add(x, y, z, 4)
        assert z.tolist() == [result] * 4
    assert (minus.__skrules_operator__, other_arch.__skrules_arch__) == ("minus", "dav-3510")


def test_modules_keep_their_own_kernels_even_when_loaded_globally(workshop: Workshop) -> None:
    """A kernel may be an exported symbol of its module; launchers and tables never are."""
    first = workshop.build("plus", [add_entry()], kernels=OTHER.replace("-", "+"))
    second = workshop.build("minus", [add_entry()], kernels=OTHER)
    done = python(
        "import sys, os, torch, importlib.util",
        "sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)",
        f"sys.path[:0] = [{str(first.parent)!r}, {str(second.parent)!r}]",
        "import plus_dav_2201 as plus, minus_dav_2201 as minus",
        "print(plus.__skrules_operator__, minus.__skrules_operator__)",
    )
    assert done.stdout.split() == ["plus", "minus"], done.stderr


def test_a_module_imports_torch_when_nobody_has(workshop: Workshop) -> None:
    path = workshop.build("alone", [entry("nothing")])
    done = python(
        "import os, sys",
        f"sys.path.insert(0, {str(path.parent)!r})",
        "import alone_dav_2201 as alone",
        "assert alone.run_nothing() is None and 'torch' in sys.modules",
        environment={"LD_LIBRARY_PATH": workshop.flags.library_dirs[0]},
    )
    assert done.returncode == 0, done.stderr


def test_a_table_of_another_layout_is_no_module(workshop: Workshop) -> None:
    path = workshop.build("later", [entry("nothing")], edit=lambda text: text.replace("_table = {3, ", "_table = {9, "))
    with pytest.raises(ImportError, match=r"later_dav_2201: its table has layout 9, the binding runtime reads 3"):
        load(path)


def test_a_table_with_an_unknown_dtype_is_no_module(workshop: Workshop) -> None:
    strict = entry("strict", parameter("x", "GM_ADDR", dtype="float16"), parameter("y", "GM_ADDR"))
    path = workshop.build("typed", [strict], edit=lambda text: text.replace('"float16"', '"float15"'))
    with pytest.raises(ImportError, match=r"typed: run_strict\(\): unknown dtype 'float15'"):
        load(path)


def test_a_package_loads_what_is_asked_for(workshop: Workshop, tmp_path: Path) -> None:
    workshop.package(tmp_path / "op_extension", "sample", [entry("nothing", blocks=1)], arch="dav-3510")
    done = python(
        "import sys",
        f"sys.path.insert(0, {str(tmp_path)!r})",
        "import op_extension",
        "assert 'torch' in sys.modules and 'op_extension.sample_dav_3510' not in sys.modules",
        "module = op_extension.load('sample', 'dav-3510')",
        "assert module.run_nothing() is None and op_extension.load('sample', 'dav-3510') is module",
        "print(module.__name__)",
        "def refusal(*wanted):",
        "    try: op_extension.load(*wanted)",
        "    except Exception as error: print(type(error).__name__, error)",
        "refusal('sample', 'dav-2201'); refusal('gone', 'dav-2201')",
    )
    assert done.stdout.splitlines() == [
        "op_extension.sample_dav_3510",
        "RuntimeError sample is not built for dav-2201; it is built for: dav-3510",
        "RuntimeError op_extension has no operator 'gone'; it has: sample",
    ], done.stderr


def python(*lines: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", **(environment or {})},
    )
