from __future__ import annotations

import json
import os
import stat
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from skrules.compare import runner
from skrules.compare.case import Case, TensorCase
from skrules.compare.report import from_json, to_json
from skrules.compare.runner import run_compare
from skrules.compare.subject import Argument, Subject, describe_program, read_description
from skrules.compare.verdict import NO_REFERENCE, Status, Verdict
from skrules.contract.model import ParameterKind, Role
from skrules.errors import Location, TestFailure

DOUBLE = Subject(
    name="double",
    kernel="double_it",
    arguments=(
        Argument(name="x", kind=ParameterKind.TENSOR, roles=(Role.INPUT,)),
        Argument(name="z", kind=ParameterKind.TENSOR, roles=(Role.OUTPUT,)),
    ),
)
ONE = Case(
    name="one",
    entry="double",
    tensors={
        "x": TensorCase(shape=(4,), dtype="int32", fill="arange"),
        "z": TensorCase(shape=(4,), dtype="int32", fill="sentinel"),
    },
    scalars={},
    structs={},
    at=Location(file="cases.yaml"),
)
TWO = replace(ONE, name="two")
# Stands in for the compare program: doubles x into z for each case, then does what `HOOK` says.
PROGRAM = """#!{python} -IS
import json, os, pathlib, signal, subprocess, sys, time
import array
plan, out = map(pathlib.Path, sys.argv[1:])
for line in plan.read_text().splitlines():
    words = line.split()
    if words[0] == "case":
        case = words[1]
        record = {{"case": case, "entry": words[2], "blocks": 8, "companion_blocks": 10, "status": "ran",
                  "evidence": {{"source": "runtime", "twin_ran": True, "super_kernel": "sk_0", "detail": "d"}}}}
    elif words[:2] == ["tensor", "x"]:
        x = array.array("i", (plan.parent / words[4]).read_bytes())
        plain, sk = (array.array("i", [2 * value for value in x]) for _ in range(2))
    elif words[0] == "end":
{hook}
        (out / f"{{case}}.z.plain").write_bytes(plain.tobytes())
        (out / f"{{case}}.z.sk").write_bytes(sk.tobytes())
        print(json.dumps(record), flush=True)
{after}
"""
REFERENCE = "def double(x):\n    return 2 * x\n"


def _program(tmp_path: Path, hook: str = "", after: str = "") -> Path:
    path = tmp_path / "program"
    indented = textwrap.indent(textwrap.dedent(hook).strip() or "pass", " " * 8)
    path.write_text(PROGRAM.format(python=sys.executable, hook=indented, after=textwrap.dedent(after)), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _compare(
    tmp_path: Path,
    hook: str = "",
    after: str = "",
    *,
    cases: tuple[Case, ...] = (ONE, TWO),
    subjects: tuple[Subject, ...] = (DOUBLE,),
    reference: str = "",
    timeout_s: float = 20.0,
) -> Verdict:
    path = tmp_path / "reference.py"
    path.write_text(reference, encoding="utf-8")
    program = _program(tmp_path, hook, after)
    return run_compare(
        program,
        tmp_path / "work",
        "//ops/double",
        "dav-2201",
        subjects,
        cases,
        path if reference else None,
        dict(os.environ),
        timeout_s,
        reference_name="ops/double/reference.py",
        program_name="build/compare",
    )


def _messages(verdict: Verdict) -> list[str]:
    return [*verdict.messages, *(message for case in verdict.cases for message in case.messages)]


def test_passed(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, reference=REFERENCE)
    assert (verdict.status, verdict.reference, verdict.max_abs_error, _messages(verdict)) == (Status.PASSED, "file", 0.0, [])
    assert [(case.case, case.blocks, case.companion_blocks, case.evidence.super_kernel) for case in verdict.cases] == [
        ("one", 8, 10, "sk_0"),
        ("two", 8, 10, "sk_0"),
    ]


def test_an_accepted_block_number_is_named_where_it_goes_wrong(tmp_path: Path) -> None:
    wide = replace(ONE, super_kernel_blocks=9)
    said = "the contract says sk.helper_block_num: accept"
    wrong = "record['accepts'] = True; sk[1] = 99"
    assert any(
        said in each and "a kernel of 8 ran in a super kernel of 9" in each
        for each in _messages(_compare(tmp_path, wrong, cases=(wide,)))
    )
    assert not any(said in each for each in _messages(_compare(tmp_path, wrong, cases=(ONE,))))
    assert not any(said in each for each in _messages(_compare(tmp_path, "sk[1] = 99", cases=(wide,))))
    assert any(said in each for each in _messages(_compare(tmp_path, wrong + "; record['status'] = 'failed'", cases=(wide,))))
    assert _compare(tmp_path, "record['accepts'] = True", cases=(wide,)).status is Status.PASSED


def test_without_reference_passed_says_so(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, reference="")
    assert (verdict.status, verdict.reference, verdict.cases[0].notes) == (Status.PASSED, "none", (NO_REFERENCE,))


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("sk[1] = 99", "case 'one': 'z': the SK run differs from the plain run in 1 of 4 elements (1 bytes), first [1]: plain 2"),
        ("sk[1] = 99", "'z': the SK run differs from the reference in 1 of 4 elements, first [1]: 99, expected 2"),
        ("plain[3] = sk[3] = 7", "'z': the plain run differs from the reference in 1 of 4 elements, first [3]: 7, expected 6"),
        ("record['evidence']['twin_ran'] = False", "//ops/double case 'one': the SK twin never ran: d"),
        ("record['evidence']['twin_ran'] = 1", "the SK twin never ran"),
        ("del record['evidence']", "the SK twin never ran"),
        ("plain[2] = -0x5A5A5A5B; sk[2] = 0x5A5A5A5A", "'z': 1 of 4 elements are never written, first [2]"),
        ("sk[2] = 0x5A5A5A5A", "1 of them the SK run never wrote"),
        ("del sk[3]", "case 'one': one.z.sk has 12 bytes, not 16"),
        ("record.update(status='failed', stage='capture', error='nothing was captured')", "capture failed: nothing was captured"),
        ("record['status'] = 'fine'", "the run failed"),
    ],
)
def test_failed(tmp_path: Path, hook: str, message: str) -> None:
    verdict = _compare(tmp_path, hook, cases=(ONE,), reference=REFERENCE if "reference" in message else "")
    assert verdict.status is Status.FAILED
    assert any(message in each for each in _messages(verdict)), _messages(verdict)


