"""`scons fix`: edits of sources by label, shown first under -n, and nothing left to do after it."""

from __future__ import annotations

import concurrent.futures
import json
import time

from skrules.engine.lock import BuildLock

SOURCE = "ops/shift/shift.asc"
OLD = "\ntemplate <typename T> int blocks(const T *a) { return a->skBlockNum; }  // skBlockNum\n"
NEW = "\ntemplate <typename T> int blocks(const T *a) { return a->skNumBlocks; }  // skBlockNum\n"


def with_old_name(workspace, name=SOURCE):
    path = workspace.root / name
    path.write_text(path.read_text() + OLD)
    return path


def test_what_would_be_edited_is_shown_and_then_edited_once(workspace):
    path = with_old_name(workspace)
    before = path.read_text()
    shown = workspace.scons("fix", "--dry-run")
    assert shown.status == 0
    assert f"--- a/{SOURCE}\n+++ b/{SOURCE}\n" in shown.output
    assert f"+{NEW.strip()}\n" in shown.output
    assert path.read_text() == before
    assert workspace.scons("fix", "-q").status == 1
    done = workspace.scons("fix")
    assert (done.status, done.actions) == (0, [])
    assert done.output.startswith(f"fixed: {SOURCE}: rename-symbol [")
    assert path.read_text() == before.replace(OLD, NEW)
    again = workspace.scons("fix")
    assert (again.status, again.output) == (0, "nothing left to do\n")
    assert workspace.scons("fix", "-q").status == 0


def test_only_what_is_asked_for_is_edited_with_its_headers(workspace):
    path = with_old_name(workspace)
    header = with_old_name(workspace, "ops/common/part.h")
    assert workspace.scons("fix", "ops/scale").status == 0
    assert OLD in path.read_text()
    assert NEW in header.read_text()


def test_edits_are_not_made_while_a_build_runs(workspace):
    path = with_old_name(workspace)
    lock = BuildLock(workspace.root / "build" / ".skrules" / "lock")
    lock.acquire(lambda _: None)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        run = pool.submit(workspace.scons, "fix")
        try:
            time.sleep(2)
            assert not run.done()
            assert OLD in path.read_text()
        finally:
            lock.release()
        assert run.result(60).status == 0
    assert NEW in path.read_text()


def test_fix_stands_alone(workspace):
    path = with_old_name(workspace)
    for words in (("fix", "compare"), ("fix", "-c")):
        run = workspace.scons(*words)
        assert run.status == 2
        assert "fix stands alone" in run.output
    assert OLD in path.read_text()


def test_a_file_that_cannot_be_edited_fails_and_the_others_are_edited(workspace):
    path = with_old_name(workspace)
    path.write_bytes(path.read_bytes() + b"\0")
    other = with_old_name(workspace, "ops/scale/scale.asc")
    run = workspace.scons("fix")
    assert run.status == 1
    assert f"failed: {SOURCE}: target_not_text [" in run.output
    assert OLD in path.read_text()
    assert NEW in other.read_text()


def test_what_validate_finds_is_edited_and_then_no_longer_found(workspace):
    with_old_name(workspace)
    assert workspace.scons("validate", "ops/shift").status == 0  # a build renames it itself: a warning
    file = workspace.root / "build/host/validate/ops/shift/findings.json"
    (warning,) = [each for each in json.loads(file.read_bytes())["findings"] if each["severity"] == "warning"]
    assert warning["actionable_by"] == ["codegen.apply-remediation"]
    assert f"[{warning['finding_id']}]" in workspace.scons("fix", "ops/shift").output
    assert "sk.sys-args-api-current" not in workspace.scons("validate", "ops/shift").output
