"""The blocks of one kernel and its `#if` twins, decided step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import jinja2

from skrules.adapt.args import ArgsStruct, args_struct, check_parameters
from skrules.adapt.bind import SPLIT_INDEX, Twin, bind_line, render, sk_type
from skrules.adapt.body import FileFacts, SkBody, rewrite_body, written
from skrules.adapt.library_names import is_library_function
from skrules.adapt.names import camel, free_name, words_in
from skrules.adapt.places import finding, tokens_in
from skrules.adapt.scopes import has_overload
from skrules.adapt.splice import Fragment, after_kernel, around
from skrules.adapt.targets import check_target
from skrules.adapt.tasktypes import OPEN, conditional_type, task_macros
from skrules.contract.entry import Entry
from skrules.contract.kerneltype import KERNEL_TYPES, TYPE_HINT
from skrules.findings import Finding, Severity, blockers
from skrules.source.code import code_of
from skrules.source.model import Kernel, SourceUnit, Span
from skrules.source.selection import statement_hint
from skrules.source.types import CONDITIONAL, UNSETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedEntry:
    """An entry with its twin; names are those inside of the kernel's namespace.

    `args_struct` is "" for a kernel without parameters. A kernel with twins in `#if` branches has one twin each, of equal
    names; what is said here is true of the first.
    """

    entry: Entry
    args_struct: str
    sk_function: str
    sk_type: str
    uses_sys_args: bool
    splits: int
    mask: int
    bind_line: str


def identity(kernel: Kernel) -> tuple[str, str]:
    """Definitions of one identity are twins in exclusive `#if` branches."""
    return kernel.qualified_name, "".join(kernel.specialisation.split())


class Draft:
    """The blocks of one kernel and its `#if` twins while they are made: every doubt is noted as a finding.

    `guard` are lines for the top of each block.
    """

    def __init__(
        self, facts: FileFacts, entries: list[Entry], taken: set[str], template: jinja2.Template, guard: str = ""
    ) -> None:
        self.facts = facts
        self.unit = facts.unit
        self.entries = entries
        self.kernel: Kernel = entries[0].kernel
        self.findings: list[Finding] = []
        self.adapted: list[AdaptedEntry] = []
        self.twins: set[str] = set()
        self.taken = taken
        self.template = template
        self.guard = guard
        self.struct_name = self.free(f"{camel(self.kernel.name)}Args") if self.kernel.parameters else ""
        self.function = self.free(f"{self.kernel.name}_sk")

    def block(self, kernel: Kernel) -> Fragment | None:
        """Return the fragment of one definition, or None with at least one blocker among the findings."""
        self.kernel, unit = kernel, self.unit
        self.check_decisions()
        self.findings += check_parameters(unit, kernel)
        type_name = self.type_name()
        leave, enter, obstacle = around(self.facts.scopes, kernel)
        if obstacle:
            self.report(
                "codegen.kernel-scope", obstacle, hint="move the kernel to namespace scope, outside of conditional scopes"
            )
        inside = self.inside_words()
        args_name, sys_args, split = (self.inner_name(name, inside) for name in ("args", "sysArgs", SPLIT_INDEX))
        arguments = [argument for entry in self.entries for argument in entry.template_arguments]
        body = rewrite_body(self.facts, kernel, self.entries[0].contract.sk, sys_args=sys_args, arguments=arguments)
        self.findings += body.findings
        self.twins |= body.twins
        args = args_struct(kernel, self.struct_name, self.unused(body))
        binds = self.binds()
        if blockers(self.findings) or type_name is None:
            return None
        twin = Twin(
            kernel=kernel,
            args=args,
            function=self.function,
            type=type_name,
            args_name=args_name,
            sys_args=sys_args if body.uses_sys_args else "",
            split=split,
            body=body.inner,
            binds=tuple(dict.fromkeys(binds)),
        )
        self.adapted += [self.adapted_entry(entry, twin, line) for entry, line in zip(self.entries, binds, strict=True)]
        at = after_kernel(unit, kernel)
        text = unit.newline + render(
            self.template, twin, self.source(), newline=unit.newline, leave=leave, enter=enter, guard=self.guard
        )
        return Fragment(span=Span(start=at, end=at), text=text)

    def type_name(self) -> str | None:
        """Return the twin's type qualifier, with the `#if` lines of the body's task macros if need be; None with a blocker."""
        decision = self.entries[0].contract.sk
        unit, kernel = written(self.unit, self.kernel)
        inherited = sk_type(kernel.type, decision)
        if inherited is None:
            self.report(
                "codegen.kernel-type-missing",
                "the kernel has no type, so its SK function has none to inherit",
                hint="add __vector__, __cube__, __mix__(c, v) or __aicore__",
            )
        if kernel.type.source not in (CONDITIONAL, UNSETTLED):
            return inherited
        body = code_of(tokens_in(unit, kernel.body))
        lines = conditional_type(body, lambda known: sk_type(known, decision)) if kernel.type.source == CONDITIONAL else None
        if decision.kernel_type in KERNEL_TYPES:
            if lines is not None:
                self.check_branches(lines, inherited)
            return inherited
        if lines is not None:
            return self.unit.newline.join(lines)
        macros = task_macros(body)
        names = ", ".join(sorted({name for _, name in macros}))
        conditions = [text for index, _ in macros for branch in body.branches(index) for text in branch.lines]
        self.report(
            "codegen.kernel-type-unresolved",
            f"the task macros of the body do not give the kernel one type that is known ({names})",
            hint=statement_hint(TYPE_HINT, conditions),
            at=body.tokens[macros[0][0]].start if macros else None,
            unit=unit if macros else None,
        )
        return None

    def check_branches(self, lines: Sequence[str], inherited: str | None) -> None:
        """The contract's type must be that of every branch that sets one."""
        others = sorted({line for line in lines if not line.startswith("#")} - {OPEN, inherited})
        if others:
            message = f"the contract says that the kernel is {inherited}, and an #if of its body says {' and '.join(others)}"
            hint = "leave sk.kernel_type out: what the source says is used"
            self.contract_finding(self.entries[0], "sk.kernel_type", "codegen.sk-kernel-type-conflict", message, hint)

    def report(
        self,
        rule: str,
        message: str,
        *,
        severity: Severity = Severity.BLOCKER,
        hint: str = "",
        at: int | None = None,
        unit: SourceUnit | None = None,
    ) -> None:
        """Note a finding at the offset `at` of `unit`, by default at the kernel's name in the file."""
        offset = self.kernel.name_span.start if at is None else at
        text = f"{self.kernel.name}: {message}"
        self.findings.append(finding(unit or self.unit, offset, rule, text, severity=severity, hint=hint))

    def check_decisions(self) -> None:
        """Entries of one kernel share its SK functions. That each value is allowed by itself is the contract's to say."""
        first = self.entries[0].contract.sk
        for entry in self.entries:
            decision = entry.contract.sk
            if (decision.with_sys_args, decision.kernel_type, decision.helper_block_num) != (
                first.with_sys_args,
                first.kernel_type,
                first.helper_block_num,
            ):
                self.contract_finding(
                    entry,
                    "sk",
                    "codegen.sk-decisions-conflict",
                    f"{self.entries[0].name} and {entry.name} share one kernel and must agree in with_sys_args, kernel_type and "
                    "helper_block_num",
                )

    def contract_finding(self, entry: Entry, key: str, rule: str, message: str, hint: str = "") -> None:
        at = entry.contract.where(key)
        self.findings.append(Finding(rule=rule, severity=Severity.BLOCKER, at=at, message=f"{entry.name}: {message}", hint=hint))

    def binds(self) -> list[str]:
        kernel = self.kernel
        overloaded = has_overload(self.facts.scopes, kernel, self.unit)
        overloaded |= not any(kernel.namespaces) and is_library_function(kernel.name)
        lines: dict[str, str] = {}
        result = []
        for entry in self.entries:
            if len(entry.template_arguments) != len(kernel.template_parameters or ()):
                self.report(
                    "codegen.template-bind-target-required",
                    f"entry {entry.name} does not give every template parameter a value",
                    hint=f"bind_target: {kernel.qualified_name}<...>",
                )
                continue
            for problem in check_target(self.facts.scopes, self.unit, kernel, entry):
                self.report(problem.rule, problem.message, hint=problem.hint, at=problem.offset)
            line = bind_line(entry, self.function, overloaded=overloaded)
            if lines.setdefault(entry.bind_target, line) != line:
                self.contract_finding(
                    entry,
                    "sk",
                    "codegen.sk-decisions-conflict",
                    f"{entry.bind_target} is bound twice, with different masks or splits",
                )
            result.append(line)
        return result

    def free(self, wanted: str) -> str:
        name = free_name(wanted, self.taken)
        if name != wanted and wanted in self.facts.words:
            self.report(
                "codegen.name-taken", f"the file has a '{wanted}' already; the generated one is {name}", severity=Severity.NOTE
            )
        self.taken.add(name)
        return name

    def inside_words(self) -> set[str]:
        """Return the names that the twin's own parameters must not hide or redeclare."""
        unit, kernel = written(self.unit, self.kernel)
        words = {word for span in (kernel.body, kernel.parameter_span) for word in words_in(tokens_in(unit, span))}
        words |= {parameter.name for parameter in self.kernel.template_parameters or ()}
        return words | self.facts.macro_words

    def inner_name(self, wanted: str, inside: set[str]) -> str:
        name = free_name(wanted, inside)
        if name != wanted:
            self.report(
                "codegen.name-taken", f"the kernel uses the name '{wanted}'; the generated one is {name}", severity=Severity.NOTE
            )
        return name

    def unused(self, body: SkBody) -> set[str]:
        return {parameter.name for parameter in self.kernel.parameters} - body.words

    def adapted_entry(self, entry: Entry, twin: Twin, line: str) -> AdaptedEntry:
        return AdaptedEntry(
            entry=entry,
            args_struct=_struct_of(twin.args, entry),
            sk_function=twin.function,
            sk_type=twin.type,
            uses_sys_args=bool(twin.sys_args),
            splits=entry.contract.sk.num_splits,
            mask=entry.contract.sk.mask,
            bind_line=line,
        )

    def source(self) -> str:
        """Name the contracts. An absolute path says nothing on another machine, so its last part must do."""
        files = dict.fromkeys(PurePath(entry.contract.at.file) for entry in self.entries)
        return ", ".join(file.name if file.is_absolute() else file.as_posix() for file in files)


def _struct_of(args: ArgsStruct | None, entry: Entry) -> str:
    """Return the struct of one entry, with the entry's template arguments."""
    if args is None:
        return ""
    if not args.template:
        return args.name
    names = (parameter.name for parameter in entry.kernel.template_parameters or ())
    values = dict(zip(names, entry.template_arguments, strict=True))
    return f"{args.name}<{', '.join(values[parameter.name] for parameter in args.template)}>"
