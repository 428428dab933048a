"""Where generated text goes into the user's file. The original bytes stay; fragments stand between them, as whole lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skrules.adapt.scopes import NOT_NAMESPACE_SCOPE, FileScopes
from skrules.source.matching import Branch
from skrules.source.model import Kernel, SourceUnit, Span, TokenKind
from skrules.source.scopes import Scope, namespaces
from skrules.source.tokens import directive_name

INCLUDE = '#include "kernel_operator.h"  // added by skrules'
_HEADER = re.compile(r'#\s*include(?:\s|/\*.*?\*/)*[<"](?:[^>"]*/)?kernel_operator\.h[>"]')
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n\\]*|/\*[^\r\n]*?\*/[ \t]*)?(?:\r\n?|\n)")
_LINE_END = re.compile(r"\r\n?|\n")
_ALWAYS = re.compile(r"#\s*(?:ifdef\s+__cplusplus|if\s+defined\s*\(?\s*__cplusplus\s*\)?)\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Text that takes the place of `span`.

    An insertion, whose span is empty, is made of whole lines: it begins one, or begins with a line end, and ends one.
    """

    span: Span
    text: str


def after_kernel(unit: SourceUnit, kernel: Kernel) -> int:
    """Return where the block of a kernel goes: after its line if only a comment follows the brace there, else after the brace."""
    return after_line(unit.text, kernel.span.end)


def after_line(text: str, offset: int) -> int:
    """Return the beginning of the next line if only a comment stands between, else `offset`."""
    rest = _REST_OF_LINE.match(text, offset)
    return rest.end() if rest else offset


def around(file: FileScopes, kernel: Kernel) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the lines that leave and enter `extern "C"` around the kernel's block, and why that cannot be done, or "".

    The block itself stands in the kernel's namespace.
    """
    scopes = file.at(kernel.span.start)
    if any(scope.kind in NOT_NAMESPACE_SCOPE for scope in scopes):
        return (), (), "the kernel is not at namespace scope"
    if not _agree(scopes, kernel):
        return (), (), "the scopes around the kernel depend on an #if"
    first = next((index for index, scope in enumerate(scopes) if scope.kind == "extern-c"), None)
    if first is None:
        return (), (), ""
    inner = scopes[first:]
    here = file.branches(kernel.span.start)
    for scope in inner:
        if any(branch not in here and not _is_always(branch.lines) for branch in file.code.branches(scope.brace)):
            return (), (), f"'{file.head(scope)} {{' is opened under an #if that does not enclose the kernel"
    heads = [file.head(scope) for scope in inner]
    spaces = [head for head, scope in zip(heads, inner, strict=True) if scope.kind != "extern-c"]
    leave = [f"}}  // {head}" for head in reversed(heads)] + [f"{head} {{" for head in spaces]
    enter = [f"}}  // {head}" for head in reversed(spaces)] + [f"{head} {{" for head in heads]
    return tuple(leave), tuple(enter), ""


def include_fragment(unit: SourceUnit, file: FileScopes, kernels: tuple[Kernel, ...]) -> Fragment | None:
    """Return the include of the device API, None where the file has it in front of `kernels` under no condition of its own."""
    first = min(kernel.span.start for kernel in kernels)
    code = file.code
    common = set[Branch].intersection(*(set(file.branches(kernel.span.start)) for kernel in kernels))
    place = -1
    for index, token in enumerate(code.tokens):
        if token.start >= first:
            break
        if directive_name(token.text) != "include" or not set(code.branches(index)) <= common:
            continue
        if _HEADER.match(token.text):
            return None
        if file.open[index] is None:
            place = token.end
    if place < 0:
        start = next(token.start for token in unit.tokens if token.kind not in (TokenKind.BLANK, TokenKind.COMMENT))
        place = max(unit.text.rfind("\n", 0, start), unit.text.rfind("\r", 0, start)) + 1
        if place == 0 and unit.text.startswith("\xef\xbb\xbf"):
            place = 3
    else:
        end = _LINE_END.search(unit.text, place)
        place = end.end() if end else len(unit.text)
    return Fragment(span=Span(start=place, end=place), text=INCLUDE + unit.newline)


def splice(unit: SourceUnit, fragments: tuple[Fragment, ...], *, generated: str | None) -> str:
    """Return the file with its fragments.

    With `generated`, the name of the file that is written, `#line` directives say for every line whether it is the user's
    (`unit.path`) or generated.
    """
    pieces: list[str] = []
    at = 0
    lines = 1  # of the result so far
    bom = 3 if unit.text.startswith("\xef\xbb\xbf") else 0

    def add(text: str) -> None:
        nonlocal lines
        if text:  # so that the last piece tells whether a line has ended
            pieces.append(text)
        lines += len(_LINE_END.findall(text))

    def mark(line: int, name: str) -> None:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8").decode("latin-1")
        add(f'#line {line} "{quoted}"{unit.newline}')

    if generated is not None:
        add(unit.text[:bom])
        at = bom
        mark(1, unit.path)
    for fragment in sorted(fragments, key=lambda fragment: (fragment.span.start, fragment.span.end)):
        add(unit.text[at : fragment.span.start])
        at = fragment.span.end
        if generated is None or fragment.span.start != fragment.span.end:
            add(fragment.text)
            continue
        text = fragment.text
        if not pieces[-1].endswith(("\n", "\r")) and pieces[-1] != "\xef\xbb\xbf":
            opening = _LINE_END.match(text)
            assert opening is not None  # a fragment inside of a line begins with a line end
            add(opening.group())
            text = text[opening.end() :]
        mark(lines + 1, generated)
        add(text)
        mark(unit.lines.position(at)[0], unit.path)
    add(unit.text[at:])
    return "".join(pieces)


def _is_always(lines: tuple[str, ...]) -> bool:
    return len(lines) == 1 and bool(_ALWAYS.match(lines[0].strip()))


def _agree(scopes: tuple[Scope, ...], kernel: Kernel) -> bool:
    """Tell whether the reader of kernels saw the same scopes."""
    in_extern_c = any(scope.kind == "extern-c" for scope in scopes)
    return namespaces(scopes[-1] if scopes else None) == kernel.namespaces and in_extern_c == (kernel.extern_c == "block")
