"""What stands at namespace scope of a file, and which scopes are open at an offset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skrules.adapt.structure import Branch, Structure, structure
from skrules.source.model import Kernel, SourceUnit, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name

_CLASS_KEYS = frozenset({"class", "struct", "union", "enum"})
_NOT_FUNCTIONS = frozenset(
    {"__attribute__", "__mix__", "__launch_bounds__", "__schedmode__", "alignas", "decltype", "noexcept", "operator"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """`head` is what stands before the brace: `namespace a`, `extern "C"`. Any other kind of scope is "other"."""

    kind: str  # namespace | extern-c | other
    head: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A braced declaration at namespace scope; `names` are all that it may be spoken of by (`K` and `f` for `void K::f() {`).

    `first` and `last` are indices of its tokens.
    """

    names: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScopes:
    """`outside[i]` tells whether token `i` of `code` stands at namespace scope."""

    code: Structure
    declarations: tuple[Declaration, ...]
    outside: tuple[bool, ...]

    def words(self, declaration: Declaration) -> Iterator[str]:
        for index in range(declaration.first, declaration.last + 1):
            if self.code.is_name(index):
                yield self.code.text(index)


def read_scopes(unit: SourceUnit) -> FileScopes:
    """Walk the file once. A file whose braces depend on an `#if` is read along the last branch."""
    code = structure(unit.tokens)
    outside = [False] * len(code.tokens)
    declarations = []
    start = index = 0
    while index < len(code.tokens):
        outside[index] = True
        word = code.text(index)
        if word == "{" and _scope_kind(code, start, index) == "other":
            last = code.partner[index]
            if last < 0:
                break
            declarations.append(Declaration(names=_names(code, start, index), first=start, last=last))
            index = last
            start = index + 1
        elif word in (";", "{", "}") or code.is_directive(index):
            start = index + 1
        elif word in ("(", "[") and code.partner[index] > index:
            for inside in range(index, code.partner[index] + 1):
                outside[inside] = True
            index = code.partner[index]
        index += 1
    return FileScopes(code=code, declarations=tuple(declarations), outside=tuple(outside))


def scopes_at(code: Structure, offset: int) -> tuple[Scope, ...]:
    """Return the scopes that are open at `offset`, outermost first. Of an `#if` group that is complete the last branch counts."""
    found: list[Scope] = []
    saved: list[list[Scope]] = []
    start = 0
    for index, token in enumerate(code.tokens):
        if token.start >= offset:
            break
        if code.is_directive(index):
            start = index + 1
            name = directive_name(code.text(index))
            if name in IF_DIRECTIVES:
                saved.append(list(found))
            elif name in BRANCH_DIRECTIVES and saved:
                found = list(saved[-1])
            elif name == "endif" and saved:
                saved.pop()
        elif token.text in ("{", "}", ";"):
            if token.text == "{":
                head = " ".join(code.text(at) for at in range(start, index)).replace(" :: ", "::")
                found.append(Scope(kind=_scope_kind(code, start, index), head=head, branches=code.branches[index]))
            elif token.text == "}" and found:
                found.pop()
            start = index + 1
    return tuple(found)


def has_overload(scopes: FileScopes, kernel: Kernel, text: str) -> bool:
    """Tell whether the file declares another function of the kernel's name, so that the name alone means no single function."""
    code = scopes.code
    own = _parameter_text(text, kernel.parameter_span.start, kernel.parameter_span.end)
    for index, token in enumerate(code.tokens):
        if not scopes.outside[index] or token.text != kernel.name or token.start == kernel.name_span.start:
            continue
        if code.text(index + 1) != "(" or code.partner[index + 1] < 0:
            continue
        closing = code.tokens[code.partner[index + 1]]
        if _parameter_text(text, code.tokens[index + 1].start, closing.end) != own:
            return True
    return False


def _parameter_text(text: str, start: int, end: int) -> str:
    return "".join(text[start:end].split())


def _scope_kind(code: Structure, start: int, opening: int) -> str:
    words = [code.text(index) for index in range(start, opening)]
    if "namespace" in words and "(" not in words and "=" not in words:
        return "namespace"
    if len(words) == 2 and words[0] == "extern" and code.tokens[start + 1].kind is TokenKind.STRING:
        return "extern-c" if words[1] == '"C"' else "namespace"
    return "other"


def _names(code: Structure, start: int, opening: int) -> tuple[str, ...]:
    angle = 0
    index = start
    while index < opening:
        word = code.text(index)
        angle += (word == "<") - (word == ">")
        if not angle and word in _CLASS_KEYS:
            found = [
                code.text(at)
                for at in range(index + 1, opening)
                if code.is_name(at) and code.text(at + 1) in ("{", ":", "<", "final")
            ]
            return tuple(found[:1])
        if not angle and word == "(":
            if code.is_name(index - 1) and code.text(index - 1) not in _NOT_FUNCTIONS:
                owner = (code.text(index - 3),) if code.text(index - 2) == "::" and code.is_name(index - 3) else ()
                return (*owner, code.text(index - 1))
            if code.partner[index] > index:
                index = code.partner[index]
        index += 1
    return ()