def test_only_the_case_that_fails_is_failed(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, "if case == 'two': sk[0] = 1")
    assert [case.status for case in verdict.cases] == [Status.PASSED, Status.FAILED] and verdict.status is Status.FAILED


def test_unwritten_elements_may_be_meant(tmp_path: Path) -> None:
    hook = "plain[2] = -0x5A5A5A5B; sk[2] = 0x5A5A5A5A"
    verdict = _compare(tmp_path, hook, cases=(replace(ONE, partial=True),), reference=REFERENCE)
    assert (verdict.status, verdict.cases[0].tensors[0].bits.unwritten) == (Status.PASSED, 1)
    assert verdict.cases[0].tensors[0].numbers[0].elements == 3


def test_skipped_is_never_passed(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, "if case == 'two': record = {'case': 'two', 'status': 'skipped-no-npu', 'error': 'no device'}")
    assert (verdict.status, verdict.cases[1].notes) == (Status.NO_NPU, ("no device",))


def test_no_cases_is_not_passed(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, cases=())
    assert (verdict.status, verdict.cases[0].notes) == (Status.INSUFFICIENT, ("entry 'double' has no case",))
    assert _compare(tmp_path, cases=(), subjects=()).status is Status.INSUFFICIENT


def test_an_entry_without_cases_is_not_passed(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, subjects=(DOUBLE, replace(DOUBLE, name="other")))
    assert verdict.status is Status.INSUFFICIENT


def test_a_case_that_compares_nothing_is_not_passed(tmp_path: Path) -> None:
    subject = replace(DOUBLE, arguments=DOUBLE.arguments[:1])
    verdict = _compare(tmp_path, cases=(replace(ONE, tensors={"x": ONE.tensors["x"]}),), subjects=(subject,), reference="")
    assert (verdict.status, verdict.cases[0].notes[-1]) == (Status.INSUFFICIENT, "no output element was compared")


def test_a_crash_names_case_and_signal(tmp_path: Path) -> None:
    hook = "if case == 'two': print('bad block', file=sys.stderr, flush=True); os.kill(os.getpid(), signal.SIGSEGV)"
    verdict = _compare(tmp_path, hook, cases=(ONE, TWO, replace(ONE, name="three")))
    assert [case.status for case in verdict.cases] == [Status.PASSED, Status.FAILED, Status.FAILED]
    assert verdict.cases[1].messages == ("//ops/double case 'two': the program build/compare was ended by SIGSEGV\nbad block",)
    assert "did not run, since the program ended in case 'two'" in verdict.cases[2].messages[0]


