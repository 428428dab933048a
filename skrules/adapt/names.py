"""Names for generated declarations that collide with nothing in the user's file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from skrules.adapt.edits import Edit
from skrules.source.model import SourceUnit, Token, TokenKind
from skrules.source.tokens import spelling

_WORD = re.compile(r"[A-Za-z_]\w*")


def camel(name: str) -> str:
    """Return `AddCustom` for `add_custom`; letters inside of a word keep their case."""
    joined = "".join(piece[:1].upper() + piece[1:] for piece in name.split("_"))
    return joined if joined[:1].isalpha() else f"K{joined}"


def words_of(unit: SourceUnit) -> tuple[frozenset[str], frozenset[str]]:
    """Return the identifiers of the code and those of the directives: a macro of our name would rewrite it."""
    directives = [token.text for token in unit.tokens if token.kind is TokenKind.DIRECTIVE]
    expansions = {id(kernel.expansion): kernel.expansion for kernel in unit.kernels if kernel.expansion}  # kernels share them
    made = [token for expansion in expansions.values() for token in expansion.tokens]
    return (
        frozenset(token.text for token in (*unit.tokens, *made) if token.kind is TokenKind.IDENTIFIER),
        frozenset(word for text in directives for word in _WORD.findall(text)),
    )


def words_in(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the identifiers among tokens, those of directives included; comments and strings have none."""
    found = set[str]()
    for token in tokens:
        if token.kind is TokenKind.IDENTIFIER:
            found.add(spelling(token))
        elif token.kind is TokenKind.DIRECTIVE:
            found.update(_WORD.findall(token.text))
    return frozenset(found)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return `wanted`, or `wanted_2`, `wanted_3`, ... where it is taken. The same file gives the same name each time."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    return name


# Members of sk::SkSystemArgs that CANN renamed, old to new (`codegen.inline-sys-args-api-current` of the public tool).
LEGACY_SYS_ARGS = {"skBlockNum": "skNumBlocks", "SkGetBlockNum": "SkGetNumBlocks"}


def legacy_edits(tokens: Iterable[Token]) -> tuple[Edit, ...]:
    """Return the renames of legacy names in code and macros; comments and strings keep theirs."""
    edits = []
    for token in tokens:
        if token.kind is TokenKind.IDENTIFIER and token.text in LEGACY_SYS_ARGS:
            edits.append(Edit(start=token.start, end=token.end, text=LEGACY_SYS_ARGS[token.text]))
        elif token.kind is TokenKind.DIRECTIVE:
            for match in _WORD.finditer(token.text):
                if match.group() in LEGACY_SYS_ARGS:
                    start = token.start + match.start()
                    edits.append(Edit(start=start, end=token.start + match.end(), text=LEGACY_SYS_ARGS[match.group()]))
    return tuple(edits)
