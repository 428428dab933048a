"""Reads a file of AscendC code into kernel records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.source.code import Code, Lines, code_of, join, lines_of
from skrules.source.conditions import Conditions, conditions_of, places_of
from skrules.source.declarations import Declaration, Unreadable, find_start, holds_specifiers, read_declaration
from skrules.source.evaluation import Macros
from skrules.source.expansions import Expander, KernelMacros, Unexpandable, kernel_macros, last_of_use
from skrules.source.headers import macros_with_headers
from skrules.source.macros import Macro, read_macro
from skrules.source.model import (
    CoreType,
    Kernel,
    KernelType,
    MacroKernel,
    Parameter,
    SourceUnit,
    Span,
    TemplateParameter,
    Token,
)
from skrules.source.parameters import UnreadableParameter, is_plain_type, read_parameters
from skrules.source.scopes import Scope, innermost, namespaces, scope_at
from skrules.source.selection import MACRO_REDEFINED, select, statement_hint
from skrules.source.templates import is_list_macro, read_template_parameters
from skrules.source.tokens import directive_name, tokenize
from skrules.source.types import type_of_body, type_of_qualifiers

GLOBAL = "__global__"
_MAX_DEPTH = 256  # as compilers have it; without a limit, deep nesting costs time in its square


@dataclass(frozen=True, slots=True, kw_only=True)
class Prototype:
    """A kernel that is declared but not read as a definition: `;` follows, or a macro makes its name.

    `name` has a `*` for each part that a macro's arguments give: "add_*". `parameters` is None when it cannot be known;
    `used` are the identifiers in the body, None for a mere declaration.
    """

    name: str
    type: KernelType
    parameters: tuple[Parameter, ...] | None
    template_parameters: tuple[TemplateParameter, ...] | None
    used: frozenset[str] | None = None


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
    tokens = chosen.tokens
    reader = _read(text, tokens, path, global_aliases, headers)
    for directive, name in chosen.conflicts:
        reader.report(
            MACRO_REDEFINED,
            directive.start,
            f"the contract states the macro '{name}' as {macros[name]}, and the file gives it another meaning here",
            f"take '{name}' out of the contract's macros, or define it in the build alone",
        )
    return SourceUnit(
        path=path,
        text=text,
        tokens=tokens,
        kernels=tuple(sorted(reader.kernels, key=lambda kernel: kernel.name_span)),
        findings=tuple(sorted(reader.findings, key=lambda finding: finding.at)),
        newline=_newline(text),
        macro_kernels=tuple(reader.macro_kernels),
        decisions=chosen.decisions,
    )


def read_prototypes(unit: SourceUnit, headers: Sequence[SourceUnit] = ()) -> tuple[Prototype, ...]:
    """Return the kernels that a file declares only, and those that its macros define under names yet to be made.

    `headers` are the files that it includes, as in `read`.
    """
    return tuple(_read(unit.text, unit.tokens, unit.path, (), headers).prototypes)


def _read(
    text: str,
    tokens: tuple[Token, ...],
    path: str,
    global_aliases: tuple[str, ...],
    headers: Sequence[SourceUnit] = (),
    macros: Mapping[str, tuple[Macro, ...]] | None = None,
) -> _Reader:
    """Read a file, or, with the `macros` of its file, the expansion of a macro use."""
    reader = _Reader(lines=lines_of(text, path), aliases=frozenset({GLOBAL, *global_aliases}), macros={})
    if macros is not None:
        reader.macros = macros
        reader.read_code(code_of(tokens))
        return reader
    # A line splice can hide the keyword from a plain search.
    texts = (text, *(header.text for header in headers))
    if any(alias in each for each in texts for alias in reader.aliases) or "\\" in text:
        reader.macros = macros_with_headers(tokens, headers)
        reader.aliases |= _aliases(reader.macros)
        reader.expander = Expander(text, reader.macros, kernel_macros(reader.macros, reader.aliases))
        reader.read_code(code_of(tokens))
        reader.report_unused_macros()
    return reader


def _newline(text: str) -> str:
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda newline: counts[newline])


def _extern_c_start(scope: Scope | None) -> int:
    """Return the first token of the `extern "C" {` that is in force, or -1."""
    block = innermost(scope, "extern-c", "extern-c++")
    return block.start if block is not None and block.kind == "extern-c" else -1


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
    """Collects kernels and findings of one file."""

    lines: Lines
    aliases: frozenset[str]
    macros: Mapping[str, tuple[Macro, ...]]
    kernels: list[Kernel] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    prototypes: list[Prototype] = field(default_factory=list)
    macro_kernels: list[MacroKernel] = field(default_factory=list)
    macro_findings: dict[str, list[Finding]] = field(default_factory=dict)
    macro_conditions: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by name: a file may use one often
    expander: Expander = field(default_factory=lambda: Expander("", {}, KernelMacros(frozenset(), frozenset())))

    def report(self, rule: str, offset: int, message: str, hint: str = "") -> None:
        self.findings.append(Finding(rule=rule, severity=Severity.BLOCKER, at=self.lines.at(offset), message=message, hint=hint))

    def read_code(self, code: Code, macro: Macro | None = None) -> None:
        """Walk over code once, keeping track of scopes, and read every declaration with a `__global__`."""
        conditions = conditions_of(code)
        scope: Scope | None = None
        saved: dict[int, Scope | None] = {}  # by the start of a group: the scope before it
        after: dict[int, Scope | None] = {}  # by the start of a group: the scope at the end of its first branch
        ends: dict[int, int] = {}  # by the start of an extern "C" block: its last byte
        blocks: dict[int, int] = {}  # by the kernel's place in the list: the start of its extern "C" block
        index = lower = 0
        while index < len(code):
            text = code.texts[index]
            if text == "{":
                scope = scope_at(code, index, scope)
            elif text == "}":
                if scope is not None:
                    ends[scope.start] = code.tokens[index].end
                    scope = scope.parent
            elif text in self.aliases and code.is_identifier(index):
                first = len(self.kernels)
                index = lower = self.read_at(code, conditions, index, lower, scope, macro)
                blocks.update(dict.fromkeys(range(first, len(self.kernels)), _extern_c_start(scope)))
                continue
            elif macro is None and code.is_identifier(index) and innermost(scope, "class", "block") is None:
                if self.expander.known.is_use(code, index):
                    first = len(self.kernels)
                    index = lower = self.read_use(code, conditions, index, scope)
                    blocks.update(dict.fromkeys(range(first, len(self.kernels)), _extern_c_start(scope)))
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
                    index = next((mark for mark in group.marks if mark > index), len(code))
                    continue
            elif code.is_directive(index) and macro is None and directive_name(text) == "define":
                self.read_define(code, index)
            index += 1
        for place, start in blocks.items():
            if start < 0:
                continue
            kernel = self.kernels[place]
            span = Span(start=code.tokens[start].start, end=ends.get(start, code.tokens[-1].end))
            self.kernels[place] = replace(kernel, extern_c=kernel.extern_c or "block", extern_c_block=span)

    def read_define(self, code: Code, index: int) -> None:
        if not any(alias in code.texts[index] for alias in self.aliases):
            return
        macro = read_macro(code.tokens[index])
        if macro is None or macro.name in self.aliases or macro.name == GLOBAL:
            return
        outside, self.findings = self.findings, []
        self.read_code(macro.code, macro)
        self.macro_findings.setdefault(macro.name, []).extend(self.findings)
        self.findings = outside

    def read_use(self, code: Code, conditions: Conditions, index: int, scope: Scope | None) -> int:
        """Add the kernels that the macro use at `index` defines, or a finding; return the index after it."""
        last = last_of_use(code, index, self.macros)
        line, column = self.lines.position(code.tokens[index].start)
        span = code.span(index, last + 1 if code.text(last + 1) == ";" else last)
        try:
            text = self.expander.expand(code, index)
        except Unexpandable as problem:
            self.report(
                "source.macro-kernel",
                span.start,
                f"the use of '{code.texts[index]}' defines a kernel that is not understood: {problem}",
                statement_hint(problem.hint, self.conditions_of(code, problem.macros)),
            )
            return last + 1
        at = self.lines.at(span.start)
        inner = _read(text, tokenize(text), self.lines.path, tuple(self.aliases - {GLOBAL}), macros=self.macros)
        self.findings += [replace(finding, at=at) for finding in inner.findings]
        found = tuple(sorted(inner.kernels, key=lambda kernel: kernel.name_span))
        unit = SourceUnit(
            path=self.lines.path,
            text=text,
            tokens=tokenize(text),
            kernels=found,
            findings=(),
            newline=_newline(text),
            stands_at=at,
        )
        for kernel in found:
            self.kernels.append(
                replace(
                    kernel,
                    namespaces=(*namespaces(scope), *kernel.namespaces),
                    parameters=tuple(replace(parameter, span=span) for parameter in kernel.parameters),
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
        told = {finding.rule for finding in self.findings}
        for name in sorted(self.macro_findings.keys() - self.expander.used):
            self.findings += self.macro_findings[name]
            first = next((each for each in self.macro_kernels if each.macro == name), None)
            if first is not None and not (self.macro_findings[name] or "source.macro-kernel" in told):
                self.findings.append(
                    Finding(
                        rule="source.macro-kernel",
                        severity=Severity.BLOCKER,
                        at=Location(file=self.lines.path, line=first.line, column=first.column),
                        message=f"the macro '{name}' defines the kernel {first.name}, and this file does not use it",
                        hint="name the file that uses the macro as the operator's source",
                    )
                )

    def read_at(self, code: Code, conditions: Conditions, at: int, lower: int, scope: Scope | None, macro: Macro | None) -> int:
        """Read the declaration around the `__global__` at `at`; return where the walk goes on."""
        start = find_start(code, conditions, at, lower)
        try:
            found = read_declaration(code, conditions, start, self.macros)
            if found.body < 0:
                if code.text(found.end) in (";", "="):
                    if not found.is_instantiation:
                        self.add_prototype(code, conditions, found, code.texts[found.name[1] - 1])
                    return max(found.end, at) + 1
                raise Unreadable(found.end - 1, "a parameter list without a body")
            return self.read_definition(code, conditions, found, at, scope, macro)
        except Unreadable as problem:
            self.not_read(code, at, problem.reason, macro)
            return max(problem.index, at + 1)
        except UnreadableParameter as problem:
            self.not_read(code, at, problem.reason, macro)
            return at + 1

    def not_read(self, code: Code, at: int, reason: str, macro: Macro | None) -> None:
        within = f" in the macro '{macro.name}'" if macro else ""
        self.report(
            "source.kernel-not-read",
            code.tokens[at].start,
            f"the declaration with {code.texts[at]}{within} is not understood: {reason}",
            "write the kernel as `__global__ <type> void name(<parameters>) { ... }`",
        )

    def read_definition(
        self, code: Code, conditions: Conditions, found: Declaration, at: int, scope: Scope | None, macro: Macro | None
    ) -> int:
        """Add the kernel, or a finding, for a definition; return the index after it."""
        closing = code.pairs.get(found.body, -1)
        if closing < 0:
            raise Unreadable(found.body, "the body is not closed")
        name = found.name[1] - 1
        reason = self.refusal(code, found, scope)
        if reason:
            self.not_read(code, at, reason, macro)
            return closing + 1
        names = code.texts[found.name[0] : found.name[1]]
        if macro is not None:
            self.add_macro_kernel(code, conditions, found, at, macro, closing)
            return closing + 1
        parameters = read_parameters(code, found.opening, conditions, self.macros)
        has_conditions = found.has_conditions or conditions.reaches_into(found.body, closing, found.body)
        if has_conditions:
            self.report(
                "source.conditional-signature",
                code.tokens[name].start,
                f"the signature of the kernel '{code.texts[name]}' is split by #if, so it has no single meaning",
                statement_hint("write one complete kernel in each branch", conditions.reaching(found.start, closing, found.body)),
            )
        line, column = self.lines.position(code.tokens[at].start)
        self.kernels.append(
            Kernel(
                name=code.texts[name],
                namespaces=(*namespaces(scope), *(part for part in names[:-1] if part != "::")),
                qualifiers=found.all_qualifiers,
                type=self.type_of(code, conditions, found, closing),
                parameters=parameters,
                template_parameters=self.template_parameters(code, found, parameters),
                specialisation=join(code, *found.specialisation),
                extern_c="prefix" if found.extern_c else "",
                conditions=conditions.open_at(found.start),
                signature_has_conditions=has_conditions,
                span=code.span(found.start, closing),
                name_span=code.span(name, name),
                parameter_span=code.span(found.opening, found.closing),
                body=code.span(found.body, closing),
                line=line,
                column=column,
            )
        )
        return closing + 1

    def add_macro_kernel(
        self, code: Code, conditions: Conditions, found: Declaration, at: int, macro: Macro, closing: int
    ) -> None:
        names = code.texts[found.name[0] : found.name[1]]
        pattern = "".join("*" if text in (macro.parameters or ()) else text for text in names if text != "##")
        self.add_prototype(code, conditions, found, pattern.rpartition("::")[2], closing)
        line, column = self.lines.position(code.tokens[at].start)
        self.macro_kernels.append(
            MacroKernel(
                name="".join(names), macro=macro.name, parameters=self.prototypes[-1].parameters, line=line, column=column
            )
        )

    def refusal(self, code: Code, found: Declaration, scope: Scope | None) -> str:
        """Return why a complete definition is no kernel, or ""."""
        if not found.returns_void:
            return "a kernel returns void"
        if "operator" in code.texts[found.name[0] : found.name[1]]:
            return "an operator cannot be a kernel"
        if scope is not None and scope.depth > _MAX_DEPTH:
            return f"it is nested more than {_MAX_DEPTH} braces deep"
        around = innermost(scope, "class", "block")
        if around is not None:
            line = self.lines.position(code.tokens[around.start].start)[0]
            return f"it stands inside the {'class' if around.kind == 'class' else 'braces'} that begin on line {line}"
        if len(found.template_heads) > 1:
            return "it has more than one template head"
        return ""

    def type_of(self, code: Code, conditions: Conditions, found: Declaration, closing: int) -> KernelType:
        declared = type_of_qualifiers(found.qualifiers)
        if declared.core is not CoreType.BARE:
            return declared
        return type_of_body(code, conditions, found.body, closing) or declared

    def add_prototype(self, code: Code, conditions: Conditions, found: Declaration, name: str, closing: int = -1) -> None:
        """Keep what is known of a kernel without a record of its own; what of it cannot be read is no finding."""
        declared = type_of_qualifiers(found.qualifiers)
        if declared.core is CoreType.BARE and closing >= 0:
            declared = type_of_body(code, conditions, found.body, closing) or declared
        parameters: tuple[Parameter, ...] | None = None
        template_parameters: tuple[TemplateParameter, ...] | None = None
        with suppress(UnreadableParameter):
            parameters = read_parameters(code, found.opening, conditions, self.macros)
        if found.template_heads:
            template_parameters = ()
            with suppress(UnreadableParameter):
                template_parameters = read_template_parameters(code, *found.template_heads[0], self.macros)
        self.prototypes.append(
            Prototype(
                name=name,
                type=declared,
                parameters=parameters,
                template_parameters=template_parameters,
                used=frozenset(filter(str.isidentifier, code.texts[found.body : closing])) if closing >= 0 else None,
            )
        )

    def template_parameters(
        self, code: Code, found: Declaration, listed: tuple[Parameter, ...]
    ) -> tuple[TemplateParameter, ...] | None:
        if not found.template_heads:
            return None
        opening, closing = found.template_heads[0]
        parameters = read_template_parameters(code, opening, closing, self.macros)
        lists = [parameter for parameter in parameters if is_list_macro(parameter)]
        # A parameter whose type may come from the macro cannot be told from one of a type that another file defines.
        if lists and not all(is_plain_type(each.type) for each in listed):
            self.report(
                "source.template-list-macro",
                code.tokens[opening].start,
                f"'{lists[0].declaration}' in the template head is a macro from another file: its parameters are not known",
                "write the template parameters out, or define the macro in this file or a header that is found",
            )
        return tuple(replace(each, is_list=True) if each in lists else each for each in parameters)
