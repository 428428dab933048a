"""`skrules graph`: drawings of the steps, in DOT and through Graphviz."""

from __future__ import annotations

import os
import re
import shutil

import pytest
from small_workspace import write_workspace

from skrules.cli import main

FAKE_DOT = '#!/bin/sh\n[ "$1" = -Tsvg ] || exit 9\necho "<svg><!-- $(grep -c shape=box) boxes --></svg>"\n'


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(write_workspace(tmp_path / "w"))
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "w"


@pytest.fixture
def graphviz(tmp_path, monkeypatch):
    """Put a program `dot` with the given text first on PATH."""

    def install(text):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "dot").write_text(text)
        (folder / "dot").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install


def draw(*words):
    return main(["graph", "--toolchain", "host", *words])


def test_boxes_and_arrows(capsys):
    assert draw("ops/add", "--arch", "dav-2201") == 0
    dot = capsys.readouterr().out
    adapted, kernel = "build/host/gen/ops/add/add.asc", "build/host/obj/dav-2201/ops/add/add.o"
    assert '"ops/add/add.asc" [shape=note' in dot
    assert f'"{adapted}" [shape=box, label="ADAPT\\nadd.asc"];' in dot
    assert f'"ops/add/add.asc" -> "{adapted}";' in dot
    assert f'"{adapted}" -> "{kernel}" [label="add.asc\\nadd.asc.rsp"];' in dot
    assert 'label="//ops/add dav-2201";' in dot
    # What all operators share is part of the way to the result.
    assert "libskrules_host.so" in dot
    assert "scale" not in dot
    assert dot.count("{") == dot.count("}")


def test_every_arrow_joins_two_boxes(capsys):
    assert draw() == 0
    dot = capsys.readouterr().out
    boxes = set(re.findall(r'^ +("[^"]+") \[shape', dot, re.M))
    arrows = re.findall(r'^  ("[^"]+") -> ("[^"]+")', dot, re.M)
    assert arrows
    assert {end for arrow in arrows for end in arrow} == boxes
    assert len(arrows) == len(set(arrows))


def test_a_file_is_written(root):
    assert draw("ops/scale", "-o", "drawings/scale.dot") == 0
    assert (root / "drawings/scale.dot").read_text().startswith('digraph "ops/scale" {')


@pytest.mark.parametrize("words", [("--output", "svg", "-o", "scale.picture"), ("-o", "scale.svg")])
def test_svg_is_drawn_by_graphviz(root, graphviz, words):
    graphviz(FAKE_DOT)
    assert draw("ops/scale", *words) == 0
    assert re.match(r"<svg><!-- [2-9]\d* boxes --></svg>", (root / words[-1]).read_text())


def test_without_graphviz_nothing_is_written(root, monkeypatch, capsys):
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "dot" else which(name, **more))
    assert draw("ops/scale", "-o", "scale.svg") == 4
    assert "install graphviz" in capsys.readouterr().err
    assert not (root / "scale.svg").exists()


def test_a_failing_graphviz_is_an_error(root, graphviz, capsys):
    graphviz("#!/bin/sh\necho no fonts >&2\nexit 3\n")
    assert draw("ops/scale", "-o", "scale.svg") == 1
    said = capsys.readouterr().err
    assert "exit status 3" in said
    assert "no fonts" in said
    assert not (root / "scale.svg").exists()
