"""Definitions: the functions and classes at namespace scope of a file, as candidates for a twin."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skrules.adapt.inclusions import Inclusion
from skrules.adapt.scopes import FileScopes
from skrules.source.calls import Function
from skrules.source.code import Code
from skrules.source.model import SourceUnit, Span
from skrules.source.parameters import split


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HelperFile:
    """One file that may have helpers. `inclusion` says where a header comes in, None for the adapted file itself; `inner` are
    its functions and classes, `api` the names of namespace AscendC in it."""

    unit: SourceUnit
    scopes: FileScopes
    api: frozenset[str]
    inner: tuple[Function, ...]
    inclusion: Inclusion | None = None

    @property
    def code(self) -> Code:
        return self.scopes.code

    def index(self, offset: int) -> int:
        return bisect_left(self.code.tokens, offset, key=lambda token: token.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A function, a class or a member function outside of its class, at namespace scope. `name` is what its users write; `first`
    and `last` are tokens of its file's code, `body` the token of the `{`."""

    file: HelperFile
    name: str
    is_class: bool
    is_member: bool
    first: int
    last: int
    body: int

    @property
    def start(self) -> int:
        """The offset at which it begins in its file."""
        return self.file.code.tokens[self.first].start

    @property
    def order(self) -> tuple[int, int, int]:
        """Orders definitions as the compiler sees them: by offset in the adapted file, those of headers by their include."""
        inclusion = self.file.inclusion
        return (self.start, 0, 0) if inclusion is None else (inclusion.start, inclusion.rank, self.start)

    @property
    def words(self) -> frozenset[str]:
        """The identifiers in it but members of objects."""
        code = self.file.code
        return frozenset(
            code.text(index)
            for index in range(self.first, self.last + 1)
            if code.is_identifier(index) and code.text(index - 1) not in (".", "->")
        )


def definitions(file: HelperFile) -> Iterator[Helper]:
    """Yield what a file defines at namespace scope, kernels left out."""
    code = file.code
    kernels = sorted({kernel.span for kernel in file.unit.kernels})
    end = -1
    for function in sorted(file.inner, key=lambda each: each.span):
        if function.span.start < end:
            continue
        end = function.span.end
        begin = _begin(function, kernels)
        if begin > function.body.start:
            continue  # a kernel
        first, body = file.index(begin), file.index(function.body.start)
        while code.is_directive(first) and begin > function.span.start:
            first += 1  # of the group that such a use stands in
        last = max(code.partner(body), body)
        name, is_member = function.name, False
        if not function.is_class:
            at = next((i for i in range(first, body) if code.text(i) == name and _begins_list(code, i)), first)
            holder = _holder(code, at)
            name, is_member = (holder, True) if holder else (name, False)
        elif code.text(last + 1) == ";":
            last += 1
        yield Helper(file=file, name=name, is_class=function.is_class, is_member=is_member, first=first, last=last, body=body)


def _begin(function: Function, kernels: Sequence[Span]) -> int:
    """Return where a declaration begins: behind the uses of macros that make kernels, which may go without a semicolon."""
    place = max(0, bisect_left(kernels, function.span.start, key=lambda span: span.start) - 1)
    begin = function.span.start
    while place < len(kernels) and kernels[place].start < function.body.start:
        begin = max(begin, kernels[place].end)
        place += 1
    return begin


def _begins_list(code: Code, at: int) -> bool:
    """Tell whether the name at `at` is that of a function: its parameters follow, arguments of a template, or the operator."""
    return code.text(at + 1) in ("(", "<") or code.text(at) == "operator"


def _holder(code: Code, at: int) -> str:
    """Return `K` for the member function `K<T>::f` whose name is at `at`."""
    if code.text(at - 1) != "::":
        return ""
    index = at - 2
    depth = 0
    while index > 0 and (depth or code.text(index) == ">"):
        depth += (code.text(index) == ">") - (code.text(index) == "<")
        index -= 1
    return code.text(index) if code.is_identifier(index) else ""


def after_arguments(code: Code, index: int) -> int:
    """Return the token after the name at `index` and its template arguments."""
    if code.text(index + 1) != "<":
        return index + 1
    depth, at = 0, index + 1
    while at < len(code.texts):
        depth += (code.text(at) == "<") - (code.text(at) == ">")
        at = max(code.partner(at), at) + 1 if code.text(at) in ("(", "[", "{") else at + 1
        if not depth:
            break
    return at


def parameter_list(helper: Helper) -> int:
    """Return the `(` of a function's parameters, -1 where it is not found."""
    code = helper.file.code
    opening = next((i for i in range(helper.first, helper.body) if code.text(i) == helper.name), -1)
    while 0 <= opening < helper.body and code.text(opening) != "(":
        opening += 1
    return opening if 0 <= opening < helper.body else -1


def count_of_arguments(helper: Helper) -> tuple[int, int]:
    """Return how many arguments a function takes, at least and at most."""
    code, opening = helper.file.code, parameter_list(helper)
    if opening < 0 or code.partner(opening) < 0:
        return (0, sys.maxsize)
    parts = [code.texts[first:after] for first, after in split(code, opening + 1, code.partner(opening))]
    if any("..." in part for part in parts):
        return (0, sys.maxsize)
    return sum("=" not in part for part in parts), len(parts)
