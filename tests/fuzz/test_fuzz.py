"""A few of the files of `python -m tests.fuzz`, the same each time."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.properties import PROPERTIES, run

EXPECTED = {
    "contracts": {"read", "refused"},
    "findings": {"rendered", "empty"},
    "envelopes": {"read", "refused"},
    "remediation": {"edited", "left alone", "refused"},
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_damaged_files_end_as_they_may(name):
    counts: Counter[str] = Counter()
    run(name, 60, 1, counts)
    assert counts.keys() == EXPECTED[name]
