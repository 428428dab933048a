"""What the code of a header declares and defines, as far as it may change what a name means below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skrules.source.code import Code
from skrules.source.model import Span
from skrules.source.tokens import directive_name

_NAMED = re.compile(r"#\s*(?:define|undef)\s+([A-Za-z_]\w*)")
_AFTER_DECLARED = frozenset({";", "=", "[", "{", "(", ",", "}", ":"})
_MORE_THAN_NAMES = frozenset({"include", "include_next", "import", "undef"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """`index` is the token, `name` what is declared there, "" for what may change any name; `what` says it in words."""

    index: int
    name: str
    what: str
    is_macro: bool = False


def macro_name(directive: str) -> str:
    """Return the name that a directive defines or undefines, "" for none."""
    named = _NAMED.match(directive)
    return named.group(1) if named else ""


def read_declarations(code: Code, bodies: tuple[Span, ...]) -> tuple[Declaration, ...]:
    """Return what a file declares outside of `bodies`, those of its functions and classes, in order.

    This errs on the side of too much: namespaces are not told apart, and an initialiser may count.
    """
    return tuple(_declarations(code, bodies))


def _declarations(code: Code, bodies: tuple[Span, ...]) -> Iterator[Declaration]:
    index, end = -1, -1
    ends = {body.start: body.end for body in bodies}
    while (index := index + 1) < len(code.texts):
        text, start = code.text(index), code.tokens[index].start
        end = max(end, ends.get(start, -1))
        if code.is_directive(index):
            yield from _of_directive(index, text)
        elif start < end:
            continue
        elif text == "template" and code.text(index + 1) == "<":
            index = _template_end(code, index + 1)
        elif text == "operator" or (text == "using" and code.text(index + 1) == "namespace"):
            yield Declaration(index=index, name="", what="declares more than a plain name")
        elif text == "using":
            first = index + 1
            while code.text(index + 1) not in (";", ""):
                index += 1
            name = code.text(first if code.text(first + 1) == "=" else index)
            yield Declaration(index=index, name=name, what=f"declares another '{name}'")
        elif text == "(":
            index = max(code.partner(index), index)
        elif _is_declared_name(code, index):
            yield Declaration(index=index, name=text, what=f"declares another '{text}'")


def _of_directive(index: int, text: str) -> Iterator[Declaration]:
    kind = directive_name(text)
    if kind in _MORE_THAN_NAMES or (kind == "pragma" and text.split()[1:] != ["once"]):
        yield Declaration(index=index, name="", what=f"has #{kind}")
    elif name := macro_name(text):
        yield Declaration(index=index, name=name, what=f"defines the macro '{name}'", is_macro=True)


def _template_end(code: Code, index: int) -> int:
    """Return the `>` of the `<` at `index`."""
    depth = 0
    for at in range(index, len(code.texts)):
        depth += (code.text(at) == "<") - (code.text(at) == ">")
        if not depth:
            return at
    return index


def _is_declared_name(code: Code, index: int) -> bool:
    before = code.text(index - 1)
    is_space = before == "namespace" and code.text(index + 1) in ("{", "::")
    return code.is_identifier(index) and code.text(index + 1) in _AFTER_DECLARED and before != "::" and not is_space
