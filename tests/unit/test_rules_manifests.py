"""What a manifest is made of, and when none is made: what changed during the build may have been read before that."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest

from skrules.engine.action import Action
from skrules.engine.digests import FileDigests
from skrules.engine.journal import Journal
from skrules.engine.lock import BuildLock
from skrules.engine.manifest import Freshness, compare
from skrules.engine.runner import StepRunner
from skrules.engine.slots import MemorySlots
from skrules.rules import manifests

PROGRAM = 'open("build/t/a.o", "w").write(open("ops/a/a.asc").read()); open("build/t/a.d", "w").write("a.o: ops/a/a.h\\n")'
ACTION = Action(
    mnemonic="ASC",
    label="//ops/a",
    inputs=("ops/a/a.asc",),
    outputs=("build/t/a.o",),
    command=((sys.executable, "-c", PROGRAM, "-Iops/a"),),
    depfile="build/t/a.d",
)


class Built:
    """A build of one step that has ended well, and whose manifest is to be made."""

    def __init__(self, root, machine):
        self.root, self.machine = root, machine
        lock = BuildLock(root / "build/.skrules/lock")
        self.since = lock.acquire(print)
        lock.release()
        journal = Journal(root / "build/t/.skrules/journal")
        self.runner = StepRunner(
            root, journal=journal, digests=FileDigests(root), slots=MemorySlots(1 << 30), say=lambda _text: None
        )
        self.runner.perform(ACTION, (), on_run=lambda: None)
        requested = (SimpleNamespace(label=SimpleNamespace(package="ops/a")),)
        self.opened = SimpleNamespace(
            workspace=SimpleNamespace(requested=requested),
            context=SimpleNamespace(toolchain=SimpleNamespace(files=lambda: (str(machine / "compiler"),)), build="build/t"),
            notes=("note",),
        )

    def manifest(self):
        environ = {"PATH": str(self.machine)}
        return manifests.make_manifest(
            self.opened, [ACTION], self.runner, packages=["ops"], environ=environ, notes={}, old=None, since=self.since
        )


@pytest.fixture
def built(tmp_path, monkeypatch):
    root, machine = tmp_path / "root", tmp_path / "machine"
    for path in (root / "SConstruct", root / "ops/a/SConscript", root / "ops/a/a.asc", root / "ops/a/a.h", machine / "compiler"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    for name in ("package", "templates", "toolchains"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        monkeypatch.setattr(f"skrules.resources.{name}", lambda name=name: tmp_path / name)
    monkeypatch.setattr(manifests, "sys", SimpleNamespace(path=[]))
    time.sleep(0.03)
    done = Built(root, machine)
    time.sleep(0.03)
    return done


def test_a_whole_build_has_one_and_it_vouches(built):
    manifest = built.manifest()
    assert manifest is not None
    assert compare(manifest, built.root, declares="SConscript").is_whole
    assert manifest.shared.notes == ("note",)
    assert set(manifest.groups["//ops/a"].files) == {"ops/a/a.asc", "ops/a/a.h", "build/t/a.o", "build/t/a.d"}
    assert {"ops/a/SConscript", "SConstruct", str(built.machine / "compiler")} <= set(manifest.shared.files)


@pytest.mark.parametrize(
    "change",
    [
        lambda built: (built.root / "ops/a/a.asc").write_text("edited"),
        lambda built: (built.root / "ops/a/a.asc").write_text("a.asc"),  # and back
        lambda built: (built.root / "ops/a/a.h").write_text("edited"),
        lambda built: (built.root / "ops/a/a.h").unlink(),
        lambda built: (built.root / "ops/a/SConscript").write_text("edited"),
        lambda built: (built.root / "SConstruct").write_text("edited"),
        lambda built: (built.root / "ops/a/new.h").touch(),
        lambda built: (built.root / "ops/b").mkdir(),
        lambda built: (built.root / "build/t/a.o").write_text("tampered"),
        lambda built: (built.root / "build/t/a.d").unlink(),
        lambda built: (built.machine / "compiler").write_text("another"),
        lambda built: (built.machine / "another").touch(),
        lambda built: (built.root.parent / "package/file").write_text("edited"),
        lambda built: (built.root.parent / "templates/new").touch(),
        lambda built: built.runner.journal.begin("//ops/a", "build/t/a.o"),
    ],
    ids=range(15),
)
def test_a_change_meanwhile_is_not_vouched_for(built, change):
    """There is no manifest, or one that knows the file as it was and tells the next run that it is another."""
    change(built)
    manifest = built.manifest()
    assert manifest is None or compare(manifest, built.root, declares="SConscript") != Freshness(is_whole=True)


@pytest.mark.parametrize("name", ["ops/a/a.asc", "ops/a/a.h"])
def test_a_change_that_another_step_has_seen_leaves_none(built, name):
    (built.root / name).write_text("edited")
    built.runner.digests.digest(name)
    assert built.manifest() is None


@pytest.mark.parametrize(("label", "shared"), [("//skrules:package", True), ("//toolchain:host", True), ("//ops/skrules", False)])
def test_shared_labels(label, shared):
    assert manifests.is_shared(label) is shared


def test_what_an_editor_leaves_beside_our_code_is_passed_over(built, tmp_path):
    (tmp_path / "package/.#file").symlink_to("user@host.1:2")
    time.sleep(0.03)
    assert Built(built.root, built.machine).manifest() is not None


def test_a_header_that_is_asked_for_in_vain_is_waited_for(built):
    root = built.root
    (root / "ops/a/a.asc").write_text('#include "toolkit.h"')
    time.sleep(0.03)
    built = Built(root, built.machine)
    time.sleep(0.03)
    manifest = built.manifest()
    assert compare(manifest, root, declares="SConscript") == Freshness(is_whole=True)
    (root / "ops/a/toolkit.h").touch()
    assert compare(manifest, root, declares="SConscript").dirty == {"//ops/a"}
