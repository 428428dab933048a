"""What makes the compiler verify the macros that the contract states: an error wherever the build contradicts them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

import jinja2

from skrules.adapt.edits import Edit, line_start
from skrules.adapt.places import tokens_in
from skrules.adapt.splice import Fragment, after_line
from skrules.shapes import shape
from skrules.source.evaluation import DEFINED, UNDEFINED
from skrules.source.model import SourceUnit, Span, TokenKind

_REST_OF_LINE = re.compile(r"[ \t]*(?:\r\n?|\n)")

Statement = tuple[str, int | str]


def stated_macros(units: Iterable[SourceUnit]) -> tuple[Statement, ...]:
    """Return the statements that decided anything in `units`, each once, in order."""
    return tuple(dict.fromkeys(macro for unit in units for decision in unit.decisions for macro in decision.macros))


def guard(macros: Sequence[Statement], source: str, newline: str) -> str:
    """Return lines that do not compile unless every statement is true there; "" for none. `source` names the contract."""
    conditions = [{"wrong": _wrong(*macro), "text": _told([macro])} for macro in macros]
    return _template(newline).render(unless=(), conditions=conditions, source=_quoted(source), stated="") if macros else ""


def branch_guards(unit: SourceUnit, source: str) -> Iterator[Fragment]:
    """Yield an error for each branch that is decided dead, and one where a group would be left without its branch.

    The compiler meets them where it decides itself, by the condition as it is written: what the macro is there counts,
    whatever it is elsewhere.
    """
    template = _template(unit.newline)
    for decision in unit.decisions:
        told = {"conditions": (), "source": _quoted(source), "stated": _told(decision.macros)}
        dead = template.render(unless=(), **told)
        for end in decision.dead:
            at = after_line(unit.text, end)
            yield Fragment(span=Span(start=at, end=at), text=dead)
        if decision.unless:
            begin = line_start(unit.text, decision.start)
            is_alone = not unit.text[begin : decision.start].strip(" \t")
            at = begin if is_alone else decision.start
            text = template.render(unless=decision.unless, **told)
            yield Fragment(span=Span(start=at, end=at), text=text if is_alone else unit.newline + text)


def inactive_edits(unit: SourceUnit, span: Span, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yield what takes the inactive text out of a copy of `span` that is made with `edits`.

    The span may begin or end inside of a branch, so that the directives in it do not stand on their own. The original in
    front of the copy has them, and what they are verified by.
    """
    others = sorted(edits)
    starts = [edit.start for edit in others]
    tokens = tokens_in(unit, span)
    for place, token in enumerate(tokens):
        if token.kind is not TokenKind.INACTIVE:
            continue
        start, end = token.start, token.end
        around = bisect_right(starts, start) - 1
        if around >= 0 and end <= others[around].end:
            continue  # that edit takes it out
        after_directive = place > 0 and tokens[place - 1].kind is TokenKind.DIRECTIVE
        begin = line_start(unit.text, start)
        if not after_directive and begin > span.start and not unit.text[begin:start].strip(" \t"):
            rest = _REST_OF_LINE.match(unit.text, end, span.end)
            start, end = (begin, rest.end()) if rest else (start, end)  # whole lines
        yield Edit(start=start, end=end, text=unit.newline if after_directive else "")


def _template(newline: str) -> jinja2.Template:
    return shape("adapt", "guard.j2", newline=newline)


def _wrong(name: str, value: int | str) -> str:
    """Return the condition under which a statement is false. An empty macro has no value: the sum makes it comparable."""
    if value == UNDEFINED:
        return f"defined({name})"
    if value == DEFINED:
        return f"!defined({name})"
    return f"!defined({name}) || ({name} + 0) != {value}"


def _told(macros: Iterable[Statement]) -> str:
    return ", ".join(f"{name} is stated as {value}" for name, value in macros)


def _quoted(source: str) -> str:
    """Return a file's name as it can stand in a directive: an absolute path says nothing on another machine. Texts hold bytes
    as latin-1."""
    path = PurePath(source)
    source = path.name if path.is_absolute() else source
    return source.replace("\\", "/").replace('"', "'").encode("utf-8").decode("latin-1")
