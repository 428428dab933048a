"""`skrules compile-commands`: what clangd and its like are told about the kernels."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from small_workspace import write_workspace

from skrules.cli import main

KERNEL = """\
#include "kernel_operator.h"
#include <far.h>
#if __NPU_ARCH__ != 2201
#error another arch
#endif
extern "C" __global__ __aicore__ void scale(GM_ADDR x) { static_assert(FACTOR == 2); }
"""


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(write_workspace(tmp_path / "w"))
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "w"


def database(*words):
    assert main(["compile-commands", *words]) == 0
    return json.loads(Path("compile_commands.json").read_text())


def test_one_entry_a_source_and_arch(root):
    entries = database("--toolchain", "host")
    assert [(entry["file"], entry["output"].split("/")[3]) for entry in entries] == [
        ("ops/add/add.asc", "dav-2201"),
        ("ops/add/add.asc", "dav-3510"),
        ("ops/scale/scale.asc", "dav-2201"),
    ]
    for entry in entries:
        assert set(entry) == {"directory", "file", "arguments", "output"}
        assert entry["directory"] == str(root)
        assert entry["arguments"].count(entry["file"]) == 1
        assert not any("build/host/gen" in word for word in entry["arguments"])
    assert "-DFAST=1" in entries[0]["arguments"]


def test_host_commands_are_understood_by_the_compiler_itself(root):
    """The driver's own command is not: its options are those of bisheng."""
    write_workspace(root, **{"ops/scale/scale.asc": KERNEL, "ops/extra/far.h": "#define FACTOR 2\n"})
    (entry,) = database("ops/scale", "--toolchain", "host")
    words = entry["arguments"]
    assert words[words.index("-x") + 1] == "c++"
    read = [*words[: words.index("-c")], "-fsyntax-only", entry["file"]]
    done = subprocess.run(read, cwd=entry["directory"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_options_of_the_contract_are_those_of_the_last_build(root, capsys):
    database("ops/scale", "--toolchain", "host")
    assert "note: 1 source not built yet" in capsys.readouterr().err
    options = root / "build/host/gen/ops/scale/scale.asc.rsp"
    options.parent.mkdir(parents=True)
    options.write_text("-DFROM_CONTRACT=a\\ b\n-iquote\nops/other\n")
    (entry,) = database("ops/scale", "--toolchain", "host")
    assert "not built yet" not in capsys.readouterr().err
    assert "-DFROM_CONTRACT=a b" in entry["arguments"]
    assert entry["arguments"][entry["arguments"].index("ops/other") - 1] == "-iquote"
    assert not any(word.startswith("@") for word in entry["arguments"])


def test_commands_of_bisheng_are_its_own(monkeypatch, tmp_path):
    compiler = tmp_path / "bisheng"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("BISHENG", str(compiler))
    (entry,) = database("ops/scale", "--toolchain", "bisheng")
    words = entry["arguments"]
    assert words[:4] == [str(compiler), "-x", "asc", "--npu-arch=dav-2201"]
    assert words[words.index("-o") + 1] == entry["output"]
    assert "ops/scale/scale.asc" in words


def test_where_it_is_written(root, monkeypatch, capsys):
    monkeypatch.chdir(root / "ops/scale")
    assert main(["compile-commands", "."]) == 0
    (entry,) = json.loads((root / "compile_commands.json").read_text())
    assert entry["file"] == "ops/scale/scale.asc"
    assert main(["compile-commands", ".", "-o", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == [entry]
    assert main(["compile-commands", ".", "-o", "mine.json"]) == 0
    assert json.loads((root / "ops/scale/mine.json").read_text()) == [entry]
    assert main(["compile-commands", "ops/none"]) == 2
