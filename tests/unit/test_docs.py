"""The reference pages are what the code's own tables say; `--update-golden` rewrites them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skrules.compare.case_keys import CASES
from skrules.contract.keys import CONTRACT
from skrules.contract.manual import render_manual

ROOT = Path(__file__).parents[2]
PAGES = {
    "contract.md": ("Contract", "What an operator's author decides. YAML or JSON; the two are one model.", CONTRACT),
    "cases.md": ("Cases", "What `scons compare` runs an operator on.", CASES),
}


@pytest.mark.parametrize("name", PAGES)
def test_reference_pages(name, check_golden):
    check_golden(ROOT / "docs" / name, render_manual(*PAGES[name]).encode())


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
