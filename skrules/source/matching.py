"""Brackets and `#if` branches of a token sequence, found in one walk over it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from skrules.source.model import Token, TokenKind
from skrules.source.tokens import ALWAYS, BRANCH_DIRECTIVES, IF_DIRECTIVES, NEVER, directive_name, normalise

_CLOSES = {")": "(", "]": "[", "}": "{"}
_ANGLES = frozenset({"<", "<<<"})
_OPENING = frozenset({"(", "[", "{", "<", "<<<"})
_BRACKETS = _OPENING | frozenset({")", "]", "}", ">", ";"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One branch of a conditional group: `group` is the offset of its `#if`, `index` counts branches from 0.

    `directive` opens it, as written; `earlier` is the branch before it in the group, `around` the one that the group stands in.
    """

    group: int
    index: int
    directive: str = field(compare=False)
    earlier: Branch | None = field(compare=False, repr=False)
    around: Branch | None = field(compare=False, repr=False)

    @property
    def lines(self) -> tuple[str, ...]:
        """The directives of the group from the `#if` to the one that opens the branch."""
        found: list[str] = []
        branch: Branch | None = self
        while branch is not None:
            found.append(branch.directive)
            branch = branch.earlier
        return tuple(reversed(found))


def exclusive(left: Iterable[Branch], right: Iterable[Branch]) -> bool:
    """Tell whether two places lie in different branches of one group, so that never both are compiled."""
    chosen = {branch.group: branch.index for branch in left}
    return any(chosen.get(branch.group, branch.index) != branch.index for branch in right)


class _Open:
    """An open bracket, linked to the one around it, so that a `#else` can go back to the state at its `#if`."""

    __slots__ = ("around", "index")

    def __init__(self, index: int, around: _Open | None) -> None:
        self.index = index
        self.around = around


class _Group:
    """An open `#if`: the brackets open before it, and those after its first branch that counts, once that has ended.

    A branch is hidden that `#if 0`, an `#error` at its beginning or an enclosing hidden branch hides.
    """

    __slots__ = ("after", "before", "branch", "is_hidden", "opening", "within_hidden")

    def __init__(self, before: _Open | None, branch: Branch, *, within_hidden: bool) -> None:
        self.before = before
        self.after: list[_Open | None] = []
        self.branch = branch
        self.opening = normalise(branch.directive)
        self.within_hidden = within_hidden
        self.is_hidden = within_hidden or self.opening in NEVER

    @property
    def start(self) -> _Open | None:
        """The innermost bracket that is open at the beginning of the branch."""
        return None if self.is_hidden else self.before


class Matcher:
    """`match` walks once; then `pairs`, `balanced`, `marks` and `within` are those of `Code`."""

    def __init__(self, tokens: tuple[Token, ...], texts: tuple[str, ...]) -> None:
        self.pairs: dict[int, int] = {}
        self.balanced = True
        self.marks: list[int] = []
        self.within: list[Branch | None] = []
        self._tokens = tokens
        self._texts = texts
        self._stack: _Open | None = None
        self._groups: list[_Group] = []

    def match(self) -> None:
        texts = self._texts
        for index, text in enumerate(texts):
            if text not in _BRACKETS:
                if self._tokens[index].kind is TokenKind.DIRECTIVE:
                    self._pass_directive(index, text)
            elif text in _OPENING:
                self._stack = _Open(index, self._stack)
            elif text == ">":
                if self._stack is not None and _closes_angle(texts, self._stack.index, index):
                    self._stack = self._pair(self._stack, index)
            else:
                self._stack = self._without_angles(self._stack)
                if text != ";":
                    self._close(index, text)
        self.balanced = self.balanced and self._without_angles(self._stack) is None and not self._groups

    def _close(self, index: int, text: str) -> None:
        stack = self._stack
        if text == "}":  # whatever its braces leave open ends with them
            while stack is not None and self._texts[stack.index] != "{":
                self.balanced = False
                stack = stack.around
            self._stack = stack
        if stack is not None and self._texts[stack.index] == _CLOSES[text]:
            self._stack = self._pair(stack, index)
        else:
            self.balanced = False

    def _pair(self, opening: _Open, closing: int) -> _Open | None:
        self.pairs[closing] = opening.index
        self.pairs.setdefault(opening.index, closing)  # closed once in every branch: the first counts
        return opening.around

    def _without_angles(self, stack: _Open | None) -> _Open | None:
        while stack is not None and self._texts[stack.index] in _ANGLES:
            stack = stack.around
        return stack

    def _pass_directive(self, index: int, text: str) -> None:
        name = directive_name(text)
        groups = self._groups
        if name in IF_DIRECTIVES:
            token = self._tokens[index]
            around = self.within[-1] if self.within else None
            branch = Branch(group=token.start, index=0, directive=token.text, earlier=None, around=around)
            groups.append(_Group(self._stack, branch, within_hidden=bool(groups) and groups[-1].is_hidden))
            self._stack = groups[-1].start
            self._mark(index, branch)
        elif groups and (name in BRANCH_DIRECTIVES or name == "endif"):
            self._end_branch(index, groups[-1], is_last=name == "endif")
        elif groups and name == "error" and self._stack is groups[-1].before:
            groups[-1].is_hidden = True
            self._stack = None

    def _end_branch(self, index: int, group: _Group, *, is_last: bool) -> None:
        self.balanced = self.balanced and self._without_angles(self._stack) is self._without_angles(group.start)
        if not group.is_hidden and not group.after:
            group.after.append(self._stack)
        if is_last:
            self._groups.pop()
            self._stack = group.after[0] if group.after else group.before
            self._mark(index, group.branch.around)
            return
        group.is_hidden = group.within_hidden or group.opening in ALWAYS
        group.branch = Branch(
            group=group.branch.group,
            index=group.branch.index + 1,
            directive=self._tokens[index].text,
            earlier=group.branch,
            around=group.branch.around,
        )
        self._stack = group.start
        self._mark(index, group.branch)

    def _mark(self, index: int, branch: Branch | None) -> None:
        self.marks.append(index)
        self.within.append(branch)


def _closes_angle(texts: tuple[str, ...], opening: int, index: int) -> bool:
    return texts[opening] == "<" or (texts[opening] == "<<<" and texts[index + 1 : index + 3] == (">", ">"))
