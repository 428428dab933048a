"""What stands at namespace scope of a file, and which scopes are open at an offset."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from skrules.adapt.structure import Branch, Structure, structure
from skrules.source.model import Kernel, SourceUnit, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name

_MAX_DEPTH = 256  # deeper braces are not told apart: no kernel is read there, and each token would hold them all
_NAMESPACE = re.compile(r"\bnamespace\b(?:.*?([\w:]+))?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """`head` is what stands before the brace: `namespace a`, `extern "C"`. Any other kind of scope is "other"."""

    kind: str  # namespace | extern-c | other
    head: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScopes:
    """`open[i]` are the scopes around token `i` of `code`, outermost first. Of an `#if` group that is complete the last branch
    counts."""

    code: Structure
    open: tuple[tuple[Scope, ...], ...]

    def at(self, offset: int) -> tuple[Scope, ...]:
        """Return the scopes that are open in front of the token that begins at or after `offset`."""
        index = bisect_left(self.code.tokens, offset, key=lambda token: token.start)
        return self.open[index] if index < len(self.open) else ()

    def branches(self, offset: int) -> tuple[Branch, ...]:
        """Return the branches of `#if` groups around the token that begins at or after `offset`."""
        index = bisect_left(self.code.tokens, offset, key=lambda token: token.start)
        return self.code.branches[index] if index < len(self.open) else ()

    def is_outside(self, index: int) -> bool:
        """Tell whether token `index` stands at namespace scope, parameter lists included."""
        return all(scope.kind != "other" for scope in self.open[index])


def read_scopes(unit: SourceUnit) -> FileScopes:
    """Walk the file once."""
    code = structure(unit.tokens)
    found: tuple[Scope, ...] = ()
    saved: list[tuple[Scope, ...]] = []
    around: list[tuple[Scope, ...]] = []
    start = hidden = 0
    for index, text in enumerate(code.texts):
        around.append(found)
        if code.is_directive(index):
            start = index + 1
            name = directive_name(text)
            if name in IF_DIRECTIVES:
                saved.append(found)
            elif name in BRANCH_DIRECTIVES and saved:
                found = saved[-1]
            elif name == "endif" and saved:
                saved.pop()
        elif text in ("{", "}", ";"):
            if text == "{" and len(found) >= _MAX_DEPTH:
                hidden += 1
            elif text == "{":
                head = " ".join(code.texts[start:index]).replace(" :: ", "::")
                found = (*found, Scope(kind=_scope_kind(code, start, index), head=head, branches=code.branches[index]))
            elif text == "}" and hidden:
                hidden -= 1
            elif text == "}":
                found = found[:-1]
            start = index + 1
    return FileScopes(code=code, open=tuple(around))


def namespaces_of(scopes: Iterable[Scope]) -> tuple[str, ...]:
    """Return the names of the namespaces among `scopes`, outermost first, "" for an anonymous one."""
    named = [_NAMESPACE.search(scope.head) for scope in scopes if scope.kind == "namespace"]
    return tuple(piece for match in named for piece in ((match.group(1) or "").split("::") if match else ()))


def has_overload(scopes: FileScopes, kernel: Kernel, unit: SourceUnit) -> bool:
    """Tell whether the file declares another function of the kernel's name, so that the name alone means no single function.

    Kernels of one name are no overloads: they are twins in `#if` branches, or a template and its specialisations.
    """
    code = scopes.code
    kernels = {each.name_span.start for each in unit.kernels if each.name == kernel.name}
    own = _parameter_text(unit.text, kernel.parameter_span.start, kernel.parameter_span.end)
    for index, token in enumerate(code.tokens):
        if token.text != kernel.name or token.start in kernels or not scopes.is_outside(index):
            continue
        if code.text(index + 1) != "(" or code.partner[index + 1] < 0:
            continue
        closing = code.tokens[code.partner[index + 1]]
        if namespaces_of(scopes.open[index]) != kernel.namespaces:
            continue
        if _parameter_text(unit.text, code.tokens[index + 1].start, closing.end) != own:
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
