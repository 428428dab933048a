"""Conditional compilation: which `#if` groups a token sequence has, and how to walk it along one branch of each.

Braces need not balance across branches (`if (a) {` in one, `if (b) {` in the other, one `}` after both), so whoever counts
brackets follows one branch of every group.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skrules.source.code import Code, code_of
from skrules.source.model import Token, TokenKind
from skrules.source.tokens import ALWAYS, BRANCH_DIRECTIVES, IF_DIRECTIVES, NEVER, directive_name, normalise

# Texts are made for people: a group with hundreds of branches, or nested hundreds deep, is told in short.
_MAX_BRANCHES = 8
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Group:
    """`#if` ... `#endif`. `marks` are the indices of its directives; an unclosed group ends with the code.

    `first` and `last` are the branches (pairs of marks) to follow; a branch that is literally dead is never followed.
    """

    marks: tuple[int, ...]
    first: tuple[int, int]
    last: tuple[int, int]

    @property
    def start(self) -> int:
        return self.marks[0]

    @property
    def end(self) -> int:
        return self.marks[-1]


@dataclass(frozen=True, slots=True)
class Conditions:
    """`groups` maps the index of every conditional directive to its group; `dead` are the ranges that
    `#if 0` or an `#error` hides."""

    texts: dict[int, str]  # of every conditional directive, normalised
    groups: dict[int, Group]
    dead: tuple[tuple[int, int], ...]
    marks: tuple[int, ...]  # of all groups, in order
    parents: tuple[int, ...]  # for each mark the mark that encloses its group, or -1

    def open_at(self, index: int) -> tuple[str, ...]:
        """Return the directives open at `index`, outermost first.

        A later branch is written after the earlier ones of its group: `#if A / #else`.
        """
        place = bisect_left(self.marks, index) - 1
        mark = self.marks[place] if place >= 0 else -1
        found: list[str] = []
        while mark >= 0 and len(found) < _MAX_DEPTH:
            group = self.groups[mark]
            if mark != group.end:
                place = bisect_left(group.marks, mark)
                chain = [self.texts[each] for each in group.marks[: min(place, _MAX_BRANCHES)]]
                chain += ["..."] if place > _MAX_BRANCHES else []
                found.append(" / ".join([*chain, self.texts[mark]]))
            mark = self.parents[bisect_left(self.marks, mark)]
        return tuple(reversed(found))

    def is_dead(self, index: int) -> bool:
        place = bisect_right(self.dead, (index, index)) - 1
        return place >= 0 and self.dead[place][0] < index < self.dead[place][1]

    def ends_dead(self, index: int) -> bool:
        """Tell whether the directive at `index` ends a branch that `#if 0` hides."""
        place = bisect_right(self.dead, (index, index)) - 1
        return place >= 0 and self.dead[place][1] == index

    def skip(self, index: int, *, last: bool = False) -> int:
        """Return where a walk goes on that meets the conditional directive at `index` and follows one branch of it."""
        group = self.groups[index]
        start, _ = group.last if last else group.first
        if index <= start:
            return start + 1
        return group.end + 1

    def reaches_into(self, start: int, end: int, body: int) -> bool:
        """Tell whether a group that began before `body` has a directive in the range `start` to `end` (exclusive)."""
        marks = self.marks[bisect_left(self.marks, start) : bisect_left(self.marks, end)]
        return any(self.groups[mark].start < body for mark in marks)

    def reaching(self, start: int, end: int, body: int) -> tuple[str, ...]:
        """Return all directives of the groups that `reaches_into` is about, in order."""
        marks = self.marks[bisect_left(self.marks, start) : bisect_left(self.marks, end)]
        groups = dict.fromkeys(self.groups[mark].marks for mark in marks if self.groups[mark].start < body)
        return tuple(self.texts[mark] for group in groups for mark in group if mark in self.texts)

    def crosses(self, start: int, end: int) -> bool:
        """Tell whether a conditional directive stands in the range `start` to `end` (exclusive)."""
        return bisect_left(self.marks, start) < bisect_left(self.marks, end)


def conditions_of(code: Code) -> Conditions:
    """Return the `#if` groups of `code`. An `#else` or `#endif` that belongs to no `#if` is passed over."""
    open_groups: list[list[int]] = []
    finished: list[list[int]] = []
    marks: list[int] = []
    parents: list[int] = []
    texts: dict[int, str] = {}
    for index, token in enumerate(code.tokens):
        if token.kind is not TokenKind.DIRECTIVE:
            continue
        name = directive_name(code.texts[index])
        if name in IF_DIRECTIVES:
            open_groups.append([index])
        elif name in BRANCH_DIRECTIVES and open_groups:
            open_groups[-1].append(index)
        elif name == "endif" and open_groups:
            open_groups[-1].append(index)
            finished.append(open_groups.pop())
            open_groups.append(finished[-1])
        else:
            continue
        marks.append(index)
        texts[index] = normalise(code.texts[index])
        parents.append(open_groups[-2][-1] if len(open_groups) > 1 else -1)
        if name == "endif":
            open_groups.pop()
    for group in open_groups:
        group.append(len(code))
    groups: dict[int, Group] = {}
    dead: list[tuple[int, int]] = []
    for indices in [*finished, *open_groups]:
        branches = list(pairwise(indices))
        gone = _dead_branches(code, texts[indices[0]], branches)
        alive = [branch for branch in branches if branch not in gone] or [(indices[-1], indices[-1])]
        dead += gone
        group_record = Group(tuple(indices), alive[0], alive[-1])
        groups.update((mark, group_record) for mark in indices if mark < len(code))
    return Conditions(texts, groups, _outermost(dead), tuple(marks), tuple(parents))


def places_of(tokens: Sequence[Token], offsets: Collection[int]) -> tuple[str, ...]:
    """Return the conditions that are open at the directives which begin at `offsets`."""
    directives = code_of(token for token in tokens if token.kind is TokenKind.DIRECTIVE)
    conditions = conditions_of(directives)
    found = (conditions.open_at(index) for index, token in enumerate(directives.tokens) if token.start in offsets)
    return tuple(dict.fromkeys(text for texts in found for text in texts))


def _dead_branches(code: Code, opening: str, branches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if opening in NEVER:
        return branches[:1]
    if opening in ALWAYS:
        return branches[1:]
    return [branch for branch in branches if _begins_with_error(code, *branch)]


def _begins_with_error(code: Code, start: int, end: int) -> bool:
    """Tell whether a branch opens with an `#error`, so that nothing of it is ever compiled."""
    for index in range(start + 1, end):
        name = directive_name(code.texts[index]) if code.is_directive(index) else ""
        if name != "line":
            return name == "error"
    return False


def _outermost(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    kept: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return tuple(kept)
