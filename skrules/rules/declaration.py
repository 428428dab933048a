"""What an SConscript file declares: rules with typed attributes, as plain data.

An SConscript of a package is Python, read with the rules below and `glob()` as its only names: a declaration, not a
program. It is read without SCons, so that queries and tests are quick.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.errors import Location, UsageError, did_you_mean
from skrules.label import Label, is_name, is_package, parse_pattern

FILE_NAME = "SConscript"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute of a rule: `kind` is "name", "string", "file", "files", "labels", "patterns" or "strings"."""

    name: str
    kind: str
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    name: str
    doc: str
    attributes: tuple[Attribute, ...]


_NAME = Attribute(name="name", kind="name", required=True, doc="Name of the target; of an operator also the name of its module.")
_DEPS = Attribute(name="deps", kind="labels", doc="Labels of `headers` targets whose files the sources include.")

OPERATOR = Rule(
    name="operator",
    doc="An AscendC operator: kernels that are adapted to SuperKernel, bound to Python and compiled once per arch.",
    attributes=(
        _NAME,
        Attribute(
            name="srcs",
            kind="files",
            required=True,
            doc="Sources with `__global__` kernels (.asc, .cpp), relative to the package.",
        ),
        Attribute(name="contract", kind="file", doc="The operator's contract, YAML or JSON."),
        Attribute(name="archs", kind="strings", required=True, doc="Archs the operator is written for, e.g. dav-2201."),
        _DEPS,
        Attribute(name="cases", kind="file", doc="Test cases for `scons compare`."),
        Attribute(name="reference", kind="file", doc="Numpy reference; default: reference.py beside the cases when it exists."),
        Attribute(name="defines", kind="strings", doc="Macros for the compiler: NAME or NAME=VALUE."),
        Attribute(name="options", kind="strings", doc="Further compiler options for the kernels."),
    ),
)
HEADERS = Rule(
    name="headers",
    doc="Header files that several operators share.",
    attributes=(
        _NAME,
        Attribute(name="hdrs", kind="files", required=True, doc="Header files, relative to the package."),
        _DEPS,
    ),
)
WHEEL = Rule(
    name="wheel",
    doc="A wheel of operators, each for all archs that it is built for; made by `scons wheel` and when it is asked for by name.",
    attributes=(
        _NAME,
        Attribute(name="ops", kind="patterns", required=True, doc="Its operators: labels, or patterns such as //ops/..."),
        Attribute(name="version", kind="string", required=True, doc="Version of the distribution, e.g. 0.1.0."),
        Attribute(
            name="distribution", kind="string", doc="Name of the distribution, as for pip; default: the name of the target."
        ),
        Attribute(name="package", kind="name", doc="Python package that is imported; default: op_extension."),
        Attribute(name="description", kind="string", doc="One line about it."),
        Attribute(name="readme", kind="file", doc="Markdown text about it; default: a list of what is inside."),
        Attribute(name="license", kind="string", doc="SPDX licence expression, e.g. Apache-2.0."),
        Attribute(
            name="license_files",
            kind="files",
            doc="Texts of licences; default: LICENSE*, LICENCE*, COPYING* and NOTICE* in the root of the workspace.",
        ),
        Attribute(
            name="requires",
            kind="strings",
            doc="Requirements, as for pip. The torch it was built with is required unless torch is among them.",
        ),
        Attribute(
            name="python_requires", kind="string", doc="Python versions, e.g. >=3.11; its tag already names the one built for."
        ),
    ),
)
RULES = (OPERATOR, HEADERS, WHEEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One declared target. `attributes` hold checked values: str, tuple[str, ...] (paths relative to the workspace) or
    tuple[Label, ...]; attributes that were not given are absent."""

    rule: str
    label: Label
    at: Location
    attributes: Mapping[str, Any]

    def file(self, name: str) -> str:
        return str(self.attributes.get(name, ""))

    def string(self, name: str) -> str:
        return str(self.attributes.get(name, ""))

    def strings(self, name: str) -> tuple[str, ...]:
        return tuple(self.attributes.get(name, ()))

    def labels(self, name: str) -> tuple[Label, ...]:
        return tuple(self.attributes.get(name, ()))


def reference_of(target: Target, root: Path) -> str:
    """Return the reference of an operator's cases: the declared one, else reference.py beside the cases, else ""."""
    if target.file("reference") or not target.file("cases"):
        return target.file("reference")
    beside = posixpath.join(posixpath.dirname(target.file("cases")), "reference.py")
    return beside if (root / beside).is_file() else ""


def read_package(root: Path, package: str) -> tuple[Target, ...]:
    """Read `<root>/<package>/SConscript`. Raises UsageError with file and line for anything it may not contain."""
    path = root / package / FILE_NAME
    shown = f"{package}/{FILE_NAME}" if package else FILE_NAME
    if not is_package(package):
        raise UsageError(
            f"no label can name the folder {package!a}",
            at=Location(file=ascii(shown)[1:-1]),
            hint="rename it: folders of packages have letters, digits and _ . - in their names, and none begins with . or -",
        )
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the package: {error.strerror}", at=Location(file=shown)) from error
    except UnicodeDecodeError as error:
        raise UsageError("the file is not UTF-8", at=Location(file=shown)) from error
    targets: dict[str, Target] = {}
    names: dict[str, Any] = {"__name__": "SConscript", "__file__": shown}
    for rule in RULES:
        names[rule.name] = _declare(rule, root, package, shown, targets)
    names["glob"] = _globber(root, package, shown)
    try:
        exec(compile(text, str(path), "exec"), names)
    except UsageError:
        raise
    except SyntaxError as error:
        raise UsageError(f"{error.msg}", at=Location(file=shown, line=error.lineno or 0, column=error.offset or 0)) from error
    except NameError as error:
        known = [rule.name for rule in RULES] + ["glob"]
        raise UsageError(
            f"'{error.name}' is not defined: an operator's SConscript holds declarations only",
            at=_place_of(error, path, shown),
            allowed=known,
            hint=did_you_mean(error.name or "", known),
        ) from error
    except KeyboardInterrupt:
        raise
    except SystemExit as error:
        # It would end the whole build, and as if all had gone well.
        raise UsageError("a declaration must not exit", at=_place_of(error, path, shown)) from error
    except BaseException as error:
        raise UsageError(f"{type(error).__name__}: {error}", at=_place_of(error, path, shown)) from error
    return tuple(targets.values())


def _declare(rule: Rule, root: Path, package: str, shown: str, targets: dict[str, Target]) -> Callable[..., None]:
    def declare(*positional: object, **given: object) -> None:
        at = Location(file=shown, line=sys._getframe(1).f_lineno)
        if positional:
            raise UsageError(f"{rule.name}() takes keyword attributes only, as in {rule.name}(name=...)", at=at)
        attributes = {attribute.name: attribute for attribute in rule.attributes}
        for name in given:
            if name not in attributes:
                raise UsageError(
                    f"{rule.name}() has no attribute '{name}'", at=at, allowed=attributes, hint=did_you_mean(name, attributes)
                )
        missing = [name for name, attribute in attributes.items() if attribute.required and given.get(name) is None]
        if missing:
            raise UsageError(f"{rule.name}() needs {', '.join(missing)}", at=at)
        values = {
            name: _CHECKS[attributes[name].kind](name, value, root, package, at)
            for name, value in given.items()
            if value is not None
        }
        target = Target(rule=rule.name, label=Label(package=package, name=values["name"]), at=at, attributes=values)
        if target.label.name in targets:
            raise UsageError(f"{target.label} is declared twice", at=at, notes=[f"first at {targets[target.label.name].at}"])
        targets[target.label.name] = target

    return declare


def _check_name(name: str, value: object, _root: Path, _package: str, at: Location) -> str:
    if not isinstance(value, str) or not is_name(value):
        raise UsageError(f"{name} must be a C identifier, not {value!r}", at=at)
    return value


def _check_string(name: str, value: object, _root: Path, _package: str, at: Location) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} must be a string, not {value!r}", at=at)
    if not value.isprintable():
        raise UsageError(f"{name}: {value!r} has control characters", at=at)
    return value.strip()