def test_a_hang_is_killed_with_its_children(tmp_path: Path) -> None:
    hook = """
    child = subprocess.Popen(["sleep", "60"])
    pathlib.Path(out.parent / "child").write_text(str(child.pid))
    time.sleep(60)
    """
    begin = time.monotonic()
    verdict = _compare(tmp_path, hook, timeout_s=3.0)
    assert time.monotonic() - begin < 20
    assert "case 'one': the program build/compare did not end within 3 s and was killed" in verdict.cases[0].messages[0]
    child = int((tmp_path / "work/child").read_text())
    for _ in range(100):
        status = Path(f"/proc/{child}/stat")
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the child of the hanging program is still running")


@pytest.mark.parametrize(
    ("after", "message"), [("sys.exit(3)", "ended with status 3"), ("os.kill(os.getpid(), signal.SIGABRT)", "ended by SIGABRT")]
)
def test_a_bad_end_after_good_cases_is_no_success(tmp_path: Path, after: str, message: str) -> None:
    verdict = _compare(tmp_path, after=after)
    assert verdict.status is Status.FAILED and "all cases ran, but the program" in verdict.messages[0]
    assert message in verdict.messages[0] and all(case.status is Status.PASSED for case in verdict.cases)


def test_what_kernels_print_is_no_record(tmp_path: Path) -> None:
    hook = "print('{\"case\"', b'\\xff', '{\"case\": [', sep='\\n'); print('{\"case\": 3}', flush=True)"
    assert _compare(tmp_path, hook).status is Status.PASSED


def test_a_silent_program_is_no_success(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, "sys.exit(0)")
    assert "ended well but said nothing of this case" in verdict.cases[0].messages[0]


def test_a_missing_program(tmp_path: Path) -> None:
    verdict = run_compare(tmp_path / "none", tmp_path / "work", "//a", "dav-2201", [DOUBLE], [ONE], None, {}, 5.0)
    assert f"the program {tmp_path}/none cannot be started: No such file" in verdict.cases[0].messages[0]


def test_a_broken_reference_fails_the_run(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, reference="def double(x:\n")
    assert verdict.status is Status.FAILED and "ops/double/reference.py:1" in verdict.messages[0]
    verdict = _compare(tmp_path, reference="def double(x):\n    return x[7]\n")
    assert "ops/double/reference.py:2: the reference fails in case 'one'" in verdict.cases[0].messages[0]


def test_results_of_an_earlier_run_do_not_count(tmp_path: Path) -> None:
    assert _compare(tmp_path).status is Status.PASSED
    verdict = _compare(tmp_path, "print(json.dumps(record), flush=True); continue")
    assert "the plain run left no one.z.plain" in _messages(verdict)[0]


DESCRIPTION = """start-up text
{"operator":"op","entries":[{"name":"k","kernel":"ns::k<half>","aic":0,"aiv":1,"blocks":4,"absent":"","parameters":[
{"name":"x","c_type":"GM_ADDR","kind":"tensor","roles":["input","output"],"nullable":true,"dtype":"float16","rank":-1,"size":8,"scalar":""},
{"name":"m","c_type":"Mode","kind":"scalar","roles":[],"nullable":false,"dtype":"","rank":-1,"size":1,"scalar":"unsigned"},
{"name":"s","c_type":"half","kind":"scalar","roles":[],"nullable":false,"dtype":"","rank":-1,"size":2,"scalar":"half"},
{"name":"t","c_type":"T","kind":"host_struct","roles":[],"nullable":false,"dtype":"","rank":-1,"size":12,"scalar":""}]}]}
""".replace("[\n", "[").replace(",\n", ",")


def test_the_program_describes_what_it_compares(tmp_path: Path) -> None:
    (subject,) = read_description(DESCRIPTION)
    assert (subject.name, subject.kernel_name, subject.blocks) == ("k", "k", 4)
    assert subject.arguments[0] == Argument(
        name="x",
        c_type="GM_ADDR",
        kind=ParameterKind.TENSOR,
        roles=(Role.INPUT, Role.OUTPUT),
        nullable=True,
        dtype="float16",
        bytes=8,
    )
    assert [(each.encoding, each.bytes) for each in subject.arguments[1:]] == [("uint8", 1), ("float16", 2), ("", 12)]
    program = tmp_path / "describe"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{DESCRIPTION}END\n", encoding="utf-8")
    program.chmod(0o755)
    assert describe_program(program, dict(os.environ), label="//ops/a", name="build/a/compare") == (subject,)


