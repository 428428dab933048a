"""Findings of the commands that adapt, in the format and at the place that is asked for."""

from __future__ import annotations

import json

import pytest

from skrules.cli import main

PAIR = '#include "kernel_operator.h"\nextern "C" __global__ __vector__ void pair(GM_ADDR x, GM_ADDR z, uint32_t n) {}\n'


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.asc").write_text(PAIR)
    return tmp_path


def test_people_see_the_source_of_what_stops(capsys):
    assert main(["adapt", "pair.asc"]) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: pair.asc:2:12: pair.asc: 1 finding to settle before it can be adapted\n")
    assert '\n      2 | extern "C" __global__ __vector__ void pair(' in said.err
    assert "\n        |            ^~~~~~~~~~\n" in said.err


def test_programs_get_them_in_place_of_the_text(capsys):
    assert main(["adapt", "pair.asc", "--format", "github"]) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("::error file=pair.asc,line=2,col=12,title=codegen.")
    assert said.err.count("\n") == 1


def test_a_file_gets_them_beside_the_text(place, capsys):
    assert main(["adapt-sk-from-global", "pair.asc", "--output-dir", "out", "--format", "sarif", "--findings-output", "f/x"]) == 5
    assert capsys.readouterr().err.startswith("error: ")
    (result,) = json.loads((place / "f" / "x").read_bytes())["runs"][0]["results"]
    assert result["level"] == "error"


def test_standard_output_gets_them_where_nothing_else_is_written_to_it(capsys):
    assert main(["adapt-sk-from-global", "pair.asc", "--output-dir", "out", "--format", "json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert document["skill_source"] == "operator-codegen"
    assert len(document["findings"]) == 1
    assert main(["adapt", "pair.asc", "-o", "made.asc", "--format", "json"]) == 5
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 1


def test_what_is_completed_has_no_findings_and_says_so(place, capsys):
    (place / "c.yaml").write_text("schema_version: 1\nentries:\n  pair: {inputs: [x], outputs: [z]}\n")
    assert main(["adapt", "pair.asc", "--contract", "c.yaml", "-o", "made.asc", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert "__sk__" in (place / "made.asc").read_text()


def test_a_file_that_cannot_be_written_is_a_usage_error(capsys):
    assert main(["adapt", "pair.asc", "--findings-output", "pair.asc/x"]) == 2
    assert "cannot write pair.asc/x" in capsys.readouterr().err
