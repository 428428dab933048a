"""What stands at namespace scope of a file, and which scopes are open at an offset."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from skrules.adapt.structure import Branch, Structure, structure
from skrules.source.model import Kernel, SourceUnit, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name

_NAMESPACE = re.compile(r"\bnamespace\b(?:.*?([\w:]+))?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """`head` is what stands before the brace: `namespace a`, `extern "C"`. Any other kind of scope is "other"."""

    kind: str  # namespace | extern-c | other
    head: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScopes:
    """`outside[i]` tells whether token `i` of `code` stands at namespace scope, parameter lists included."""

    code: Structure
    outside: tuple[bool, ...]


def read_scopes(unit: SourceUnit) -> FileScopes:
    """Walk the file once. What follows a brace that is never closed counts as inside of it."""
    code = structure(unit.tokens)
    outside = [False] * len(code.tokens)
    start = index = 0
    while index < len(code.tokens):
        outside[index] = True
        word = code.text(index)
        if word == "{" and _scope_kind(code, start, index) == "other":
            if code.partner[index] < 0:
                break
            index = code.partner[index]
            start = index + 1
        elif word in (";", "{", "}") or code.is_directive(index):
            start = index + 1
        index += 1
    return FileScopes(code=code, outside=tuple(outside))


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


def namespaces_of(scopes: Iterable[Scope]) -> tuple[str, ...]:
    """Return the names of the namespaces among `scopes`, outermost first, "" for an anonymous one."""
    named = [_NAMESPACE.search(scope.head) for scope in scopes if scope.kind == "namespace"]
    return tuple(piece for match in named for piece in ((match.group(1) or "").split("::") if match else ()))


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
        if namespaces_of(scopes_at(code, token.start)) != kernel.namespaces:
            continue
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
