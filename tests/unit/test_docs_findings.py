"""The pages on findings, remediation and doctor show what the commands do: their examples are run here."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from skrules.cli import main
from skrules.report.formats import FORMATS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("findings.md", "remediation.md")


def indented(text):
    """Return the indented blocks of a page, without their indentation."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    return [re.sub("^    ", "", block.strip("\n"), flags=re.M) + "\n" for block in blocks]


def examples(page):
    """Return the commands of a page that begin with `$`, each with what is shown below it."""
    blocks = "\n".join(indented((DOCS / page).read_text()))
    return re.findall(r"^\$ skrules (.*)\n((?:(?!\$ ).*\n)*?)(?=\n*\$ |\n*\Z|\n(?:scons|skrules) )", blocks, re.M)


def source():
    text = (DOCS / "findings.md").read_text().partition("With this in `ops/blk/blk.asc`:")[2]
    return indented(text)[0].partition("\n\n")[0] + "\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops" / "blk").mkdir(parents=True)
    (tmp_path / "ops" / "blk" / "blk.asc").write_text(source())
    return tmp_path


def said_by(words, capfd):
    main(words)
    said = capfd.readouterr()
    return re.sub(r'"digest": "[0-9a-f]{64}"', '"digest": "..."', said.out) or said.err


def test_the_pages_have_examples():
    assert [len(examples(page)) for page in PAGES] == [3, 3]


@pytest.mark.usefixtures("place")
def test_the_examples_show_what_the_commands_say(capfd):
    for page in PAGES:
        for command, shown in examples(page):
            assert said_by(shlex.split(command), capfd) == shown.strip("\n") + "\n", command


def test_every_format_has_its_line():
    page = (DOCS / "findings.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == list(FORMATS)


def test_every_reason_of_a_refusal_has_its_line():
    sources = [path.read_text() for path in (DOCS.parent / "skrules" / "remediate").glob("*.py")]
    lines = [
        line for text in sources for line in text.splitlines() if re.search(r"(?:Refused|required|_identifier)\(|problem=", line)
    ]
    reasons = {name for line in lines for name in re.findall(r'"([a-z]+_[a-z_]+)[":]', line)}
    told = set(re.findall(r"`([a-z]+_[a-z_]+)(?::ID)?`", (DOCS / "remediation.md").read_text()))
    assert {"stale_file", "empty_match", "missing_pattern", "cannot_write"} <= reasons
    assert reasons - told == {"unknown_kind"}  # no file of findings can name one: it is for people then


def test_doctor_looks_at_what_its_page_says(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    page = (DOCS / "doctor.md").read_text()
    assert set(document["can_build"]) == {"host", "bisheng", "modules"}
    for check in document["checks"]:
        name = re.escape(check["name"])
        assert re.search(rf"^\| (?:[^|]*, )?{name}(?:, [^|]*)? \|", page, re.M), check["name"]
        row = re.search(rf"^\| {name} \| (.*) \|$", page.partition("## For programs")[2], re.M)
        if row and check["status"] == "ok":
            assert set(re.findall(r"`(\w+)`", row[1])) == set(check["details"]), check["name"]


def test_the_example_of_doctor_reads_as_it_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    shown = indented((DOCS / "doctor.md").read_text())[1].splitlines()
    column = lines[0].index("Python")
    assert all(line[:column].strip() in ("ok", "missing", "broken", "") for line in shown if line[:1] not in ".kP")
    assert {line[column:].split("  ")[0] for line in shown if line.startswith(("ok", "missing"))} <= {
        line[column:].split("  ")[0] for line in lines
    }
