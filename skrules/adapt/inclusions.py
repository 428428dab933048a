"""Inclusions: where the workspace headers of a file come in, and what stands between a header's code and that place."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skrules.adapt.scopes import FileScopes, read_scopes
from skrules.adapt.splice import after_line
from skrules.source.code import Code
from skrules.source.model import SourceUnit
from skrules.source.tokens import directive_name

_INCLUDE = re.compile(r'#\s*include\s*["<]([^">\n]+)[">]')
_GUARD = re.compile(r"#\s*(?:ifndef\s+|if\s*!\s*defined\s*\(?\s*)(\w+)\s*\)?\s*\Z")
_DEFINE = re.compile(r"#\s*define\s+(\w+)\s*\Z")
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """One header of a file. Its code is there at `place`, the line after the file's include directive, which begins at `start`.

    `rank` orders headers of one place. `after` has, of each header between, the tokens that follow the include in it. `guard` is
    the offset of the `#ifndef` that lets the header in only once, -1 for none. `problem` says why what is known here is not
    enough to repeat its code at `place`, "" if it is.
    """

    unit: SourceUnit
    scopes: FileScopes
    start: int
    place: int
    rank: int
    after: tuple[tuple[FileScopes, int], ...]
    guard: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """An include directive: token `index` of a file."""

    path: str
    scopes: FileScopes
    index: int


@dataclass(slots=True, kw_only=True)
class _Walk:
    headers: dict[str, SourceUnit]
    scopes: dict[str, FileScopes] = field(default_factory=dict)
    chains: dict[str, tuple[_Step, ...]] = field(default_factory=dict)
    finished: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def enter(self, path: str, scopes: FileScopes, chain: tuple[_Step, ...]) -> None:
        for index, name in _includes(scopes.code):
            header = _resolved(path, name, self.headers)
            if header is None:
                continue
            self.counts[header] += 1
            if header in self.chains or len(chain) >= _MAX_DEPTH:
                continue
            self.chains[header] = (*chain, _Step(path=path, scopes=scopes, index=index))
            self.scopes[header] = read_scopes(self.headers[header])
            self.enter(header, self.scopes[header], self.chains[header])
            self.finished.append(header)


def read_inclusions(unit: SourceUnit, scopes: FileScopes, headers: Sequence[SourceUnit]) -> tuple[Inclusion, ...]:
    """Return the headers that a file includes, through others too, in the order in which their code is complete."""
    walk = _Walk(headers={header.path: header for header in headers})
    walk.enter(unit.path, scopes, ())
    return tuple(_inclusion(unit, walk, path, rank) for rank, path in enumerate(walk.finished))


def _inclusion(unit: SourceUnit, walk: _Walk, path: str, rank: int) -> Inclusion:
    first, *others = walk.chains[path]
    directive = first.scopes.code.tokens[first.index]
    code = walk.scopes[path].code
    guard = guard_of(code)
    return Inclusion(
        unit=walk.headers[path],
        scopes=walk.scopes[path],
        start=directive.start,
        place=after_line(unit.text, directive.end),
        rank=rank,
        after=tuple((step.scopes, step.index + 1) for step in others),
        guard=guard,
        problem=_problem(walk, path, guard),
    )


def _problem(walk: _Walk, path: str, guard: int) -> str:
    code = walk.scopes[path].code
    if not code.balanced:
        return "its braces depend on an #if"
    is_once = guard >= 0 or any(text.split() == ["#pragma", "once"] for text in code.texts)
    if not is_once and walk.counts[path] > 1:
        return "it is included more than once, without a guard"
    for step in walk.chains[path]:
        if step.scopes.open[step.index] is not None:
            return f"{step.path} includes it inside of a scope"
        own = guard_of(step.scopes.code)
        if walk.counts[path] > 1 and any(branch.group != own for branch in step.scopes.code.branches(step.index)):
            return f"which of its includes counts depends on an #if in {step.path}"
    return ""


def guard_of(code: Code) -> int:
    """Return the offset of a header's include guard, -1 where it has none."""
    if len(code.tokens) < 3 or not code.is_directive(0) or not code.is_directive(1):
        return -1
    guard, define = _GUARD.match(code.text(0).strip()), _DEFINE.match(code.text(1).strip())
    group = code.tokens[0].start
    if guard is None or define is None or guard.group(1) != define.group(1):
        return -1
    if directive_name(code.texts[-1]) != "endif":
        return -1
    inside = (code.branches(index) for index in range(1, len(code) - 1))
    return group if all(each and (each[0].group, each[0].index) == (group, 0) for each in inside) else -1


def _includes(code: Code) -> Iterator[tuple[int, str]]:
    for index, token in enumerate(code.tokens):
        if directive_name(token.text) == "include" and (match := _INCLUDE.match(token.text)):
            yield index, match.group(1)


def _resolved(path: str, name: str, headers: dict[str, SourceUnit]) -> str | None:
    """Return the header that `name` means in the file `path`: the one beside it, else the only one that is called so."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if beside in headers:
        return beside
    tail = posixpath.normpath(name)
    while tail.startswith("../"):
        tail = tail[3:]
    found = [header for header in headers if header == tail or header.endswith(f"/{tail}")]
    return found[0] if len(found) == 1 else None
