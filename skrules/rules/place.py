"""Where the workspace is, for those who ask outside of SCons: its root, and what its SConstruct says."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from skrules.errors import Location, UsageError

# In the order in which SCons looks: https://scons.org/doc/production/HTML/scons-man.html
_NAMES = ("SConstruct", "Sconstruct", "sconstruct", "SConstruct.py", "Sconstruct.py", "sconstruct.py")
_CALLS = ("Workspace", "SkWorkspace")
_DEFAULT = ("ops",)
_HINT = "say it with --packages=FOLDER[,FOLDER...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`below` is the folder where the command was typed, relative to `root`, or ""; `packages` are folders of operators.
    `settings` is the file of what the workspace decides about rules of validation, or ""."""

    root: Path
    below: str
    packages: tuple[str, ...]
    settings: str = ""


def find_place(start: Path, *, root: Path | None = None, packages: tuple[str, ...] = ()) -> Place:
    """Find the workspace that the folder `start` lies in: the nearest folder with an SConstruct, or `root` when it is given.

    `packages` stands in for what the SConstruct says. Raises UsageError where there is no workspace, or where its
    SConstruct does not say in plain words which folders hold the operators.
    """
    start = start.resolve()
    if root is not None and not root.is_dir():
        raise UsageError(f"there is no folder '{root}'")
    found = root.resolve() if root is not None else _above(start)
    # With --root the words of a command are those of the root: the current folder may be anywhere.
    below = start.relative_to(found).as_posix() if root is None else "."
    return Place(
        root=found,
        below="" if below == "." else below,
        packages=packages or declared_packages(found),
        settings=declared_settings(found),
    )


def declared_packages(root: Path) -> tuple[str, ...]:
    """Return the folders that the SConstruct of `root` gives to `Workspace(packages=[...])`, which is read and not run."""
    name = _sconstruct(root)
    if not name:
        raise UsageError(f"there is no SConstruct in '{root}'", hint=_HINT)
    try:
        tree = ast.parse((root / name).read_bytes(), name)
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}", at=Location(file=name)) from error
    except SyntaxError as error:
        raise UsageError(f"{error.msg}", at=Location(file=name, line=error.lineno or 0), hint=_HINT) from error
    except ValueError as error:  # NUL bytes
        raise UsageError(f"{error}", at=Location(file=name), hint=_HINT) from error
    calls = _calls(tree)
    if len(calls) != 1:
        what = "makes no Workspace" if not calls else f"makes {len(calls)} Workspaces"
        raise UsageError(
            f"the SConstruct {what}: which folders hold the operators is not known", at=Location(file=name), hint=_HINT
        )
    return _packages_of(calls[0], name)


def declared_settings(root: Path) -> str:
    """Return the file that the SConstruct of `root` names with `Workspace(validate="...")`, or "" where it says nothing plain.

    Raises UsageError where it is computed: findings would be told that the workspace does not want to hear.
    """
    name = _sconstruct(root)
    try:
        calls = _calls(ast.parse((root / name).read_bytes(), name)) if name else []
    except (OSError, SyntaxError, ValueError):  # whoever needs the packages is told
        return ""
    values = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "validate"]
    values += [call.args[1] for call in calls if len(call.args) > 1]
    if not values:
        return ""
    value = values[0]
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        at = Location(file=name, line=value.lineno, column=value.col_offset + 1)
        raise UsageError("the settings of validation are computed: they can be read only when they are written out", at=at)
    return value.value


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name_of(node.func) in _CALLS]


def _packages_of(call: ast.Call, name: str) -> tuple[str, ...]:
    at = Location(file=name, line=call.lineno, column=call.col_offset + 1)
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg in ("packages", None))]
    if not given:
        return _DEFAULT
    try:
        value = ast.literal_eval(given[0])
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise UsageError(
            "the folders of operators are computed: they can be read only when they are written out", at=at, hint=_HINT
        ) from error
    if isinstance(value, str) or not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"packages must be a list of folders, not {value!r}", at=at)
    return tuple(value)


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _above(start: Path) -> Path:
    for folder in (start, *start.parents):
        if _sconstruct(folder):
            return folder
    raise UsageError(f"there is no SConstruct in '{start}' or a folder above", hint="--root names the folder of the workspace")


def _sconstruct(folder: Path) -> str:
    return next((name for name in _NAMES if (folder / name).is_file()), "")
