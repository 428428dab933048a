"""The guide's first section, followed to the letter by the host toolchain."""

from __future__ import annotations

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


def blocks():
    """Return the fenced code blocks of the guide, in order."""
    return re.findall(r"^```\w+\n(.*?)^```", GUIDE.read_text(), re.M | re.S)


def test_the_first_section_works_as_written(workspace):
    _, sconstruct, sconscript, kernel, contract, cases, reference, command = blocks()[:8]
    files = {
        "SConstruct": sconstruct,
        "ops/double_it/SConscript": sconscript,
        "ops/double_it/double_it.asc": kernel,
        "ops/double_it/contract.yaml": contract,
        "ops/double_it/cases.yaml": cases,
        "ops/double_it/reference.py": reference,
    }
    for name, text in files.items():
        (workspace.root / name).parent.mkdir(exist_ok=True)
        (workspace.root / name).write_text(text)
    assert command == "scons compare\n"
    run = workspace.scons("compare", "ops/double_it")
    assert run.status == 0, run.output
    assert "2 results: 2 passed" in run.output
    (workspace.root / "ops/double_it/SConscript").write_text(sconscript.replace('    contract="contract.yaml",\n', ""))
    run = workspace.scons("compare", "ops/double_it")
    assert run.status == 5
    assert "a contract.yaml to fill in" in run.output
