"""Which kernels a file has for the contract to speak of, and which contract entry speaks of which kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skrules.contract.ctype import join_tokens, split_arguments, split_type, substitute
from skrules.contract.model import EntryContract
from skrules.errors import Location, did_you_mean
from skrules.findings import Finding, Severity
from skrules.source.model import Kernel, SourceUnit, TemplateParameter
from skrules.source.selection import statement_hint

_NAMES_HINT = "callers and SK_BIND know a kernel by its name: give the kernels different names or equal parameters"
_TARGET = re.compile(r"\s*(?:::)?\s*(?P<name>[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)\s*(?:<(?P<arguments>.*)>)?\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelGroup:
    """One kernel of a file: a single definition, or its twins in `#if` branches, which share name and parameters.

    `usable` is false when the definitions contradict one another, which a finding says.
    """

    unit: SourceUnit
    kernels: tuple[Kernel, ...]
    usable: bool = True

    @property
    def kernel(self) -> Kernel:
        return self.kernels[0]

    @property
    def at(self) -> Location:
        return Location(file=self.unit.path, line=self.kernel.line, column=self.kernel.column)

    @property
    def is_template(self) -> bool:
        return bool(self.kernel.template_parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class BindTarget:
    """A kernel named by a contract, e.g. `ns::scale<half, 8>`. `arguments` None: there is no `<...>`."""

    name: str
    arguments: tuple[str, ...] | None


def parse_target(text: str) -> BindTarget | None:
    """Read a `bind_target`; blanks and a leading `::` do not matter. None when it is no such expression."""
    match = _TARGET.match(text)
    if match is None:
        return None
    name = "".join(match["name"].split())
    if match["arguments"] is None:
        return BindTarget(name=name, arguments=None)
    arguments = split_arguments(match["arguments"])
    return BindTarget(name=name, arguments=tuple(arguments)) if arguments is not None else None


def group_kernels(unit: SourceUnit) -> tuple[list[KernelGroup], list[Finding]]:
    """Return the kernels of a file in source order, and a finding for every name that stands for two."""
    by_name: dict[tuple[str, str], list[Kernel]] = {}
    for kernel in unit.kernels:
        by_name.setdefault((kernel.qualified_name, _normal(kernel.specialisation)), []).append(kernel)
    groups = []
    findings = []
    for kernels in by_name.values():
        problem = _contradiction(kernels)
        groups.append(KernelGroup(unit=unit, kernels=tuple(kernels), usable=not problem))
        if problem:
            second = kernels[1]
            findings.append(
                Finding(
                    rule="codegen.kernel-overloaded",
                    severity=Severity.BLOCKER,
                    at=Location(file=unit.path, line=second.line, column=second.column),
                    message=f"kernel '{second.qualified_name}' is also defined in line {kernels[0].line}, {problem}",
                    hint=statement_hint(_NAMES_HINT, (text for each in kernels for text in each.conditions)),
                )
            )
        elif len({kernel.type for kernel in kernels}) > 1:
            findings.append(
                Finding(
                    rule="codegen.kernel-type-differs-between-branches",
                    severity=Severity.WARNING,
                    at=groups[-1].at,
                    message=f"kernel '{kernels[0].qualified_name}' has another kernel type in another #if branch; "
                    "the number of cores is taken from the first",
                    hint="launch.block_dim in the contract settles the number of blocks",
                )
            )
    return groups, findings


def _normal(text: str) -> str:
    return join_tokens(split_type(text))


def _contradiction(kernels: Sequence[Kernel]) -> str:
    """Say why several definitions of one name are not one kernel; "" when they are."""
    if len(kernels) == 1:
        return ""
    if any(_signature(kernel) != _signature(kernels[0]) for kernel in kernels):
        branch = "in another #if branch, " if len({kernel.conditions for kernel in kernels}) == len(kernels) else ""
        return f"{branch}with other parameters"
    # Equal signatures under different conditions can only be exclusive: the file would not compile otherwise.
    conditions = [kernel.conditions for kernel in kernels]
    return (
        "" if len(set(conditions)) == len(conditions) and all(conditions) else "under conditions that do not exclude one another"
    )


def _signature(kernel: Kernel) -> tuple[object, ...]:
    parameters = tuple((_normal(each.type), each.name, _normal(each.array)) for each in kernel.parameters)
    return parameters, tuple(_normal(each.declaration) for each in kernel.template_parameters or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """`of[i]` are the contract entries of the i-th group, in file order. `doubtful` are the groups that an entry speaks of
    which contradicts itself: it decides nothing, but they are not forgotten either."""

    of: tuple[tuple[EntryContract, ...], ...]
    doubtful: frozenset[int]
    findings: tuple[Finding, ...]


def match_entries(groups: Sequence[KernelGroup], entries: Iterable[EntryContract]) -> Matches:
    """Assign every contract entry to its kernel.

    `source_entry_name` names the kernel, else `bind_target`, else the entry's key, else `public_entry_name`; names may
    be qualified. An entry that fits no kernel, or two, is a finding.
    """
    names = _Names(groups)
    of: list[list[EntryContract]] = [[] for _ in groups]
    findings: list[Finding] = []
    doubtful: set[int] = set()
    for entry in entries:
        before = len(findings)
        for index in _find(names, entry, findings):
            if len(findings) == before:
                of[index].append(entry)
            else:
                doubtful.add(index)
    return Matches(of=tuple(map(tuple, of)), doubtful=frozenset(doubtful), findings=tuple(findings))


class _Names:
    """The groups by name, and by every name that ends a qualified one."""

    def __init__(self, groups: Sequence[KernelGroup]) -> None:
        self.groups = groups
        self.full: dict[str, list[int]] = {}
        self.ends: dict[str, list[int]] = {}
        for index, group in enumerate(groups):
            name = group.kernel.qualified_name
            self.full.setdefault(name, []).append(index)
            while name := name.partition("::")[2]:
                self.ends.setdefault(name, []).append(index)

    def fitting(self, name: str, target: BindTarget | None) -> list[int]:
        """Return the groups a name fits: the exact qualified name, else every one that ends in it.

        An explicit specialisation is meant when the target has its arguments, the primary template otherwise.
        """
        wanted = name.removeprefix("::")
        hits = self.full.get(wanted) or self.ends.get(wanted, [])
        if target is not None and target.arguments is not None:
            text = _normal(f"<{','.join(target.arguments)}>")
            special = [index for index in hits if _normal(self.groups[index].kernel.specialisation) == text]
            if special:
                return special
        return [index for index in hits if not self.groups[index].kernel.specialisation] or hits


def _find(known: _Names, entry: EntryContract, findings: list[Finding]) -> list[int]:
    """Return the groups an entry speaks of: one, or none or several with a finding."""
    groups = known.groups
    target = parse_target(entry.bind_target) if entry.bind_target else None
    if entry.bind_target and target is None:
        findings.append(_mismatch(entry, f"bind_target '{entry.bind_target}' is no kernel with template arguments"))
    if entry.source_entry_name:
        names = [entry.source_entry_name]
    else:
        names = [target.name] if target else [entry.name, entry.public_entry_name]
    found = next((hits for name in names if (hits := known.fitting(name, target))), [])
    if len(found) > 1:
        meant = sorted({groups[index].kernel.qualified_name for index in found})
        message, hint = f"entry '{entry.name}' may mean {' or '.join(meant)}", f"source_entry_name: {meant[0]}"
        if len(meant) == 1:  # no name tells them apart
            places = ", ".join(str(groups[index].at) for index in found)
            message = f"entry '{entry.name}' may mean more than one kernel '{meant[0]}': {places}"
            hint = "give the kernels different names, or leave one of the files out"
        findings.append(_finding("codegen.kernel-name-ambiguous", entry.where("source_entry_name"), message, hint))
    elif found and entry.source_entry_name and target and found[0] not in known.fitting(target.name, target):
        message = f"bind_target '{entry.bind_target}' is not the kernel '{entry.source_entry_name}' of source_entry_name"
        findings.append(_mismatch(entry, message))
    elif not found and target and (keyed := known.fitting(entry.name, None)):
        name = groups[keyed[0]].kernel.qualified_name
        message = f"bind_target '{entry.bind_target}' is no kernel of the source, but the entry's key is one: '{name}'"
        findings.append(_mismatch(entry, message, f"bind_target: {name}"))
        return keyed
    elif not found:
        findings.append(_unused(groups, entry, names[0]))
    return found


def _finding(rule: str, at: Location, message: str, hint: str) -> Finding:
    return Finding(rule=rule, severity=Severity.BLOCKER, at=at, message=message, hint=hint)


def _mismatch(entry: EntryContract, message: str, hint: str = "") -> Finding:
    return _finding("codegen.io-contract-bind-target-mismatch", entry.where("bind_target"), message, hint)


def _unused(groups: Sequence[KernelGroup], entry: EntryContract, wanted: str) -> Finding:
    known = sorted({group.kernel.qualified_name for group in groups})
    listed = f"kernels: {', '.join(known)}" if known else "the source has no kernel"
    hint = "\n".join(filter(None, [did_you_mean(wanted, known), listed]))
    key = "source_entry_name" if entry.source_entry_name else "bind_target"
    return _finding("codegen.io-contract-entry-unused", entry.where(key), f"no kernel '{wanted}' for entry '{entry.name}'", hint)


def bind_arguments(parameters: Sequence[TemplateParameter], arguments: Sequence[str]) -> Mapping[str, str] | str:
    """Give template parameters their arguments, in order, defaults filled in; or say in words why that cannot be."""
    if any(parameter.is_pack for parameter in parameters):
        return "a parameter pack cannot be bound"
    if any(parameter.is_list for parameter in parameters):
        return _bind_around_lists(parameters, arguments)
    if len(arguments) > len(parameters):
        return f"{len(arguments)} template arguments for {len(parameters)} parameters"
    bound: dict[str, str] = {}
    for index, parameter in enumerate(parameters):
        name = parameter.name or f"#{index + 1}"
        if index < len(arguments):
            if arguments[index] == parameter.name or not arguments[index]:
                return f"template parameter {name} has no argument"
            bound[name] = arguments[index]
        elif parameter.default is not None:
            bound[name] = substitute(parameter.default, bound)
        else:
            return f"template parameter {name} has no argument"
    return bound


def _bind_around_lists(parameters: Sequence[TemplateParameter], arguments: Sequence[str]) -> Mapping[str, str] | str:
    """Bind where macros stand for parameters nobody can count: those before and after take theirs, the macros the rest."""
    lists = [index for index, parameter in enumerate(parameters) if parameter.is_list]
    first, last = lists[0], lists[-1]
    after = len(parameters) - last - 1
    middle = arguments[first : len(arguments) - after]
    if last - first + 1 != len(lists):
        return f"a parameter stands between the macros {parameters[first].declaration} and {parameters[last].declaration}"
    if (
        len(middle) < len(lists)
        or not all(arguments)
        or any(name in (each.name, each.declaration) for name, each in zip(arguments, parameters, strict=False))
    ):
        return f"every template parameter needs an argument, those of the macro {parameters[first].declaration} too"
    # Which macro takes which argument does not matter: they stand side by side, and so do the arguments.
    shares = [*middle[: len(lists) - 1], ", ".join(middle[len(lists) - 1 :])]
    values = [*arguments[:first], *shares, *arguments[len(arguments) - after :]]
    return {
        parameter.name or f"#{index + 1}": value for index, (parameter, value) in enumerate(zip(parameters, values, strict=True))
    }
