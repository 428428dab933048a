"""Fixes of a tree: files stay whole, nothing outside is touched, and a second run has nothing to do."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skrules.findings import Fix
from skrules.remediate import tree
from skrules.remediate.difference import unified
from skrules.remediate.kind import Refused
from skrules.remediate.remediation import Request, Status, remediate


def fix(kind="rename-symbol", file="a.asc", old="a", new="b", digest=""):
    return Fix(kind=kind, file=file, old_value=old, new_value=new, digest=digest)


def run(root, *fixes, **options):
    return remediate(root, [Request(finding_id=f"#{index}", fix=each) for index, each in enumerate(fixes)], **options)


def told(outcome):
    return [f"{result.status} {result.reason}" for result in outcome.results]


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "tree" / "a.asc"
    path.parent.mkdir()
    path.write_text("a = 1;\n")
    return path


def test_a_file_is_edited_and_a_second_run_has_nothing_to_do(source):
    outcome = run(source.parent, fix(digest=digest_of(source)))
    assert told(outcome) == ["applied rename-symbol"]
    assert outcome.results[0].summary == "size 7 -> 7"
    assert source.read_text() == "b = 1;\n"
    again = run(source.parent, fix(digest=hashlib.sha256(b"a = 1;\n").hexdigest()))
    assert told(again) == ["skipped no_change"]
    assert again.changes == ()


def test_fixes_of_one_file_compose_in_their_order(source):
    include = fix("add-include", new='#include "k.h"')
    pattern = fix("replace-pattern", old="b = 1", new="b = 2")
    line = fix("remove-line-containing", old="2")
    outcome = run(source.parent, fix(), include, pattern, line)
    assert told(outcome) == [
        f"applied {kind}" for kind in ("rename-symbol", "add-include", "replace-pattern", "remove-line-containing")
    ]
    assert source.read_text() == '#include "k.h"\n'
    assert [(change.before, change.after) for change in outcome.changes] == [(b"a = 1;\n", b'#include "k.h"\n')]


def test_a_fix_that_fails_leaves_the_others_alone(source):
    outcome = run(source.parent, fix("replace-pattern", old="("), fix(), fix(file="b.asc"))
    assert [result.status for result in outcome.results] == [Status.FAILED, Status.APPLIED, Status.FAILED]
    assert outcome.results[2].reason == "target_not_found"
    assert source.read_text() == "b = 1;\n"


def test_two_names_of_one_file_are_one_file(source):
    (source.parent / "link.asc").symlink_to("a.asc")
    outcome = run(source.parent, fix(), fix(file="./link.asc", old="b", new="c"))
    assert told(outcome) == ["applied rename-symbol"] * 2
    assert len(outcome.changes) == 1
    assert source.read_text() == "c = 1;\n"
    assert (source.parent / "link.asc").is_symlink()


def test_fixes_that_undo_one_another_are_not_both_applied(source):
    outcome = run(source.parent, fix(), fix(old="b", new="a"))
    assert told(outcome) == ["applied rename-symbol", "failed conflicts_with:#0"]
    assert told(run(source.parent, fix())) == ["skipped no_change"]


def test_a_file_that_has_changed_since_is_not_edited(source):
    before = digest_of(source)
    source.write_text("a = 2;\n")
    assert told(run(source.parent, fix(digest=before), fix(digest=before.upper()))) == ["failed stale_file"] * 2
    assert source.read_text() == "a = 2;\n"


def test_a_file_that_changes_meanwhile_is_not_edited(source, monkeypatch):
    read = tree.read

    def read_and_change(path):
        data = read(path)
        path.write_text("a = 3;\n")
        return data

    monkeypatch.setattr(tree, "read", read_and_change)
    assert told(run(source.parent, fix())) == ["failed stale_file"]
    assert source.read_text() == "a = 3;\n"


def test_a_dry_run_says_the_same_and_writes_nothing(source):
    outcome = run(source.parent, fix(), dry_run=True)
    assert told(outcome) == ["applied rename-symbol"]
    assert source.read_text() == "a = 1;\n"
    assert unified(outcome.changes) == b"--- a/a.asc\n+++ b/a.asc\n@@ -1 +1 @@\n-a = 1;\n+b = 1;\n"


def test_a_diff_has_the_bytes_of_the_file(source):
    source.write_bytes(b"\xef\xbb\xbf// \xc4\xe3\r\na")
    diff = unified(run(source.parent, fix(), dry_run=True).changes)
    assert b" \xef\xbb\xbf// \xc4\xe3\r\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n" in diff


def test_mark_encoding_line_ends_and_permissions_survive(source):
    source.write_bytes(b"\xef\xbb\xbfa; // \xc4\xe3\r\n")
    source.chmod(0o754)
    run(source.parent, fix(), fix("add-include", new="#include <k>"))
    assert source.read_bytes() == b"\xef\xbb\xbf#include <k>\r\nb; // \xc4\xe3\r\n"
    assert stat.S_IMODE(source.stat().st_mode) == 0o754


def test_text_of_unknown_encoding_gets_no_foreign_letters(source):
    source.write_bytes(b"a; // \xc4\xe3\n")
    assert told(run(source.parent, fix(new="核"))) == ["failed encoding_unknown"]


@pytest.mark.parametrize("data", [b"a\0", b"\xff\xfea", b"\xfe\xffa"])
def test_what_is_no_text_is_not_edited(source, data):
    source.write_bytes(data)
    assert told(run(source.parent, fix())) == ["failed target_not_text"]
    assert source.read_bytes() == data


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("", "missing_target_file"),
        (" ", "missing_target_file"),
        ("../outside.asc", "target_outside_asset"),
        ("sub/../../outside.asc", "target_outside_asset"),
        ("sub/../a.asc", "target_outside_asset"),
        ("{outside}", "target_outside_asset"),
        ("out.asc", "target_outside_asset"),
        ("folder/outside.asc", "target_outside_asset"),
        ("/dev/null", "target_outside_asset"),
        ("missing.asc", "target_not_found"),
        ("dangling.asc", "target_not_found"),
        ("ring.asc", "target_not_found"),
        ("sub", "target_not_found"),
        (".", "target_not_found"),
        ("pipe", "target_not_found"),
        ("a.asc/b", "target_not_found"),
        ("a\0", "target_not_found"),
        ("\ud800", "target_not_found"),
        ("a" * 5000, "target_not_found"),
    ],
)
def test_only_files_of_the_tree_are_edited(source, file, reason):
    root = source.parent
    outside = root.parent / "outside.asc"
    outside.write_text("a = 1;\n")
    (root / "sub").mkdir()
    (root / "out.asc").symlink_to("../outside.asc")
    (root / "folder").symlink_to("..")
    (root / "dangling.asc").symlink_to("nothing")
    (root / "ring.asc").symlink_to("ring.asc")
    os.mkfifo(root / "pipe")
    assert told(run(root, fix(file=file.format(outside=outside)))) == [f"failed {reason}"]
    assert outside.read_text() == source.read_text() == "a = 1;\n"


def test_a_link_to_the_tree_is_a_tree(source):
    link = source.parent.parent / "link"
    link.symlink_to(source.parent)
    assert told(run(link, fix())) == ["applied rename-symbol"]


@pytest.mark.parametrize("fails", ["os.fchmod", "os.fsync", "pathlib.Path.replace"])
def test_a_disk_that_fails_leaves_files_whole_and_is_told(source, fails, monkeypatch):
    other = source.with_name("b.asc")
    other.write_text("a = 1;\n")
    calls = []

    def fail_once(*words):
        calls.append(words)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        return original(*words)

    owner, _, name = fails.rpartition(".")
    place = Path if owner == "pathlib.Path" else os
    original = getattr(place, name)
    monkeypatch.setattr(place, name, fail_once)
    outcome = run(source.parent, fix(), fix(file="b.asc"), fix(old="zz"))
    assert told(outcome) == ["failed cannot_write:No space left on device", "applied rename-symbol", "skipped no_change"]
    assert (source.read_text(), other.read_text()) == ("a = 1;\n", "b = 1;\n")
    assert [change.file for change in outcome.changes] == ["b.asc"]
    assert sorted(path.name for path in source.parent.iterdir()) == ["a.asc", "b.asc"]


def test_a_file_that_may_not_be_written_is_not_replaced(source, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    assert told(run(source.parent, fix())) == ["failed cannot_write:the file is read-only"]
    assert source.read_text() == "a = 1;\n"


def test_a_run_that_is_ended_leaves_no_part_of_a_file(source, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(source.parent, fix())
    assert [path.name for path in source.parent.iterdir()] == ["a.asc"]
    assert source.read_text() == "a = 1;\n"


_KILLED = """
import os, pathlib, signal, sys
from skrules.findings import Fix
from skrules.remediate.remediation import Request, remediate
calls = []
def sync(_):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
os.fsync = sync
fixes = [Fix(kind="rename-symbol", file=name, old_value="a", new_value="b") for name in ("a.asc", "b.asc", "c.asc")]
remediate(pathlib.Path(sys.argv[1]), [Request(finding_id="x", fix=fix) for fix in fixes])
"""


def test_a_run_that_is_killed_leaves_files_whole_and_the_next_one_goes_on(source):
    others = [source.with_name(name) for name in ("b.asc", "c.asc")]
    for path in others:
        path.write_text("a = 1;\n")
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", _KILLED, str(source.parent)], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [path.read_text() for path in (source, *others)] == ["b = 1;\n", "a = 1;\n", "a = 1;\n"]
    outcome = run(source.parent, fix(), fix(file="b.asc"), fix(file="c.asc"))
    assert told(outcome) == ["skipped no_change", "applied rename-symbol", "applied rename-symbol"]
    assert [path.read_text() for path in (source, *others)] == ["b = 1;\n"] * 3


def test_what_a_killed_run_has_left_goes(source):
    old, new, other = (
        source.with_name(f".{digit * 16}{end}") for digit, end in (("a", ".skrules"), ("b", ".skrules"), ("c", ".x"))
    )
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (0, 0))
    run(source.parent, fix())
    assert [path.exists() for path in (old, new, other)] == [False, True, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(source):
    os.chown(source, 1234, 4321)
    source.chmod(0o640)
    run(source.parent, fix())
    found = source.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o640)


def test_what_is_for_people_is_left_to_them(source):
    requests = [Request(finding_id="x", fix=None), Request(finding_id="y", fix=fix(), problem="invalid_hint:old_value")]
    assert told(remediate(source.parent, requests)) == ["escalated not_auto_remediable", "failed invalid_hint:old_value"]


def test_a_kind_that_there_is_not_is_told(source):
    assert told(run(source.parent, fix("other"))) == ["failed unknown_kind:other"]


def test_a_file_that_is_too_large_is_not_read(source, monkeypatch):
    monkeypatch.setattr(tree, "_LARGEST", 3)
    with pytest.raises(Refused, match="target_too_large"):
        tree.read(source)
