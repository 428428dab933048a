"""Templates of new operators, and the commands that use them."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from skrules.adapt.adaptation import adapt
from skrules.cli import main
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.errors import UsageError
from skrules.findings import blockers
from skrules.rules.declaration import read_package
from skrules.scaffold.template import choose, load_template, read_template, render, template_paths
from skrules.source.kernels import read

SMALL = """id: small
description: "a test"
parameters:
  - {name: size, kind: int, default: 4}
  - {name: mode, kind: choice, default: "on", allowed: ["on", "off"]}
  - {name: title, kind: string}
derived:
  mode_text: {"on": "yes $id", "off": "no"}
files:
  - {path: "csrc/$id.asc", template: "$id $size $mode_text $title $5 $unknown"}
operator_files:
  - {path: "SConscript", template: "$Name"}
"""


def small(text=SMALL):
    return read_template(text.encode(), Path("small.yaml"))


def choices():
    """Every template with every value of each of its choices, one at a time."""
    for name in template_paths():
        template = load_template(name)
        yield name, {}
        for parameter in template.parameters:
            yield from ((name, {parameter.name: value}) for value in parameter.allowed)


@pytest.mark.parametrize(("name", "values"), list(choices()))
def test_every_choice_gives_a_complete_operator_that_adapts(tmp_path, name, values):
    template = load_template(name)
    files = render(template, "my_op", choose(template, values), operator=True)
    assert sorted(files) == ["SConscript", "cases.yaml", "contract.yaml", "my_op.asc", "reference.py"]
    for text in files.values():
        assert not re.search(rb"\$[A-Za-z_{]", text)
    ast.parse(files["reference.py"])
    package = tmp_path / "ops/my_op"
    package.mkdir(parents=True)
    for path, data in files.items():
        (package / path).write_bytes(data)
    (target,) = read_package(tmp_path, "ops/my_op")
    assert target.label.name == "my_op"
    unit = read(files["my_op.asc"], "my_op.asc")
    made = adapt(unit, resolve(unit, load(files["contract.yaml"], "contract.yaml")))
    assert not blockers(made.findings)
    assert [str(finding) for finding in made.findings] == []


def test_values_and_derived_texts_are_put_in():
    files = render(small(), "thing_one", choose(small(), {"title": "T"}), operator=False)
    assert files == {"csrc/thing_one.asc": b"thing_one 4 yes thing_one T $5 $unknown"}
    files = render(small(), "thing_one", choose(small(), {"title": "T", "mode": "off", "size": "-3"}), operator=True)
    assert files == {"thing_one.asc": b"thing_one -3 no T $5 $unknown", "SConscript": b"ThingOne"}


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, "needs a value for 'title'"),
        ({"title": "T", "sise": "1"}, "did you mean 'size'"),
        ({"title": "T", "mode": "onn"}, "did you mean 'on'"),
        ({"title": "T", "size": "4.5"}, "whole number"),
        ({"title": "T\n"}, "control characters"),
    ],
)
def test_wrong_values(given, part):
    with pytest.raises(UsageError, match=re.escape(part)):
        choose(small(), given)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("id: small", "id: other", "not the name of the file"),
        ('default: "on", ', 'default: "in", ', "is not allowed"),
        (', allowed: ["on", "off"]', "", "lists its allowed values"),
        ('"off": "no"', '"of": "no"', "for every value"),
        ("mode_text", "text", "for every value"),
        ("description", "descripton", "did you mean 'description'"),
    ],
)
def test_damaged_templates(old, new, part):
    with pytest.raises(UsageError, match=re.escape(part)):
        small(SMALL.replace(old, new))


@pytest.mark.parametrize("path", ["../$id", "/tmp/$id", "csrc/../../x"])
def test_a_template_writes_inside_of_its_folder_only(path):
    template = small(SMALL.replace("csrc/$id.asc", path))
    with pytest.raises(UsageError, match="no file of the operator"):
        render(template, "x", choose(template, {"title": "T"}), operator=False)


def test_list_templates(capsys, tmp_path):
    assert main(["list-templates"]) == 0
    items = {item["id"]: item for item in json.loads(capsys.readouterr().out)["templates"]}
    assert sorted(items) == ["add_custom", "matmul", "row_reduction", "unary_elementwise"]
    add = items["add_custom"]
    assert add["parameters"] == [
        {"name": "dtype", "kind": "choice", "default": "float16", "allowed": ["float16", "float32", "int32"]}
    ]
    assert add["file_count"] == 2
    (tmp_path / "small.yaml").write_text(SMALL)
    (tmp_path / "bad.yaml").write_text("id: bad\n")
    assert main(["list-templates", "--template-dir", str(tmp_path)]) == 0
    first, second = json.loads(capsys.readouterr().out)["templates"]
    assert (first["id"], "error" in first, second["id"]) == ("bad", True, "small")


def test_generate_from_template_gives_what_the_next_commands_take(tmp_path):
    out = tmp_path / "out"
    assert main(["generate-from-template", "add_custom", "--param", "dtype=float32", "--output-dir", str(out)]) == 0
    manifest = json.loads((out / "operator-sk-template-manifest.json").read_bytes())
    assert manifest == {
        "status": "generated",
        "template_id": "add_custom",
        "parameters": {"dtype": "float32"},
        "output_dir": str(out),
        "written_files": ["csrc/add_custom.asc", "contract.yaml"],
    }
    assert main(["detect-sk-form", str(out), "--output-dir", str(tmp_path / "detect")]) == 0
    words = ["--io-contract", str(out / "contract.yaml"), "--output-dir", str(tmp_path / "adapted")]
    assert main(["adapt-sk-from-global", str(out), *words]) == 0
    assert main(["generate-from-template", "add_custom", "--output-dir", str(out)]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ["generate-from-template", "ad_custom", "--output-dir", "out"],
        ["generate-from-template", "add_custom", "--param", "dtype=double", "--output-dir", "out"],
        ["generate-from-template", "add_custom", "--param", "dtype", "--output-dir", "out"],
        ["generate-from-template", "add_custom", "--param", "dtype=int32", "--param", "dtype=int32", "--output-dir", "out"],
        ["new", "op", "2fast", "--package", "."],
        ["new", "op", "fast", "--package", "nowhere"],
        ["new", "op", "taken", "--package", "."],
    ],
)
def test_what_is_refused_writes_nothing(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    assert main(words) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert list((tmp_path / "taken").iterdir()) == []


def test_new_op(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops").mkdir()
    assert main(["new", "op", "my_max", "--template", "row_reduction", "--param", "op=max"]) == 0
    assert "scons compare ops/my_max" in capsys.readouterr().out
    assert "AscendC::ReduceMax(" in (tmp_path / "ops/my_max/my_max.asc").read_text()
    assert [path.name for path in (tmp_path / "ops").iterdir()] == ["my_max"]


def test_the_list_of_templates_for_people(capsys):
    assert main(["list-templates", "--output", "text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  --param op=sum, max, min (sum)" in lines
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == sorted(template_paths())
