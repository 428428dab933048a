"""The targets of a workspace: which packages exist, which of them a request needs, and what it asks of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules.errors import Location, UsageError, did_you_mean
from skrules.label import Label, Pattern, parse_pattern
from skrules.rules.declaration import FILE_NAME, Target, read_package
from skrules.rules.request import VERBS

_WITH_ARTICLE = {"operator": "an operator", "wheel": "a wheel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """`requested` are the targets that were asked for, in label order; `targets` holds what they depend on too."""

    root: Path
    targets: dict[Label, Target]
    requested: tuple[Target, ...]

    def of_rule(self, rule: str) -> tuple[Target, ...]:
        return tuple(target for target in self.requested if target.rule == rule)


def find_packages(root: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """Return the folders below `folders` that hold an SConscript, sorted, relative to `root`. Hidden folders are left out."""
    return walk(root, folders)[1]


def walk(root: Path, folders: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all folders in which packages are looked for, and those that are packages, sorted and relative to `root`."""
    seen: set[str] = set()
    found: set[str] = set()
    base = f"{root}/"
    for folder in folders:
        if not (root / folder).is_dir():
            raise UsageError(
                f"the workspace has no folder '{folder}'", hint="name the folders of your operators: Workspace(packages=['ops'])"
            )
        for here, below, files in os.walk(root / folder, onerror=_refuse_unreadable, followlinks=False):
            below[:] = sorted(name for name in below if not name.startswith((".", "__")))
            name = "." if here == str(root) else here.removeprefix(base)
            seen.add(name)
            if FILE_NAME in files:
                found.add(name)
    return tuple(sorted(seen)), tuple(sorted(found))


def _refuse_unreadable(error: OSError) -> None:
    # Passed over, its operators would be missing from a build that calls itself complete.
    raise UsageError(f"cannot read the folder: {error.strerror}", at=Location(file=str(error.filename))) from error


def load_workspace(root: Path, folders: Sequence[str], patterns: Iterable[str] = ()) -> Workspace:
    """Read the packages that `patterns` need and no others (all without a pattern), with their dependencies.

    Raises UsageError for a pattern that matches nothing, a dependency that does not exist, and two operators of one name.
    """
    packages = find_packages(root, folders)
    wanted = [(text, parse_pattern(text)) for text in patterns]
    targets: dict[Label, Target] = {}
    read: set[str] = set()

    def read_once(package: str) -> None:
        if package not in read:
            read.add(package)
            targets.update({target.label: target for target in read_package(root, package)})

    for package in packages:
        if not wanted or any(_may_hold(pattern, package) for _, pattern in wanted):
            read_once(package)
    for text, pattern in wanted:
        if not any(pattern.matches(label) for label in targets):
            known = [str(label) for label in targets] + [f"//{package}" for package in packages]
            raise UsageError(
                f"no target matches '{text}'",
                allowed=sorted(set(known))[:20],
                hint=_hint(root, text, pattern, known),
            )
    requested = tuple(
        targets[label] for label in sorted(targets) if not wanted or any(pattern.matches(label) for _, pattern in wanted)
    )
    for target in requested:
        for text in target.strings("ops"):
            for package in packages:
                if _may_hold(parse_pattern(text), package):
                    read_once(package)
    inside = [operator for target in requested for operator in operators_of(target, targets)]
    _load_dependencies([*requested, *inside], targets, set(packages), read_once)
    _refuse_equal_names(targets.values())
    return Workspace(root=root, targets=targets, requested=requested)


def operators_of(target: Target, targets: Mapping[Label, Target]) -> tuple[Target, ...]:
    """Return the operators that the `ops` of a wheel name, in label order; nothing for targets of other rules.

    Raises UsageError for a pattern that names none.
    """
    found: set[Label] = set()
    for text in target.strings("ops"):
        pattern = parse_pattern(text)
        matched = {label for label, each in targets.items() if each.rule == "operator" and pattern.matches(label)}
        if not matched:
            known = sorted(str(label) for label, each in targets.items() if each.rule == "operator")
            hint = did_you_mean(f"//{text.removeprefix('//')}", known)
            raise UsageError(f"{target.label}: no operator matches '{text}'", at=target.at, hint=hint)
        found |= matched
    return tuple(targets[label] for label in sorted(found))


def _hint(root: Path, text: str, pattern: Pattern, known: Sequence[str]) -> str:
    if pattern.package and (root / pattern.package).is_dir() and not (root / pattern.package / FILE_NAME).is_file():
        return f"the folder {pattern.package} holds no {FILE_NAME}: write one with operator(name=...)"
    return did_you_mean(text, VERBS) or did_you_mean(f"//{text.removeprefix('//')}", known)


def _may_hold(pattern: Pattern, package: str) -> bool:
    return pattern.matches(Label(package=package, name=pattern.name or "_"))


def _load_dependencies(
    requested: Sequence[Target], targets: dict[Label, Target], packages: set[str], read_once: Callable[[str], None]
) -> None:
    pending = list(requested)
    seen: set[Label] = set()
    while pending:
        target = pending.pop()
        if target.label in seen:
            continue
        seen.add(target.label)
        for label in target.labels("deps"):
            if label.package in packages:
                read_once(label.package)
            if label not in targets:
                known = [str(each) for each in targets]
                raise UsageError(
                    f"{target.label} depends on {label}, which does not exist", at=target.at, hint=did_you_mean(str(label), known)
                )
            if targets[label].rule != "headers":
                raise UsageError(
                    f"{target.label} depends on {label}, which is {_WITH_ARTICLE[targets[label].rule]}",
                    at=target.at,
                    hint="move shared files into a headers() target",
                )
            pending.append(targets[label])


def _refuse_equal_names(targets: Iterable[Target]) -> None:
    # The name becomes the Python module op_extension.<name>_<arch>, one namespace for the whole workspace.
    operators: dict[str, Target] = {}
    for target in targets:
        if target.rule != "operator":
            continue
        first = operators.setdefault(target.label.name, target)
        if first is not target:
            raise UsageError(
                f"two operators are called '{target.label.name}': {first.label} and {target.label}",
                at=target.at,
                notes=[f"first at {first.at}"],
                hint="operators of one workspace share a Python package, so their names must differ",
            )
