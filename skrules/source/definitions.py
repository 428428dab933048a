"""Declarations with a `__global__`: each becomes a kernel, a mere prototype, or a finding."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from skrules.findings import Finding, Severity
from skrules.source.code import Code, Lines, join
from skrules.source.conditions import Conditions
from skrules.source.declarations import Declaration, Unreadable, find_start, read_declaration
from skrules.source.macros import Macro
from skrules.source.model import CoreType, Kernel, KernelType, MacroKernel, Parameter, TemplateParameter
from skrules.source.parameters import UnreadableParameter, is_plain_type, read_parameters
from skrules.source.scopes import Scope, innermost, linkage, namespaces
from skrules.source.selection import statement_hint
from skrules.source.templates import is_list_macro, read_template_parameters
from skrules.source.types import type_of_body, type_of_qualifiers

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


@dataclass(slots=True)
class Records:
    """What has been read of one file so far."""

    lines: Lines
    kernels: list[Kernel] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    prototypes: list[Prototype] = field(default_factory=list)
    macro_kernels: list[MacroKernel] = field(default_factory=list)

    def report(self, rule: str, offset: int, message: str, hint: str = "") -> None:
        self.findings.append(Finding(rule=rule, severity=Severity.BLOCKER, at=self.lines.at(offset), message=message, hint=hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """Reads declarations of `code` into `records`. With `macro`, the code is its replacement list."""

    records: Records
    code: Code
    conditions: Conditions
    macros: Mapping[str, tuple[Macro, ...]]
    macro: Macro | None = None

    def read_at(self, at: int, lower: int, scope: Scope | None) -> int:
        """Read the declaration around the `__global__` at `at`, in `scope`; return where a walk goes on. `lower` is where the
        declaration begins at the earliest."""
        code, conditions = self.code, self.conditions
        start = find_start(code, conditions, at, lower)
        try:
            found = read_declaration(code, conditions, start, self.macros)
            if found.body < 0:
                if code.text(found.end) in (";", "="):
                    if not found.is_instantiation:
                        self._add_prototype(found, code.texts[found.name[1] - 1])
                    return max(found.end, at) + 1
                raise Unreadable(found.end - 1, "a parameter list without a body")
            return self._read_definition(found, at, scope)
        except Unreadable as problem:
            self._not_read(at, problem.reason)
            return max(problem.index, at + 1)
        except UnreadableParameter as problem:
            self._not_read(at, problem.reason)
            return at + 1

    def _not_read(self, at: int, reason: str) -> None:
        within = f" in the macro '{self.macro.name}'" if self.macro else ""
        self.records.report(
            "source.kernel-not-read",
            self.code.tokens[at].start,
            f"the declaration with {self.code.texts[at]}{within} is not understood: {reason}",
            "write the kernel as `__global__ <type> void name(<parameters>) { ... }`",
        )

    def _read_definition(self, found: Declaration, at: int, scope: Scope | None) -> int:
        """Add the kernel, or a finding, for a definition; return the index after it."""
        code, conditions = self.code, self.conditions
        closing = code.pairs.get(found.body, -1)
        if closing < 0:
            raise Unreadable(found.body, "the body is not closed")
        name = found.name[1] - 1
        reason = self._refusal(found, scope)
        if reason:
            self._not_read(at, reason)
            return closing + 1
        names = code.texts[found.name[0] : found.name[1]]
        if self.macro is not None:
            self._add_macro_kernel(found, at, self.macro, closing)
            return closing + 1
        parameters = read_parameters(code, found.opening, conditions, self.macros)
        has_conditions = found.has_conditions or conditions.reaches_into(found.body, closing, found.body)
        if has_conditions:
            self.records.report(
                "source.conditional-signature",
                code.tokens[name].start,
                f"the signature of the kernel '{code.texts[name]}' is split by #if, so it has no single meaning",
                statement_hint("write one complete kernel in each branch", conditions.reaching(found.start, closing, found.body)),
            )
        line, column = self.records.lines.position(code.tokens[at].start)
        self.records.kernels.append(
            Kernel(
                name=code.texts[name],
                namespaces=(*namespaces(scope), *(part for part in names[:-1] if part != "::")),
                qualifiers=found.all_qualifiers,
                type=self._type_of(found, closing),
                parameters=parameters,
                template_parameters=self._template_parameters(found, parameters),
                specialisation=join(code, *found.specialisation),
                extern_c="prefix" if found.extern_c else linkage(scope),
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

    def _add_macro_kernel(self, found: Declaration, at: int, macro: Macro, closing: int) -> None:
        names = self.code.texts[found.name[0] : found.name[1]]
        pattern = "".join("*" if text in (macro.parameters or ()) else text for text in names if text != "##")
        parameters = self._add_prototype(found, pattern.rpartition("::")[2], closing).parameters
        line, column = self.records.lines.position(self.code.tokens[at].start)
        self.records.macro_kernels.append(
            MacroKernel(name="".join(names), macro=macro.name, parameters=parameters, line=line, column=column)
        )

    def _refusal(self, found: Declaration, scope: Scope | None) -> str:
        """Return why a complete definition is no kernel, or ""."""
        if not found.returns_void:
            return "a kernel returns void"
        if "operator" in self.code.texts[found.name[0] : found.name[1]]:
            return "an operator cannot be a kernel"
        if scope is not None and scope.depth > _MAX_DEPTH:
            return f"it is nested more than {_MAX_DEPTH} braces deep"
        around = innermost(scope, "class", "block")
        if around is not None:
            line = self.records.lines.position(self.code.tokens[around.start].start)[0]
            return f"it stands inside the {'class' if around.kind == 'class' else 'braces'} that begin on line {line}"
        if len(found.template_heads) > 1:
            return "it has more than one template head"
        return ""

    def _type_of(self, found: Declaration, closing: int) -> KernelType:
        declared = type_of_qualifiers(found.qualifiers)
        if declared.core is not CoreType.BARE or closing < 0:
            return declared
        return type_of_body(self.code, self.conditions, found.body, closing) or declared

    def _add_prototype(self, found: Declaration, name: str, closing: int = -1) -> Prototype:
        """Keep what is known of a kernel without a record of its own; what of it cannot be read is no finding."""
        code = self.code
        parameters: tuple[Parameter, ...] | None = None
        template_parameters: tuple[TemplateParameter, ...] | None = None
        with suppress(UnreadableParameter):
            parameters = read_parameters(code, found.opening, self.conditions, self.macros)
        if found.template_heads:
            template_parameters = ()
            with suppress(UnreadableParameter):
                template_parameters = read_template_parameters(code, *found.template_heads[0], self.macros)
        prototype = Prototype(
            name=name,
            type=self._type_of(found, closing),
            parameters=parameters,
            template_parameters=template_parameters,
            used=frozenset(filter(str.isidentifier, code.texts[found.body : closing])) if closing >= 0 else None,
        )
        self.records.prototypes.append(prototype)
        return prototype

    def _template_parameters(self, found: Declaration, listed: tuple[Parameter, ...]) -> tuple[TemplateParameter, ...] | None:
        if not found.template_heads:
            return None
        code = self.code
        opening, closing = found.template_heads[0]
        parameters = read_template_parameters(code, opening, closing, self.macros)
        lists = [parameter for parameter in parameters if is_list_macro(parameter)]
        # A parameter whose type may come from the macro cannot be told from one of a type that another file defines.
        if lists and not all(is_plain_type(each.type) for each in listed):
            self.records.report(
                "source.template-list-macro",
                code.tokens[opening].start,
                f"'{lists[0].declaration}' in the template head is a macro from another file: its parameters are not known",
                "write the template parameters out, or define the macro in this file or a header that is found",
            )
        return tuple(replace(each, is_list=True) if each in lists else each for each in parameters)
