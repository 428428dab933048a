"""The reference pages are what the code's own tables say; `--update-golden` rewrites them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from skrules.arch_file import load_archs
from skrules.cli import main
from skrules.compare.case_keys import CASES
from skrules.contract.keys import CONTRACT
from skrules.contract.manual import render_manual
from skrules.rules.request import read_request
from skrules.rules.workspace import load_workspace
from skrules.validate.manual import render_rules
from skrules.validate.registry import load_rules
from skrules.validate.settings import SETTINGS

ROOT = Path(__file__).parents[2]
PAGES = {
    "contract.md": ("Contract", "What an operator's author decides. YAML or JSON; the two are one model.", CONTRACT),
    "cases.md": ("Cases", "What `scons compare` runs an operator on.", CASES),
    "validation-settings.md": ("Settings of validation", "What a workspace decides about [rules](validation.md).", SETTINGS),
}


@pytest.mark.parametrize("name", PAGES)
def test_reference_pages(name, check_golden):
    check_golden(ROOT / "docs" / name, render_manual(*PAGES[name]).encode())


def test_page_of_rules(check_golden):
    check_golden(ROOT / "docs" / "rules.md", render_rules(load_rules()).encode())


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_has_its_place_in_the_site():
    index = (ROOT / "docs" / "index.md").read_text()
    listed = [
        name for tree in re.findall(r"```{toctree}\n(.*?)```", index, re.S) for name in re.findall(r"^(\w[\w-]*)$", tree, re.M)
    ]
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "docs").glob("*.md") if path.name != "index.md")


def scons_lines():
    """Return the words after `scons` of every command line in README and guide, comments removed."""
    text = (ROOT / "README.md").read_text() + (ROOT / "docs" / "guide.md").read_text()
    return sorted(set(re.findall(r"^(?:    )?scons\b([^#\n`]*)", text, re.M)))


@pytest.mark.parametrize("line", scons_lines())
def test_every_scons_line_is_a_request_that_this_workspace_understands(line):
    words = [word for word in line.split() if not word.startswith("-")]
    request = read_request([word for word in words if "=" not in word], dict(word.split("=", 1) for word in words if "=" in word))
    workspace = load_workspace(ROOT, ["ops"], request.patterns)
    assert workspace.of_rule("operator")
    archs = load_archs()
    assert all(archs.arch(name) for name in request.archs)


def test_the_readme_adapts_as_it_says(capfdbinary, monkeypatch):
    monkeypatch.chdir(ROOT)
    (command,) = re.findall(r"`skrules (adapt ops/[^`]+)`", (ROOT / "README.md").read_text())
    assert main(command.split()) == 0
    adapted = capfdbinary.readouterr().out.decode()
    for part in ("struct AxpyCustomArgs {", "__sk__ __vector__ void axpy_custom_sk(", "SK_BIND(axpy_custom, 4, "):
        assert part in adapted


def explaining_commands():
    """Return the examples of the commands that look at a workspace, each with the output that is shown below it, if any."""
    text = (ROOT / "docs" / "commands.md").read_text()
    command = r"^    (skrules (?:query|aquery|graph|compile-commands)\b.*)\n"
    return re.findall(command + r"((?:    (?!skrules ).*\n)*)", text, re.M)


def test_the_page_of_commands_has_examples_of_each():
    assert {command.split()[1] for command, _ in explaining_commands()} == {"query", "aquery", "graph", "compile-commands"}


@pytest.mark.parametrize(("command", "shown"), explaining_commands())
def test_the_commands_that_look_at_a_workspace_do_as_their_page_says(command, shown, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skrules.commands.graph._svg", bytes)  # Graphviz is not on every machine
    words = shlex.split(command)[1:]
    if words == ["compile-commands"]:
        words += ["-o", "compile_commands.json"]  # not into this workspace
    assert main([*words, "--root", str(ROOT)]) == 0
    written = capsys.readouterr().out + "".join(path.read_text() for path in tmp_path.iterdir())
    assert written if not shown else written == re.sub("^    ", "", shown, flags=re.M)


def test_the_operators_of_the_readme_exist():
    for name in re.findall(r"ops/(\w+)", (ROOT / "README.md").read_text()):
        assert (ROOT / "ops" / name / "SConscript").is_file()
