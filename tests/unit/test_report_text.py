"""Findings as text: the source below them, whatever the source is."""

from __future__ import annotations

import io

import pytest

from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.report.formats import Report, render, write
from skrules.report.text import has_colour


def found(line=1, column=1, message="wrong", hint="", severity=Severity.BLOCKER, file="a.asc", rule="sk.some-rule"):
    return Finding(rule=rule, severity=severity, at=Location(file=file, line=line, column=column), message=message, hint=hint)


def text_of(tmp_path, data, *findings):
    (tmp_path / "a.asc").write_bytes(data)
    return render(findings, "text", Report(root=tmp_path)).splitlines()


def test_the_source_stands_below_with_the_word_marked(tmp_path):
    lines = text_of(tmp_path, b"int a;\n  use(skBlockNum);\n", found(2, 7, hint="rename it\nor not"))
    assert lines == [
        "blocker: a.asc:2:7: wrong [sk.some-rule]",
        "    2 |   use(skBlockNum);",
        "      |       ^~~~~~~~~~",
        "  rename it",
        "  or not",
        "1 blocker",
    ]


@pytest.mark.parametrize(
    ("data", "column", "shown", "caret"),
    [
        (b"\tx = 1;", 2, "        x = 1;", "        ^"),  # a tab goes to column 8
        (b"ab\tx = 1;", 4, "ab      x = 1;", "        ^"),
        ("/* 核函数 */ x;".encode(), 17, "/* 核函数 */ x;", "             ^"),  # three signs of two columns and three bytes each
        ("// e\u0301 x".encode(), 8, "// e\u0301 x", "     ^"),  # an accent that stands on the letter before it
        (b"\xef\xbb\xbfx = 1;", 4, "x = 1;", "^"),  # the mark of UTF-8 is not seen
        (b"\xef\xbb\xbfx = 1;", 1, "x = 1;", "^"),
        (b"x = \x1b[31m1;", 1, "x = \ufffd[31m1;", "^"),  # the source does not give orders to a terminal
        ("x = \u202e1;".encode(), 1, "x = \ufffd1;", "^"),
        (b"\xc4\xe3 x;", 4, "\ufffd\ufffd x;", "   ^"),  # GBK, shown as what it is not
        (b"x = 1;", 99, "x = 1;", "      ^"),  # a place that is not there
    ],
)
def test_the_mark_stands_where_a_terminal_shows_the_place(tmp_path, data, column, shown, caret):
    _, source, mark, _ = text_of(tmp_path, data, found(1, column))
    assert source == f"    1 | {shown}"
    assert mark == f"      | {caret}"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_lines_end_as_they_do_for_the_reader_of_sources(tmp_path, newline):
    lines = text_of(tmp_path, newline.join([b"one", b"two", b"three"]), found(2, 1))
    assert lines[1:3] == ["    2 | two", "      | ^~~"]


@pytest.mark.parametrize("at", [1, 501, 1000, 1001])
def test_of_a_long_line_the_part_around_the_place_is_shown(tmp_path, at):
    data = bytearray(b"." * 1000)
    data[at - 1 : at] = b"X"
    _, source, mark, _ = text_of(tmp_path, bytes(data), found(1, at))
    assert len(source) <= 8 + 102
    assert source[mark.index("^")] == "X"
    assert source.startswith("    1 | …") == (at > 61)
    assert source.endswith("…") == (at < 900)


def test_a_long_line_of_wide_signs_is_cut_by_its_columns(tmp_path):
    _, source, mark, _ = text_of(tmp_path, ("核" * 300 + "x" + "函" * 300).encode(), found(1, 901))
    assert len(source) <= 8 + 61
    before = source[8 : source.index("x")]
    assert mark.index("^") - 8 == 2 * len(before) - 1  # the sign of the cut takes one column


@pytest.mark.parametrize("line", [0, 3, 10**9, -1])
def test_where_there_is_no_such_line_the_finding_stands_alone(tmp_path, line):
    assert text_of(tmp_path, b"int a;\n", found(line, 1))[1:] == ["1 blocker"]


@pytest.mark.parametrize("file", ["missing.asc", ".", "a\0b", "", "x" * 5000, "/dev/zero"])
def test_a_file_that_cannot_be_read_has_no_excerpt(tmp_path, file):
    text = render([found(file=file)], "text", Report(root=tmp_path))
    assert text.splitlines()[-1] == "1 blocker"
    assert " | " not in text


def test_a_place_without_column_has_its_line_and_no_mark(tmp_path):
    assert text_of(tmp_path, b"int a;\n", found(1, 0))[1:] == ["    1 | int a;", "1 blocker"]


def test_what_there_is_of_each_severity_is_counted(tmp_path):
    severities = (Severity.WARNING, Severity.BLOCKER, Severity.WARNING, Severity.NOTE)
    assert text_of(tmp_path, b"", *(found(0, severity=each) for each in severities))[-1] == "1 blocker, 2 warnings, 1 note"
    assert render([], "text", Report()) == ""


def test_a_name_of_a_file_does_not_end_the_line():
    text = render([found(0, file="a\nblocker: b")], "text", Report())
    assert text.splitlines() == ["blocker: a\ufffdblocker: b: wrong [sk.some-rule]", "1 blocker"]


def test_a_message_neither_ends_its_line_nor_paints(tmp_path):
    first, second, _ = text_of(tmp_path, b"", found(0, message="one\ntwo \x1b[0m"))
    assert (first, second) == ("blocker: a.asc: one [sk.some-rule]", "  two \ufffd[0m")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_colours_are_for_terminals_and_can_be_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "a.asc").write_text("int a;\n")
    terminal, plain = Terminal(), io.StringIO()
    for stream in (terminal, plain):
        write([found()], "text", Report(root=tmp_path), stream)
    assert "\x1b[1;31mblocker:\x1b[0m" in terminal.getvalue()
    assert "\x1b" not in plain.getvalue()
    assert has_colour(terminal, {"TERM": "xterm", "NO_COLOR": ""})
    assert not has_colour(terminal, {"TERM": "xterm", "NO_COLOR": "1"})
    assert not has_colour(terminal, {"TERM": "dumb"})


def test_a_stream_that_lacks_signs_is_no_reason_to_fail():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    write([found(0, message="核", file="\udcff.asc")], "text", Report(), stream)
    stream.flush()
    assert stream.buffer.getvalue().startswith(b"blocker: \\ufffd.asc: \\u6838 [")
