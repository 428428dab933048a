"""Is a file already adapted to super kernels? Sources of the markers: the SuperKernel code generation guide.

Only code counts: what comments and strings say about SK changes nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skrules.source.code import Code, code_of, join
from skrules.source.conditions import conditions_of
from skrules.source.macros import read_macro
from skrules.source.model import Kernel, SourceUnit


class SkForm(enum.StrEnum):
    """The form of one file. `MIXED` is what a folder is whose files differ."""

    NONE = "none"
    CURRENT_SK_BIND = "current-sk-bind"
    PARTIAL = "partial"
    UNKNOWN = "unknown"
    MIXED = "mixed"


class Confidence(enum.StrEnum):
    """How sure a marker is: a keyword is high, a name that could be the author's own is medium."""

    HIGH = "high"
    MEDIUM = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One piece of evidence. `is_legacy` marks what belongs to a form that is no longer supported."""

    name: str
    line: int
    column: int
    confidence: Confidence
    is_legacy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """`bound` and `unbound` are the kernels of the file, by qualified name, in order."""

    form: SkForm
    markers: tuple[Marker, ...]
    notes: tuple[str, ...]
    bound: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()


_MARKERS = {
    "__sk__": (Confidence.HIGH, False),
    "SK_BIND": (Confidence.HIGH, False),
    "SkSystemArgs": (Confidence.HIGH, False),
    "CommArgs": (Confidence.MEDIUM, True),
    "__spk__": (Confidence.HIGH, True),
    "FunLevelKType": (Confidence.HIGH, True),
    "FunLevelMixCoreType": (Confidence.HIGH, True),
}
UNREAD = frozenset({"source.kernel-not-read", "source.macro-kernel"})
_META_SECTION = ".ascend.meta"  # the section attribute that older super kernels used


def classify(unit: SourceUnit) -> Form:
    """Tell the SK form of a file that was read, with the evidence.

    `current-sk-bind` needs an SK function and an SK_BIND for every kernel, and no legacy marker; anything between that
    and nothing is `partial`; a file without a kernel is `unknown`.
    """
    parts = _parts(unit.code)
    markers = _markers(unit, parts)
    targets = _bind_targets(parts)
    bound = tuple(kernel.qualified_name for kernel in unit.kernels if _is_bound(kernel, targets))
    unbound = tuple(kernel.qualified_name for kernel in unit.kernels if not _is_bound(kernel, targets))
    form, notes = _decide(unit, markers, bound, unbound)
    return Form(form=form, markers=markers, notes=notes, bound=bound, unbound=unbound)


def _decide(
    unit: SourceUnit, markers: tuple[Marker, ...], bound: tuple[str, ...], unbound: tuple[str, ...]
) -> tuple[SkForm, tuple[str, ...]]:
    names = {marker.name for marker in markers}
    legacy = sorted({marker.name for marker in markers if marker.is_legacy})
    if not unit.kernels:
        if unit.findings:
            return SkForm.UNKNOWN, ("the file has a __global__ declaration that is not understood",)
        return SkForm.UNKNOWN, ("the file defines no __global__ function",)
    if not names:
        return SkForm.NONE, ()
    notes: list[str] = []
    if legacy:
        notes.append(f"legacy markers: {', '.join(legacy)}")
    if "__sk__" in names and "SK_BIND" not in names:
        notes.append("there are SK functions, but no SK_BIND")
    if "SK_BIND" in names and "__sk__" not in names:
        notes.append("there is an SK_BIND, but no SK function")
    if not names & {"__sk__", "SK_BIND"}:
        notes.append("there are SK markers, but neither an SK function nor an SK_BIND")
    if unbound and bound:
        notes.append(f"not bound: {', '.join(unbound)}")
    elif unbound and "SK_BIND" in names:
        notes.append("no SK_BIND names a kernel of this file")
    if any(finding.rule in UNREAD for finding in unit.findings):
        notes.append("the file has a __global__ declaration that is not understood")
    if notes:
        return SkForm.PARTIAL, tuple(notes)
    return SkForm.CURRENT_SK_BIND, ()


def overall(forms: tuple[Form, ...]) -> SkForm:
    """Return the one form that all files have, or `mixed`; `unknown` for no file."""
    kinds = {form.form for form in forms}
    if not kinds:
        return SkForm.UNKNOWN
    return kinds.pop() if len(kinds) == 1 else SkForm.MIXED


def _markers(unit: SourceUnit, parts: Sequence[Code]) -> tuple[Marker, ...]:
    lines = unit.lines
    found: list[Marker] = []

    def add(offset: int, name: str, confidence: Confidence, *, is_legacy: bool) -> None:
        line, column = lines.position(offset)
        found.append(Marker(name=name, line=line, column=column, confidence=confidence, is_legacy=is_legacy))

    for part in parts:
        for index, text in enumerate(part.texts):
            if text in _MARKERS and part.is_identifier(index):
                confidence, is_legacy = _MARKERS[text]
                add(part.tokens[index].start, text, confidence, is_legacy=is_legacy)
            elif text.startswith('"') and _META_SECTION in text and _is_section(part, index):
                add(part.tokens[index].start, _META_SECTION, Confidence.HIGH, is_legacy=True)
    for kernel in unit.kernels:
        for parameter in kernel.parameters:
            if parameter.name == "param" and parameter.type.replace(" ", "") == "__gm__uint64_t*":
                add(parameter.span.start, "__gm__ uint64_t *param", Confidence.MEDIUM, is_legacy=True)
    return tuple(sorted(found, key=lambda marker: (marker.line, marker.column, marker.name)))


def _is_section(code: Code, index: int) -> bool:
    """Tell whether a string is the argument of `section(...)`: any other string is only text."""
    return code.text(index - 1) == "(" and code.text(index - 2).strip("_") == "section"


def _parts(code: Code) -> list[Code]:
    """Return the code and the replacement lists of its macros; what `#if 0` hides is no code."""
    conditions = conditions_of(code)
    dead = [range(start, end) for start, end in conditions.dead]
    alive = [index for index in range(len(code)) if not conditions.is_dead(index)] if dead else range(len(code))
    shown = code if not dead else code_of(code.tokens[index] for index in alive)
    macros = (read_macro(token) for index, token in enumerate(shown.tokens) if shown.is_directive(index))
    return [shown, *(macro.code for macro in macros if macro is not None)]


def _bind_targets(parts: Iterable[Code]) -> frozenset[str]:
    """Return the first arguments of all SK_BIND, without template arguments and casts, qualified as written."""
    targets: set[str] = set()
    for part in parts:
        for index, text in enumerate(part.texts):
            if text != "SK_BIND" or part.text(index + 1) != "(":
                continue
            closing = part.pairs.get(index + 1, -1)
            if closing < index:
                continue
            end = index + 2
            while end < closing and part.texts[end] != ",":
                end = part.pairs.get(end, end) + 1 if part.texts[end] in ("(", "[") else end + 1
            targets.add(target_name(part, index + 2, end))
    return frozenset(targets)


def target_name(code: Code, start: int, end: int) -> str:
    """Return `ns::k` for `ns::k<half>`, `&ns::k` and `static_cast<void (*)(GM_ADDR)>(ns::k<half>)`."""
    if code.text(start) == "static_cast" and code.text(end - 1) == ")":
        start, end = code.pairs.get(end - 1, start) + 1, end - 1
    while start < end and code.texts[start] in ("&", "::"):
        start += 1
    stop = start
    while stop < end and (code.is_identifier(stop) or code.texts[stop] == "::"):
        stop += 1
    return join(code, start, stop)


def _is_bound(kernel: Kernel, targets: frozenset[str]) -> bool:
    """Tell whether a target, read from inside of the kernel's namespaces or from outside, can name the kernel."""
    spaces = [space for space in kernel.namespaces if space]
    return any("::".join([*spaces[place:], kernel.name]) in targets for place in range(len(spaces) + 1))
