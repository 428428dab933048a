"""Structs of a file by name, with the members that they declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skrules.contract.ctype import Definitions, collect_definitions
from skrules.source.code import Code, join
from skrules.source.model import SourceUnit
from skrules.source.parameters import split

_NO_MEMBERS = frozenset({"using", "typedef", "static", "friend", "static_assert", "template", "struct", "class", "union", "enum"})
_ACCESS = frozenset({"public", "private", "protected"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One declarator. `type` has no `alignas`, which `is_aligned` tells; `is_indirect`: a pointer, a reference or an array."""

    name: str
    type: str
    is_aligned: bool
    is_indirect: bool
    offset: int


def members_of(code: Code, name: str) -> tuple[Member, ...]:
    """Return the data members of the struct or class `name` that `code` defines; none when it does not define it."""
    for index, text in enumerate(code.texts):
        if text != name or not code.is_identifier(index):
            continue
        brace = _body(code, index)
        if brace >= 0 and _is_head(code, index):
            return tuple(_members(code, brace))
    return ()


def _body(code: Code, name: int) -> int:
    """Return the `{` of the definition whose name stands at `name`, -1 when it is no definition."""
    index = name + 1
    while code.text(index) not in ("{", ";", "(", ")", "", "=", ">", "}"):
        index += 1
    return index if code.text(index) == "{" and index in code.pairs and code.text(name + 1) in ("{", ":", "final") else -1


def _is_head(code: Code, name: int) -> bool:
    """Whether `struct` or `class` stands before the name, with attributes between them at most."""
    index = name - 1
    while code.text(index) in (")", "]"):
        index = code.pairs.get(index, index) - 1
        index -= code.text(index) in ("alignas", "__attribute__")
    return code.text(index) in ("struct", "class")


def _members(code: Code, brace: int) -> Iterator[Member]:
    end = code.pairs[brace]
    first = index = brace + 1
    while index < end:
        text = code.texts[index]
        if code.is_directive(index) or (text == ":" and code.text(index - 1) in _ACCESS):
            first = index + 1
        elif text == "{":  # the body of a function, an initialiser, or a nested type
            index = code.pairs.get(index, index)
            if code.text(index + 1) not in (";", ",", "{"):
                first = index + 1
        elif text in ("(", "["):
            index = code.pairs.get(index, index)
        elif text == ";":
            yield from _declarators(code, first, index)
            first = index + 1
        index += 1


def _declarators(code: Code, first: int, end: int) -> Iterator[Member]:
    is_aligned = False
    while first < end and code.texts[first] in ("alignas", "["):
        is_aligned = is_aligned or code.texts[first] == "alignas"
        opening = first + 1 if code.texts[first] == "alignas" else first
        first = code.pairs.get(opening, opening) + 1
    if first >= end or code.texts[first] in _NO_MEMBERS:
        return
    type_end = -1
    for start, stop in split(code, first, end):
        stop = next((at for at in range(start, stop) if code.texts[at] in ("=", "{", ":")), stop)
        name = next((at for at in reversed(range(start, stop)) if code.is_identifier(at)), -1)
        if name < 0 or (type_end < 0 and name == start) or "(" in code.texts[start:stop] or "operator" in code.texts[start:stop]:
            return
        type_end = name if type_end < 0 else type_end
        words = code.texts[start:stop]
        yield Member(
            name=code.texts[name],
            type=join(code, first, type_end),
            is_aligned=is_aligned,
            is_indirect="*" in words or "&" in words or code.text(name + 1) == "[",
            offset=code.tokens[first].start if type_end == name else code.tokens[name].start,
        )


def definitions_of(units: Iterable[SourceUnit]) -> Definitions:
    """Return the types that files define, put together. What two of them define differently is left out."""
    found = [collect_definitions(unit) for unit in units]
    enums: dict[str, str] = {}
    aliases: dict[str, str] = {}
    doubtful: set[str] = set()
    for each in found:
        for target, source in ((enums, each.enums), (aliases, each.aliases)):
            doubtful |= {name for name, text in source.items() if target.setdefault(name, text) != text}
    doubtful |= enums.keys() & aliases.keys()
    return Definitions(
        enums={name: text for name, text in enums.items() if name not in doubtful},
        structs=frozenset().union(*(each.structs for each in found)),
        aliases={name: text for name, text in aliases.items() if name not in doubtful},
    )
