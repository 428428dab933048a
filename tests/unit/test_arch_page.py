"""The page of archs and chips says what the table says."""

from __future__ import annotations

from pathlib import Path

from skrules.arch_file import load_archs
from skrules.arch_page import render_page

PAGE = Path(__file__).parents[2] / "docs" / "archs.md"


def test_the_page_says_what_the_table_says(check_golden):
    check_golden(PAGE, render_page(load_archs()).encode())


def test_every_fact_has_a_link_to_its_source():
    for arch in load_archs().archs:
        page = render_page(load_archs())
        assert all(f"]({url})" in page for urls in arch.sources.values() for url in urls)
