"""Whole lines from any thread, and a line of progress that is in nobody's way."""

from __future__ import annotations

import io
import sys

from SCons.Util import Unbuffered

from skrules.scons.output import Output, open_closed_streams, put


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


def test_characters_that_an_encoding_lacks_are_escaped_and_a_closed_stream_is_nobody():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    put(stream, "ops/\u7b97\n")
    assert stream.buffer.getvalue() == b"ops/\\u7b97\n"
    put(None, "text")


def test_streams_that_were_closed_at_the_start_are_opened(monkeypatch):
    monkeypatch.setattr("sys.stdout", Unbuffered(None))
    monkeypatch.setattr("sys.stderr", None)
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        assert not stream.isatty()
        assert stream.write("text")
        stream.close()
