"""Whatever a file holds, rules come to an end and never raise, and every finding is at a place in it."""

from __future__ import annotations

import random

import pytest

from skrules.arch_file import load_archs
from skrules.source.kernels import read
from skrules.validate.compat_file import load_compat
from skrules.validate.examination import examine
from skrules.validate.registry import load_rules
from skrules.validate.subject import Decision, Subject, files_of

RULES = load_rules()
ARCHS = load_archs()
COMPAT = load_compat(ARCHS)
TARGETS = tuple(COMPAT.target_of_arch(name) for name in (*ARCHS.names(), "dav-2002"))
SEEDS = [text for rule in RULES if rule.category != "contract" for text in (rule.bad, rule.good)]
PIECES = [
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ";",
    "\\\n",
    '"',
    "'",
    "#if A\n",
    "#else\n",
    "#endif\n",
    "/*",
    "*/",
    "//",
    "\x00",
    "\xff",
    "=",
]


def mutated(chance: random.Random) -> str:
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 6)):
        at, length = chance.randrange(len(text) + 1), chance.choice((0, 0, 1, 3, 20))
        piece = chance.choice([*PIECES, "", chance.choice(SEEDS)[:200]])
        text = text[:at] + piece + text[at + length :]
    return text


@pytest.mark.parametrize("seed", range(20))
def test_mutated_files(seed):
    chance = random.Random(seed)
    for _ in range(25):
        header = read(mutated(chance).encode("latin-1", "replace"), "h.h")
        unit = read(mutated(chance).encode("latin-1", "replace"), "k.asc", headers=[header])
        decisions = tuple(Decision(kernel=kernel.qualified_name, block_dim=1, mask=3) for kernel in unit.kernels)
        subject = Subject(files=files_of([(unit, [header])]), decisions=decisions, targets=TARGETS, compat=COMPAT)
        lines = {each.path: each.text.count("\n") + each.text.count("\r") + 1 for each in (unit, header)}
        for finding in examine(subject, RULES, keyed=True).findings:
            assert 1 <= finding.at.line <= lines[finding.at.file]