def _check_strings(name: str, value: object, _root: Path, _package: str, at: Location) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise UsageError(
            f"{name} must be a list of strings, not {value!r}",
            at=at,
            hint=f"{name}=[{value!r}]" if isinstance(value, str) else "",
        )
    for item in value:
        if not isinstance(item, str) or not item:
            raise UsageError(f"{name} holds {item!r}, which is not a string", at=at)
        if not item.isprintable():
            raise UsageError(f"{name} holds {item!r}, which has control characters", at=at)
    repeated = sorted({item for item in value if list(value).count(item) > 1})
    if repeated:
        raise UsageError(f"{name} lists '{repeated[0]}' twice", at=at)
    return tuple(value)


def _check_file(name: str, value: object, root: Path, package: str, at: Location) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} must be the name of a file, not {value!r}", at=at)
    if not value.isprintable():
        raise UsageError(f"{name}: {value!r} has control characters", at=at)
    if value.startswith("/") or ".." in value.split("/"):
        raise UsageError(
            f"{name}: '{value}' must lie inside the package", at=at, hint="declare shared files as headers() of their own package"
        )
    # Text, not Path objects: of all that reading a package does, they would cost the most.
    path = posixpath.normpath(f"{package}/{value}" if package else value)
    if not os.path.isfile(f"{root}/{path}"):  # noqa: PTH113
        folder = (root / path).parent
        beside = sorted(entry.name for entry in folder.glob("*") if entry.is_file()) if folder.is_dir() else []
        hint = did_you_mean(path.rpartition("/")[2], beside)
        if name == "contract" and not any("contract" in other for other in beside):
            hint = "without contract= a build prints one to fill in"
        raise UsageError(f"{name}: there is no file '{path}'", at=at, hint=hint)
    return path


