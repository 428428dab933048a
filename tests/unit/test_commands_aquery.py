"""`skrules aquery`: the records of the steps, as text and as data with stable names."""

from __future__ import annotations

import json
import shlex

import pytest
from small_workspace import write_workspace

from skrules.cli import main
from skrules.engine.action import Action, needed
from skrules.engine.records import record_of, text_of

FIELDS = {
    *("mnemonic", "label", "arch", "what", "inputs", "outputs", "depfile", "runs", "commands", "environment", "key", "digest"),
}


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(write_workspace(tmp_path / "w"))
    monkeypatch.setenv("SKRULES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "w"


@pytest.fixture
def ask(capsys):
    def asked(*words):
        status = main(["aquery", "--toolchain", "host", *words])
        captured = capsys.readouterr()
        assert status == 0, captured.err
        return captured

    return asked


def records(captured):
    return json.loads(captured.out)


def test_data(ask, root):
    found = records(ask("ops/scale", "--output", "json"))
    assert all(set(record) == FIELDS for record in found)
    adapt, compile_step = found[:2]
    assert adapt["mnemonic"] == "ADAPT"
    assert adapt["runs"] == "function"
    assert adapt["commands"] == []
    assert adapt["inputs"] == ["ops/scale/scale.asc"]
    assert compile_step["mnemonic"] == "ASC"
    assert compile_step["runs"] == "command"
    assert compile_step["arch"] == "dav-2201"
    assert set(compile_step["inputs"]) <= set(adapt["outputs"])
    assert compile_step["outputs"][0] in compile_step["commands"][0]
    assert compile_step["depfile"] in compile_step["commands"][0]
    assert "compiler" in compile_step["key"]
    assert compile_step["environment"]["LANG"] == "C"
    assert not (root / "build").exists()


def test_which_operators_and_archs(ask):
    def steps(*words):
        return {(record["label"], record["arch"]) for record in records(ask("--output", "json", *words)) if record["arch"]}

    assert steps() == {("//ops/add", "dav-2201"), ("//ops/add", "dav-3510"), ("//ops/scale", "dav-2201")}
    assert steps("ops/add", "--arch", "dav-3510") == {("//ops/add", "dav-3510")}
    assert steps("//ops/scale") == {("//ops/scale", "dav-2201")}


def test_labels_are_relative_to_the_current_folder(ask, root, monkeypatch):
    monkeypatch.chdir(root / "ops/scale")
    assert {record["label"] for record in records(ask(".", "--output", "json"))} == {"//ops/scale"}
    assert {record["label"] for record in records(ask("--output", "json"))} == {"//ops/add", "//ops/scale"}


def test_steps_that_others_share_are_shown_on_request(ask):
    def made(*words):
        return {output for record in records(ask("ops/add", "--output", "json", *words)) for output in record["outputs"]}

    runtime = "build/host/lib/libskrules_host.so"
    assert runtime not in made()
    assert runtime in made("--deps")
    assert "out/host/lib/libskrules_host.so" in made("--deps", "--build", "out")


def test_text(ask):
    captured = ask("ops/scale")
    blocks = captured.out.split("\n\n")
    assert blocks[0].startswith("action ADAPT //ops/scale scale.asc\n  inputs:\n    ops/scale/scale.asc\n")
    assert "  runs in Python" in blocks[0]
    command = blocks[1].partition("  command:\n    ")[2]
    words = shlex.split(command)
    assert "-Iops/extra" in words
    assert "toolchain: host" in captured.err


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["ops/ad"], 2, "did you mean '//ops/add'?"),
        (["ops/common"], 2, "declares no operator"),
        (["--arch", "dav-1"], 4, "dav-1"),
        (["--arch", ""], 2, "ARCH is empty"),
        (["--toolchain", "hots"], 2, "did you mean 'host'?"),
        (["--build", "ops"], 2, "among the packages"),
        (["--build", "/x"], 2, "BUILD is '/x'"),
    ],
)
def test_what_is_wrong(capsys, words, status, part):
    assert main(["aquery", *words]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert part in captured.err


def test_needed_steps_keep_their_order():
    def step(output, *inputs):
        return Action(mnemonic="M", label="//x", inputs=inputs, outputs=(output, f"{output}.more"), run=print)

    steps = [step("a", "source"), step("b", "a.more"), step("other", "a"), step("c", "b", "a")]
    assert [action.outputs[0] for action in needed(steps, steps[3].outputs)] == ["a", "b", "c"]
    assert needed(steps, []) == ()


def test_commands_can_be_pasted_into_a_shell():
    action = Action(mnemonic="M", label="//x", inputs=(), outputs=("o",), command=(("cc", "-DA=b c", "$x"), ("ld", "o")))
    lines = text_of(action).splitlines()
    assert [shlex.split(line) for line in lines[-2:]] == [["cc", "-DA=b c", "$x"], ["ld", "o"]]
    assert record_of(action)["digest"] == action.digest()
