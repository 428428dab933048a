"""Whole lines from any thread, and a line of progress that is in nobody's way."""

from __future__ import annotations

import sys

from skrules.scons.output import Output


def test_what_is_told_goes_to_standard_output(capsys):
    output = Output(silent=False)
    output.tell("step\n")
    output.complain("error\n")
    assert capsys.readouterr() == ("step\n", "error\n")


def test_silence_keeps_complaints(capsys):
    output = Output(silent=True)
    output.tell("step\n")
    output.complain("error\n")
    assert capsys.readouterr() == ("", "error\n")


def test_progress_is_shown_on_a_terminal_and_taken_away(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output = Output(silent=False, progress=lambda: "[ 50 %]")
    output.tell("step\n")
    assert capsys.readouterr().out == "step\n[ 50 %]"
    output.complain("error\n")
    found = capsys.readouterr()
    assert found.out == "\r\x1b[K[ 50 %]"
    assert found.err == "error\n"
    output.finish()
    output.tell("last\n")
    assert capsys.readouterr().out == "\r\x1b[Klast\n"


def test_elsewhere_progress_is_not_asked(capsys):
    output = Output(silent=False, progress=lambda: 1 / 0)
    output.tell("step\n")
    assert capsys.readouterr().out == "step\n"