def _check_files(name: str, value: object, root: Path, package: str, at: Location) -> tuple[str, ...]:
    items = _check_strings(name, value, root, package, at)
    if not items:
        raise UsageError(f"{name} is empty", at=at)
    files = [_check_file(name, item, root, package, at) for item in items]
    repeated = sorted({file for file in files if files.count(file) > 1})
    if repeated:
        raise UsageError(f"{name} lists '{repeated[0]}' twice", at=at)
    return tuple(files)


def _check_labels(name: str, value: object, root: Path, package: str, at: Location) -> tuple[Label, ...]:
    labels = []
    for item in _check_strings(name, value, root, package, at):
        try:
            pattern = parse_pattern(f"{package}{item}" if item.startswith(":") else item)
        except UsageError as error:
            raise UsageError(f"{name}: {error.message}", at=at, hint=error.hint) from error
        if pattern.recursive:
            raise UsageError(f"{name}: '{item}' is a pattern; name each dependency", at=at)
        labels.append(Label(package=pattern.package, name=pattern.name or pattern.package.rpartition("/")[2]))
    return tuple(labels)


def _check_patterns(name: str, value: object, root: Path, package: str, at: Location) -> tuple[str, ...]:
    items = _check_strings(name, value, root, package, at)
    if not items:
        raise UsageError(f"{name} is empty", at=at)
    full = tuple(f"//{package}{item}" if item.startswith(":") else item for item in items)
    for item in full:
        try:
            parse_pattern(item)
        except UsageError as error:
            raise UsageError(f"{name}: {error.message}", at=at, hint=error.hint) from error
    return full


_CHECKS: Mapping[str, Callable[[str, object, Path, str, Location], Any]] = {
    "name": _check_name,
    "string": _check_string,
    "file": _check_file,
    "files": _check_files,
    "labels": _check_labels,
    "patterns": _check_patterns,
    "strings": _check_strings,
}


def _globber(root: Path, package: str, shown: str) -> Callable[..., list[str]]:
    def glob(pattern: str) -> list[str]:
        at = Location(file=shown, line=sys._getframe(1).f_lineno)
        if not isinstance(pattern, str) or not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise UsageError(f"glob() takes a pattern inside the package, not {pattern!r}", at=at)
        base = root / package
        return sorted(path.relative_to(base).as_posix() for path in base.glob(pattern) if path.is_file())

    return glob


def _place_of(error: BaseException, path: Path, shown: str) -> Location:
    import traceback  # only errors need it

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return Location(file=shown, line=lines[-1] or 0) if lines else Location(file=shown)
