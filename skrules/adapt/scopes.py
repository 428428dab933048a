"""What stands at namespace scope of a file, and which scopes are open at an offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skrules.source.code import Code
from skrules.source.matching import Branch
from skrules.source.model import Kernel, SourceUnit, Span
from skrules.source.scopes import Scope, innermost, namespaces, scope_at
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name

NOT_NAMESPACE_SCOPE = ("class", "block")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScopes:
    """`open[i]` is the innermost scope around token `i` of `code`; `named` are the tokens by text that a `(` follows,
    `first` is the offset at which each text stands first.

    Of an `#if` group that is complete the last branch counts. The reader of kernels goes by the first one: where the two do not
    agree on a kernel, its scopes depend on a condition.
    """

    code: Code
    open: tuple[Scope | None, ...]
    named: Mapping[str, Sequence[int]]
    first: Mapping[str, int]

    def around(self, index: int) -> tuple[Scope, ...]:
        """Return the scopes around token `index`, outermost first."""
        scope = self.open[index] if index < len(self.open) else None
        found: list[Scope] = []
        while scope is not None:
            found.append(scope)
            scope = scope.parent
        return tuple(reversed(found))

    def at(self, offset: int) -> tuple[Scope, ...]:
        """Return the scopes that are open in front of the token that begins at or after `offset`."""
        return self.around(self.code.index(offset))

    def branches(self, offset: int) -> tuple[Branch, ...]:
        """Return the branches of `#if` groups around the token that begins at or after `offset`."""
        index = self.code.index(offset)
        return self.code.branches(index) if index < len(self.code) else ()

    def head(self, scope: Scope) -> str:
        """Return what stands before the brace: `namespace a::b`, `extern "C"`."""
        return " ".join(self.code.texts[scope.start : scope.brace]).replace(" :: ", "::")

    def is_outside(self, index: int) -> bool:
        """Tell whether token `index` stands at namespace scope, parameter lists included."""
        return innermost(self.open[index], *NOT_NAMESPACE_SCOPE) is None


def read_scopes(unit: SourceUnit) -> FileScopes:
    """Walk the file once."""
    code = unit.code
    scope: Scope | None = None
    saved: list[Scope | None] = []
    around: list[Scope | None] = []
    named: dict[str, list[int]] = {}
    first = {token.text: token.start for token in reversed(code.tokens)}
    for index, text in enumerate(code.texts):
        around.append(scope)
        if text == "{":
            scope = scope_at(code, index, scope)
        elif text == "}":
            scope = scope.parent if scope is not None else None
        elif text == "(":
            named.setdefault(code.text(index - 1), []).append(index - 1)
        elif code.is_directive(index):
            name = directive_name(text)
            if name in IF_DIRECTIVES:
                saved.append(scope)
            elif name in BRANCH_DIRECTIVES and saved:
                scope = saved[-1]
            elif name == "endif" and saved:
                saved.pop()
    return FileScopes(code=code, open=tuple(around), named=named, first=first)


def has_overload(scopes: FileScopes, kernel: Kernel, unit: SourceUnit) -> bool:
    """Tell whether the file declares another function of the kernel's name, so that the name alone means no single function.

    Kernels of one name are no overloads: they are twins in `#if` branches, or a template and its specialisations.
    """
    code = scopes.code
    others = [index for index in scopes.named.get(kernel.name, ()) if code.tokens[index].start != kernel.name_span.start]
    if not others:
        return False
    kernels = {each.name_span.start for each in unit.kernels if each.name == kernel.name}
    own = _parameter_text(unit.text, kernel.parameter_span)
    for index in others:
        closing = code.partner(index + 1)
        if code.tokens[index].start in kernels or closing < 0 or not scopes.is_outside(index):
            continue
        if namespaces(scopes.open[index]) != kernel.namespaces:
            continue
        if _parameter_text(unit.text, code.span(index + 1, closing)) != own:
            return True
    return False


def _parameter_text(text: str, span: Span) -> str:
    return "".join(text[span.start : span.end].split())
