"""What a reference may do to the process it runs in, and what then becomes of the verdict."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skrules.compare.case import Case, TensorCase
from skrules.compare.plan import write_plan
from skrules.compare.reference import Reference, run_reference
from skrules.compare.subject import Argument, Subject
from skrules.contract.model import ParameterKind, Role
from skrules.errors import BuildError, Location, TestFailure

COPY = Subject(
    name="copy",
    kernel="copy",
    arguments=(
        Argument(name="x", kind=ParameterKind.TENSOR, roles=(Role.INPUT,)),
        Argument(name="z", kind=ParameterKind.TENSOR, roles=(Role.OUTPUT,)),
        Argument(name="n", kind=ParameterKind.SCALAR, encoding="int32"),
    ),
)
CASES = tuple(
    Case(
        name=name,
        entry="copy",
        tensors={
            "x": TensorCase(shape=(2,), dtype="bfloat16", fill="arange"),
            "z": TensorCase(shape=(2,), dtype="float32", fill="sentinel"),
        },
        scalars={"n": number},
        structs={},
        at=Location(file="cases.yaml"),
    )
    for number, name in enumerate(("first", "second", "third"))
)
# What the second case does stands at {0}, in line 5.
SECOND = """import ctypes, os, signal, sys, threading, time
import numpy as np
def copy(x, n):
    if n == 1:
        {0}
    return x
"""


def _run(tmp_path: Path, text: str, timeout_s: float = 20.0, **more) -> Reference:
    path = tmp_path / "häuser" / "reference.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    write_plan(tmp_path / "work", CASES, {"copy": COPY})
    return run_reference(path, "ops/copy/reference.py", tmp_path / "work", CASES, {"copy": COPY}, timeout_s, **more)


def _failure(reference: Reference, case: Case) -> str:
    with pytest.raises(TestFailure) as caught:
        reference.expected(case, COPY)
    return str(caught.value)


@pytest.mark.parametrize(
    ("what", "line", "message"),
    [
        pytest.param("os._exit(0)", 3, "ended with status 0", id="exit-without-a-word"),
        pytest.param("print('so long', flush=True); os._exit(9)", 3, "ended with status 9 in case 'second'", id="exit-status"),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", 3, "was ended by SIGKILL", id="killed"),
        pytest.param("os.killpg(0, signal.SIGKILL)", 3, "was ended by SIGKILL", id="killed-with-its-guard"),
        pytest.param("ctypes.string_at(0)", 5, "was ended by SIGSEGV", id="crash"),
        pytest.param("os.abort()", 5, "was ended by SIGABRT", id="abort"),
        pytest.param("os.execv('/bin/true', ['true'])", 3, "ended with status 0", id="another-program"),
    ],
)
def test_an_ending_without_a_result_fails_its_case(tmp_path: Path, what: str, line: int, message: str) -> None:
    reference = _run(tmp_path, SECOND.format(what))
    assert reference.expected(CASES[0], COPY)["z"].astype(float).tolist() == [0, 1]
    second, third = (_failure(reference, case) for case in CASES[1:])
    assert second.startswith(f"error: ops/copy/reference.py:{line}: the reference ") and message in second
    assert ("so long" in second) == ("so long" in what)
    assert "has no result, since it ended in case 'second'" in third


@pytest.mark.parametrize("what", ["while True: pass", "threading.Event().wait()"])
def test_a_hang_is_killed_and_names_its_line(tmp_path: Path, what: str) -> None:
    begin = time.monotonic()
    reference = _run(tmp_path, SECOND.format(what), timeout_s=2.5)
    assert time.monotonic() - begin < 15
    message = _failure(reference, CASES[1])
    assert message == "error: ops/copy/reference.py:5: the reference did not end within 2.5 s and was killed in case 'second'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "import os\nprint('early', flush=True)\nos._exit(0)\n",
            "reference.py: the reference cannot be loaded: its process ended",
        ),
        (
            "import ctypes\n\nctypes.string_at(0)\n",
            "reference.py:3: the reference cannot be loaded: its process was ended by SIGSEGV",
        ),
        ("\nwhile True:\n    a = 1\n", "the reference cannot be loaded: its process did not end within 2 s and was killed"),
        ("import reference\n", "reference.py:1: the reference cannot be loaded: ModuleNotFoundError"),
        ("raise KeyboardInterrupt\n", "reference.py:1: the reference cannot be loaded: KeyboardInterrupt"),
    ],
)
def test_what_happens_while_it_is_loaded_fails_the_run(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TestFailure) as caught:
        _run(tmp_path, text, timeout_s=2.0 if "while" in text else 20.0)
    assert message in str(caught.value) and ("early" in text) == ("early" in str(caught.value))


def test_what_it_changes_is_changed_for_itself_alone(tmp_path: Path) -> None:
    text = """import json, os, sys, threading, time
import numpy as np
for name in ("array_equal", "allclose", "isclose", "frombuffer", "isfinite", "trunc"):
    setattr(np, name, lambda *a, **b: True)
os.environ["SKRULES_REFERENCE_WAS_HERE"] = "1"
os.chdir("/")
sys.path.clear()
sys.stdout = sys.stderr = None
threading.Thread(target=time.sleep, args=(60,)).start()
sys.setrecursionlimit(100)
def copy(x):
    x[:] = 7
    return x
"""
    folder, begin = Path.cwd(), time.monotonic()
    reference = _run(tmp_path, text)
    assert time.monotonic() - begin < 15
    assert all(reference.expected(case, COPY)["z"].tolist() == [7, 7] for case in CASES)
    assert Path.cwd() == folder and "SKRULES_REFERENCE_WAS_HERE" not in os.environ
    assert not np.array_equal([1], [2]) and not any("reference" in thread.name for thread in threading.enumerate())
    assert [path.name for path in (tmp_path / "häuser").iterdir()] == ["reference.py"]


def test_an_interruption_ends_it(tmp_path: Path) -> None:
    began = tmp_path / "work/reference/1.begun.json"
    with pytest.raises(BuildError, match=r"the reference ops/copy/reference\.py was interrupted"):
        _run(tmp_path, SECOND.format("time.sleep(60)"), interrupted=began.exists)


def test_no_cases_still_load_it(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    path.write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(TestFailure, match=r"reference\.py:1: the reference cannot be loaded: ZeroDivisionError"):
        run_reference(path, "reference.py", tmp_path / "work", [], {}, 20.0)


def test_a_second_run_needs_a_folder_of_its_own(tmp_path: Path) -> None:
    _run(tmp_path, SECOND.format("pass"))
    with pytest.raises(FileExistsError):
        run_reference(tmp_path / "none.py", "none.py", tmp_path / "work", [replace(CASES[0])], {"copy": COPY}, 20.0)
