"""Code that is not the same in a copy behind it: what it defines is defined there already, and its place is another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skrules.adapt.inclusions import guard_of
from skrules.adapt.places import finding
from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.source.model import SourceUnit
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name

COUNTER = "__COUNTER__"
# Names of the place that they stand at.
PLACES = frozenset({"__LINE__", "__FILE__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__BASE_FILE__"})
_INCLUDE = re.compile(r'#\s*include\s*["<]([^">\n]+)[">]')
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"#\s*(?:define|undef)\s+([A-Za-z_]\w*)")


def unlike_in_copy(code: Code, indices: range) -> Iterator[tuple[int, str]]:
    """Yield the tokens for which a copy of `indices` right behind them would be other code, each with the reason."""
    said: set[str] = set()
    reset: set[str] = set()  # macros that are mentioned first where their meaning is taken away: it does not matter
    first: dict[str, str] = {}  # macros that are mentioned first where they are defined, with what they are defined as
    last: dict[str, tuple[int, str]] = {}
    for index in indices:
        text = code.text(index)
        if code.is_directive(index):
            defined = _DEFINED.match(text)
            words = set(_WORD.findall(text)[1:])
            name = defined[1] if defined else ""
            if name in reset:
                continue
            if name and name not in said and directive_name(text) == "undef":
                reset.add(name)
            elif name and name in said and name not in first:
                yield index, f"'{name}' is used before it is defined here, and defined when the copy begins"
            elif name and directive_name(text) == "define":
                first.setdefault(name, text)
            if name in first:
                last[name] = (index, text)
            if name or directive_name(text) in (*IF_DIRECTIVES, *BRANCH_DIRECTIVES):
                said |= words
        elif code.is_identifier(index):
            said.add(text)
            if text == COUNTER:
                yield index, f"'{COUNTER}' is another number there"
    for name, (index, text) in last.items():
        if directive_name(text) == "define" and text != first[name]:
            yield index, f"'{name}' is defined otherwise before, which the copy does again"


def copy_findings(unit: SourceUnit, kernel: str, code: Code, headers: Sequence[SourceUnit]) -> Iterator[Finding]:
    """Yield what keeps a kernel's body, `code`, from being the same in the SK function behind it.

    `headers` are those of the file: one that lets itself in only once is not in a copy that includes it again.
    """
    rule = "codegen.body-not-repeatable"
    for index, reason in unlike_in_copy(code, range(len(code.texts))):
        message = f"{kernel}: the SK function repeats the body, which is other code there: {reason}"
        hint = "move the directives, or what depends on them, in front of the kernel"
        yield finding(unit, code.tokens[index].start, rule, message, hint=hint)
    for index, text in enumerate(code.texts):
        if code.is_identifier(index) and text in PLACES:
            message = f"{kernel}: '{text}' is that of the SK function in the SK function"
            yield finding(unit, code.tokens[index].start, "codegen.place-in-body", message, severity=Severity.WARNING)
        include = _INCLUDE.match(text) if code.is_directive(index) else None
        if include and (why := _not_again(include[1], headers)):
            message = f"{kernel}: the SK function repeats the body, and '{include[1]}' {why}"
            hint = "include it in front of the kernel, or write its text into the body"
            yield finding(unit, code.tokens[index].start, rule, message, hint=hint)


def _not_again(name: str, headers: Sequence[SourceUnit]) -> str:
    """Return why an included file may have other text the second time, or ""."""
    last = name.rpartition("/")[2]
    found = [header for header in headers if header.path.rpartition("/")[2] == last]
    if not found:
        return "is not found, so that it is not known whether it can be included twice"
    for header in found:
        once = any(text.split() == ["#pragma", "once"] for text in header.code.texts)
        if once or guard_of(header.code) >= 0:
            return "lets itself in only once"
        defines = any(_DEFINED.match(text) for index, text in enumerate(header.code.texts) if header.code.is_directive(index))
        if defines:
            return "defines macros, which are there already the second time"
    return ""
