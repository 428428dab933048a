"""Scopes of a file: which namespaces and `extern "C"` blocks are open at a place."""

from __future__ import annotations

from dataclasses import dataclass

from skrules.source.code import Code


@dataclass(frozen=True, slots=True)
class Scope:
    """One open brace; scopes are linked to the one around them, so that a `#if` can go back to an earlier state.

    `kind` is "namespace", "extern-c", "extern-c++", "class" or "block". `start` is the first token of its head, `brace` the
    `{`; a class or block has no head here.
    """

    kind: str
    names: tuple[str, ...]
    start: int
    brace: int
    parent: Scope | None
    depth: int


def scope_at(code: Code, brace: int, parent: Scope | None) -> Scope:
    """Return the scope that the `{` at `brace` opens."""
    depth = 1 if parent is None else parent.depth + 1
    if code.text(brace - 2) == "extern" and code.text(brace - 1) in ('"C"', '"C++"'):
        return Scope("extern-c" if code.texts[brace - 1] == '"C"' else "extern-c++", (), brace - 2, brace, parent, depth)
    index = brace - 1
    while index >= 0 and (code.is_identifier(index) or code.texts[index] in ("::", "]")) and code.texts[index] != "namespace":
        index = code.pairs.get(index, index) - 1 if code.texts[index] == "]" else index - 1
    if code.text(index) == "namespace":
        start = index - 1 if code.text(index - 1) == "inline" else index
        return Scope("namespace", _namespace_names(code, index + 1, brace), start, brace, parent, depth)
    return Scope("class" if _is_class(code, brace) else "block", (), brace, brace, parent, depth)


def _namespace_names(code: Code, start: int, end: int) -> tuple[str, ...]:
    names: list[str] = []
    index = start
    while index < end:
        if code.texts[index] == "[":
            index = code.pairs.get(index, index)
        elif code.is_identifier(index) and code.texts[index] != "inline":
            # An attribute macro may stand before the name: names that no `::` joins replace one another.
            if names and code.text(index - 1) not in ("::", "inline"):
                names.pop()
            names.append(code.texts[index])
        index += 1
    return tuple(names) or ("",)


def _is_class(code: Code, brace: int) -> bool:
    index = brace - 1
    while index >= 0 and code.texts[index] not in (";", "{", "}", ")") and not code.is_directive(index):
        if code.texts[index] in ("class", "struct", "union", "enum"):
            return True
        index = code.pairs.get(index, index) - 1 if code.texts[index] in ("]", ">") else index - 1
    return False


def namespaces(scope: Scope | None) -> tuple[str, ...]:
    """Return the names of the namespaces that are open in `scope`, outermost first, "" for an anonymous one."""
    found: list[str] = []
    while scope is not None:
        found[:0] = scope.names
        scope = scope.parent
    return tuple(found)


def innermost(scope: Scope | None, *kinds: str) -> Scope | None:
    """Return the nearest scope of one of `kinds`, from `scope` outwards."""
    while scope is not None and scope.kind not in kinds:
        scope = scope.parent
    return scope


def linkage(scope: Scope | None) -> str:
    """Return "block" where an `extern "C" { }` is in force, else "": what `Kernel.extern_c` says of a kernel without a prefix."""
    around = innermost(scope, "extern-c", "extern-c++")
    return "block" if around is not None and around.kind == "extern-c" else ""