@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"entries": [{"name": "k"}]}', '{"entries": 3}', "[" * 100_000])
def test_a_description_that_is_none(text: str) -> None:
    with pytest.raises(TestFailure, match="unreadably"):
        read_description(text)


def test_a_program_that_cannot_describe_itself(tmp_path: Path) -> None:
    program = tmp_path / "describe"
    named = "^error: //ops/a: the compare program build/a/compare cannot be started: "
    with pytest.raises(TestFailure, match=named + "No such file or directory$"):
        describe_program(program, {}, label="//ops/a", name="build/a/compare")
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    with pytest.raises(TestFailure, match=named + "Exec format error$"):
        describe_program(program, {}, label="//ops/a", name="build/a/compare")
    program.write_text("#!/bin/sh\necho no library >&2\nexit 127\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(TestFailure, match="ended with status 127 instead of describing itself\n  no library"):
        describe_program(program, dict(os.environ), label="//ops/a", name="build/a/compare")


PADDED = """import numpy as np
def double(x):
    return np.ma.masked_array(2 * x, mask=[False, False, True, True])
"""


def test_padding_is_not_compared_with_the_reference_and_counted(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, "plain[3] = sk[3] = 77", reference=PADDED, cases=(ONE,))
    assert (verdict.status, _messages(verdict)) == (Status.PASSED, [])
    (tensor,) = verdict.cases[0].tensors
    assert (tensor.bits.padding, tensor.bits.elements, tensor.numbers[0].elements) == (2, 4, 2)
    assert verdict.cases[0].notes == ("'z': 2 of 4 elements are padding by the reference, and not compared with it",)
    assert from_json(json.loads(json.dumps(to_json(verdict)))).cases == verdict.cases


UNWRITTEN = "plain[{0}] = int.from_bytes(b'\\xa5' * 4, 'little', signed=True); sk[{0}] = 0x5a5a5a5a"


def test_padding_may_stay_unwritten(tmp_path: Path) -> None:
    verdict = _compare(tmp_path, UNWRITTEN.format(2), reference=PADDED, cases=(ONE,))
    assert (verdict.status, _messages(verdict)) == (Status.PASSED, [])
    assert verdict.cases[0].tensors[0].bits.unwritten == 0


@pytest.mark.parametrize(
    ("hook", "part"),
    [
        (UNWRITTEN.format(1), "1 of 4 elements are never written, first [1]"),
        ("plain[1] = sk[1] = 9", "the plain run differs from the reference in 1 of 2 elements, first [1]: 9, expected 2"),
        ("plain[3] = 9", "the SK run differs from the plain run in 1 of 4 elements (1 bytes), first [3]"),
        (UNWRITTEN.format(2).split(";")[1].strip(), "of them the SK run never wrote"),
    ],
)
def test_what_is_wrong_beside_or_in_padding_still_fails(tmp_path: Path, hook: str, part: str) -> None:
    verdict = _compare(tmp_path, hook, reference=PADDED, cases=(ONE,))
    assert verdict.status is Status.FAILED
    assert any(part in message for message in _messages(verdict)), _messages(verdict)


def test_all_padding_is_no_pass(tmp_path: Path) -> None:
    text = PADDED.replace("[False, False, True, True]", "True")
    verdict = _compare(tmp_path, reference=text, cases=(ONE,))
    assert verdict.status is Status.INSUFFICIENT
    assert "no output element was compared" in verdict.cases[0].notes


def test_a_worker_of_torch_that_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import json, sys; print(len(json.load(open(sys.argv[1]))['cases'])); sys.exit('no torch of this kind')"
    monkeypatch.setattr(runner, "worker", lambda _module: (sys.executable, "-c", program))
    cases = [ONE, replace(TWO, blocks=3)]
    verdict = run_compare(
        tmp_path / "none", tmp_path / "work", "//a", "dav-2201", [DOUBLE], cases, None, dict(os.environ), 20.0, through_torch=True
    )
    (case,) = verdict.cases
    (message,) = case.messages
    assert message == ("//a case 'one': the program that calls it through torch ended with status 1\nno torch of this kind")
    assert verdict.left_out == (
        "case 'two' is not run: it has block_dim 3; a call through torch has the contract's number of blocks",
    )
    assert (tmp_path / "work" / "program.out").read_text() == "1\n"
