"""What a binding names: it stands right after the kernel, so what it names must be declared by then and not be replaced later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skrules.adapt.scopes import FileScopes
from skrules.contract.entry import Entry
from skrules.source.code import Code
from skrules.source.model import Kernel, SourceUnit

_WORD = re.compile(r"[A-Za-z_]\w*")
_DECLARES = frozenset({"struct", "class", "enum", "union", "using"})
_AFTER_DECLARED = frozenset({"=", ";", "{", "["})


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetProblem:
    """`offset` is the place of what is in the way."""

    rule: str
    message: str
    hint: str
    offset: int


def check_target(scopes: FileScopes, unit: SourceUnit, kernel: Kernel, entry: Entry) -> Iterator[TargetProblem]:
    """Yield what keeps `entry` from being bound behind `kernel`, one definition of its kernel."""
    arguments = entry.template_arguments
    if not arguments:
        return
    words = {word for argument in arguments for word in _WORD.findall(argument)}
    later = _declared_later(scopes, words, kernel.span.end)
    if later is not None:
        yield TargetProblem(
            rule="codegen.bind-target-declared-later",
            message=f"'{scopes.code.tokens[later].text}' of the bind_target {entry.bind_target} is declared after the kernel",
            hint="declare it before the kernel",
            offset=scopes.code.tokens[later].start,
        )
        return
    own = "".join("".join(arguments).split())
    for other in () if kernel.specialisation else unit.kernels:
        if not other.specialisation or other.qualified_name != kernel.qualified_name:
            continue
        if "".join(other.specialisation[1:-1].replace(",", "").split()) == own:
            yield TargetProblem(
                rule="codegen.bind-target-specialised",
                message=f"{entry.bind_target} is an explicit specialisation that stands after the template",
                hint="bind another specialisation, or merge it into the template with if constexpr",
                offset=other.name_span.start,
            )


def _declared_later(scopes: FileScopes, words: set[str], end: int) -> int | None:
    """Return the token that declares one of `words` at namespace scope, where the file does not know it before `end`."""
    code = scopes.code
    new = {word for word in words if scopes.first.get(word, -1) >= end}
    if not new:
        return None
    places = (index for index, token in enumerate(code.tokens) if token.text in new and scopes.is_outside(index))
    return next((index for index in places if _declares(code, index)), None)


def _declares(code: Code, index: int) -> bool:
    """Tell whether the name at `index` is being declared there: built-in types such as `half` are only used."""
    return code.text(index - 1) in _DECLARES or code.text(index + 1) in _AFTER_DECLARED
