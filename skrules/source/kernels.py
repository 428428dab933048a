"""Reads a file of AscendC code into kernel records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.source.code import Code, Lines, code_of, lines_of
from skrules.source.conditions import Conditions, conditions_of, places_of
from skrules.source.declarations import holds_specifiers
from skrules.source.definitions import Definitions, Prototype, Records
from skrules.source.evaluation import Macros
from skrules.source.expansions import Expander, KernelMacros, Unexpandable, kernel_macros, last_of_use
from skrules.source.headers import macros_with_headers
from skrules.source.macros import Macro, read_macro
from skrules.source.model import SourceUnit
from skrules.source.scopes import Scope, innermost, linkage, namespaces, scope_at
from skrules.source.selection import MACRO_REDEFINED, select, statement_hint
from skrules.source.tokens import digraph_in, directive_name, tokenize

__all__ = ["DIGRAPH", "GLOBAL", "Prototype", "read", "read_prototypes"]
GLOBAL = "__global__"
DIGRAPH = "source.digraph"


def read(
    data: bytes,
    path: str,
    *,
    global_aliases: tuple[str, ...] = (),
    headers: Sequence[SourceUnit] = (),
    macros: Macros = MappingProxyType({}),
) -> SourceUnit:
    """Read the kernels of a file. `path` is how messages name it; `global_aliases` are macros that stand for `__global__`.

    `headers` are the files that it includes, directly or not: their macros count as its own, wherever they are used.
    `macros` are those that the contract states: the `#if` groups that they decide are read as they are compiled.
    Every `__global__` in code becomes a kernel, is a mere declaration, or becomes a finding. Never raises.
    """
    text = data.decode("latin-1")
    chosen = select(tokenize(text), macros)
    code, lines = code_of(chosen.tokens), lines_of(text, path)
    found = _read(text, code, lines, global_aliases, headers)
    digraph = digraph_in(text, code.tokens)
    if digraph is not None:
        found.report(
            DIGRAPH,
            digraph.start,
            f"'{text[digraph.start : digraph.start + 2]}' is another spelling of a bracket or of #, which is not read as one",
            "write { } [ ] # instead of <% %> <: :> %:",
        )
    for directive, name in chosen.conflicts:
        found.report(
            MACRO_REDEFINED,
            directive.start,
            f"the contract states the macro '{name}' as {macros[name]}, and the file gives it another meaning here",
            f"take '{name}' out of the contract's macros, or define it in the build alone",
        )
    return SourceUnit(
        path=path,
        text=text,
        tokens=chosen.tokens,
        code=code,
        lines=lines,
        kernels=tuple(sorted(found.kernels, key=lambda kernel: kernel.name_span)),
        findings=tuple(sorted(found.findings, key=lambda finding: finding.at)),
        newline=_newline(text),
        macro_kernels=tuple(found.macro_kernels),
        decisions=chosen.decisions,
    )


def read_prototypes(unit: SourceUnit, headers: Sequence[SourceUnit] = ()) -> tuple[Prototype, ...]:
    """Return the kernels that a file declares only, and those that its macros define under names yet to be made.

    `headers` are the files that it includes, as in `read`.
    """
    return tuple(_read(unit.text, unit.code, unit.lines, (), headers).prototypes)


def _read(
    text: str,
    code: Code,
    lines: Lines,
    global_aliases: tuple[str, ...],
    headers: Sequence[SourceUnit] = (),
    macros: Mapping[str, tuple[Macro, ...]] | None = None,
) -> Records:
    """Read a file, or, with the `macros` of its file, the expansion of a macro use."""
    found = Records(lines=lines)
    reader = _Reader(found=found, aliases=frozenset({GLOBAL, *global_aliases}), macros={})
    if macros is not None:
        reader.macros = macros
        reader.read_code(code)
        return found
    # A line splice can hide the keyword from a plain search.
    texts = (text, *(header.text for header in headers))
    if any(alias in each for each in texts for alias in reader.aliases) or "\\" in text:
        reader.macros = macros_with_headers(code.tokens, headers)
        reader.aliases |= _aliases(reader.macros)
        reader.expander = Expander(text, reader.macros, kernel_macros(reader.macros, reader.aliases))
        reader.read_code(code)
        reader.report_unused_macros()
    return found


def _newline(text: str) -> str:
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda newline: counts[newline])


def _aliases(macros: Mapping[str, tuple[Macro, ...]]) -> frozenset[str]:
    """Return the macros that stand for `__global__`, themselves or through others, with nothing beside it but specifiers."""
    found = frozenset({GLOBAL})
    while True:
        more = found.union(
            name
            for name, definitions in macros.items()
            if all(found.intersection(macro.code.texts) and holds_specifiers(macro, macros) for macro in definitions)
        )
        if more == found:
            return found
        found = more


@dataclass(slots=True)
class _Reader:
    """Walks over the code of one file and of its macros."""

    found: Records
    aliases: frozenset[str]
    macros: Mapping[str, tuple[Macro, ...]]
    macro_findings: dict[str, list[Finding]] = field(default_factory=dict)
    macro_conditions: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by name: a file may use one often
    expander: Expander = field(default_factory=lambda: Expander("", {}, KernelMacros(frozenset(), frozenset())))

    def read_code(self, code: Code, macro: Macro | None = None) -> None:
        """Walk over code once, keeping track of scopes, and read every declaration with a `__global__`."""
        conditions = conditions_of(code)
        definitions = Definitions(records=self.found, code=code, conditions=conditions, macros=self.macros, macro=macro)
        scope: Scope | None = None
        saved: dict[int, Scope | None] = {}  # by the start of a group: the scope before it
        after: dict[int, Scope | None] = {}  # by the start of a group: the scope at the end of its first branch
        index = lower = 0
        while index < len(code):
            text = code.texts[index]
            if text == "{":
                scope = scope_at(code, index, scope)
            elif text == "}":
                scope = scope.parent if scope is not None else None
            elif text in self.aliases and code.is_identifier(index):
                index = lower = definitions.read_at(index, lower, scope)
                continue
            elif macro is None and code.is_identifier(index) and innermost(scope, "class", "block") is None:
                if self.expander.known.is_use(code, index):
                    index = lower = self.read_use(code, conditions, index, scope)
                    continue
            elif index in conditions.groups:
                group = conditions.groups[index]
                if index == group.start:
                    saved[index] = scope
                else:
                    if not conditions.ends_dead(index):
                        after.setdefault(group.start, scope)
                    # A declaration that was read may have taken in the `#if`.
                    before = saved.get(group.start, scope)
                    scope = after.get(group.start, before) if index == group.end else before
                if conditions.is_dead(index + 1):
                    following = bisect_right(group.marks, index)
                    index = group.marks[following] if following < len(group.marks) else len(code)
                    continue
            elif code.is_directive(index) and macro is None and directive_name(text) == "define":
                self.read_define(code, index)
            index += 1

    def read_define(self, code: Code, index: int) -> None:
        if not any(alias in code.texts[index] for alias in self.aliases):
            return
        macro = read_macro(code.tokens[index])
        if macro is None or macro.name in self.aliases or macro.name == GLOBAL:
            return
        findings = self.found.findings
        before = len(findings)
        self.read_code(macro.code, macro)
        self.macro_findings.setdefault(macro.name, []).extend(findings[before:])
        del findings[before:]

    def read_use(self, code: Code, conditions: Conditions, index: int, scope: Scope | None) -> int:
        """Add the kernels that the macro use at `index` defines, or a finding; return the index after it."""
        last = last_of_use(code, index, self.macros)
        lines = self.found.lines
        line, column = lines.position(code.tokens[index].start)
        span = code.span(index, last + 1 if code.text(last + 1) == ";" else last)
        try:
            text = self.expander.expand(code, index)
        except Unexpandable as problem:
            self.found.report(
                "source.macro-kernel",
                span.start,
                f"the use of '{code.texts[index]}' defines a kernel that is not understood: {problem}",
                statement_hint(problem.hint, self.conditions_of(code, problem.macros)),
            )
            return last + 1
        at = lines.at(span.start)
        tokens = tokenize(text)
        made, lines_made = code_of(tokens), lines_of(text, lines.path)
        inner = _read(text, made, lines_made, tuple(self.aliases - {GLOBAL}), macros=self.macros)
        self.found.findings += [replace(finding, at=at) for finding in inner.findings]
        kernels = tuple(sorted(inner.kernels, key=lambda kernel: kernel.name_span))
        unit = SourceUnit(
            path=lines.path,
            text=text,
            tokens=tokens,
            code=made,
            lines=lines_made,
            kernels=kernels,
            findings=(),
            newline=_newline(text),
            stands_at=at,
        )
        for kernel in kernels:
            self.found.kernels.append(
                replace(
                    kernel,
                    namespaces=(*namespaces(scope), *kernel.namespaces),
                    parameters=tuple(replace(parameter, span=span) for parameter in kernel.parameters),
                    extern_c=kernel.extern_c or linkage(scope),
                    macro=code.texts[index],
                    conditions=conditions.open_at(index),
                    span=span,
                    name_span=span,
                    parameter_span=span,
                    body=span,
                    line=line,
                    column=column,
                    expansion=unit,
                    definition=kernel,
                )
            )
        return last + 1

    def conditions_of(self, code: Code, macros: Sequence[Macro]) -> tuple[str, ...]:
        """Return the conditions under which macros of one name are defined, in the file and its headers."""
        name = macros[0].name if macros else ""
        if name not in self.macro_conditions:
            self.macro_conditions[name] = self._conditions_of(code, macros)
        return self.macro_conditions[name]

    def _conditions_of(self, code: Code, macros: Sequence[Macro]) -> tuple[str, ...]:
        own = places_of(code.tokens, {macro.span.start for macro in macros if macro.origin is None})
        headers = {id(macro.origin): macro.origin for macro in macros if macro.origin is not None}
        there = (
            places_of(header.tokens, {macro.span.start for macro in macros if macro.origin is header})
            for header in headers.values()
        )
        return tuple(dict.fromkeys([*own, *(text for texts in there for text in texts)]))

    def report_unused_macros(self) -> None:
        """What a macro defines is a kernel only where it is used; without a use that is understood, it is told here."""
        told = {finding.rule for finding in self.found.findings}
        for name in sorted(self.macro_findings.keys() - self.expander.used):
            self.found.findings += self.macro_findings[name]
            first = next((each for each in self.found.macro_kernels if each.macro == name), None)
            if first is not None and not (self.macro_findings[name] or "source.macro-kernel" in told):
                self.found.findings.append(
                    Finding(
                        rule="source.macro-kernel",
                        severity=Severity.BLOCKER,
                        at=Location(file=self.found.lines.path, line=first.line, column=first.column),
                        message=f"the macro '{name}' defines the kernel {first.name}, and this file does not use it",
                        hint="name the file that uses the macro as the operator's source",
                    )
                )
