"""The workspace that a run builds in: copies of the assets where they lie to one another, declared to SCons.

Only what changed is written, so that a build finds its own results as it left them. Users' folders are read, never written.
"""

from __future__ import annotations

import itertools
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skrules.commands.asset import SUFFIXES, read_asset
from skrules.engine.files import bytes_of, write_if_changed
from skrules.errors import UsageError
from skrules.label import Label, parse_pattern
from skrules.pipeline.build_config import BuildConfig
from skrules.pipeline.discovery import PASSED_OVER
from skrules.pipeline.operators import CASES, Operator
from skrules.pipeline.origins import base_of, settings_of, workspace_of
from skrules.rules.declaration import FILE_NAME
from skrules.source.includes import local_headers
from skrules.toolchain.command_line import angled_folders, include_folders

#: Folder of the build, of which no label can be: it begins with a dot.
BUILD = ".build"
_CONFIG = ".config"
_FORCED = f"{_CONFIG}/forced/all.h"
_SCONSTRUCT = "SConstruct"
_PASSED_OVER = PASSED_OVER - {"input"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An operator in the workspace. `package` is its folder, `files` are all that it may read: paths in the workspace.

    `contract` is the path of its contract in the workspace, "" for none.
    """

    operator: Operator
    label: Label
    package: str
    files: tuple[str, ...]
    contract: str

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(posixpath.join(self.package, name) for name in self.operator.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """`base` is the folder that its root stands for; `copies` are files by their path in it, `texts` what is written anew.

    `settings` is the file of what the workspace decides about rules, or "", and `decisions` are it and what it names.
    """

    base: Path
    packages: tuple[str, ...]
    placed: tuple[Placed, ...]
    copies: Mapping[str, Path]
    texts: Mapping[str, bytes]
    settings: str = ""
    decisions: tuple[str, ...] = ()


def plan(
    operators: Sequence[Operator],
    *,
    archs: Sequence[str],
    contracts: Mapping[int, tuple[str, bytes]],
    cases: Mapping[int, bytes],
    config: BuildConfig,
    leave_out: Path,
) -> Mirror:
    """Return the workspace of `operators`. `archs` are those of operators that declare none; `contracts` has, by the place
    of an operator, the name and content of a contract that does not lie in its folder, and `cases` those that are written
    for it.

    Raises UsageError where folders cannot be packages, or options speak of folders that the workspace does not have.
    """
    headers = {index: _outside(operator, config) for index, operator in enumerate(operators)}
    base = base_of(operators, [path for found in headers.values() for path in found])
    copies: dict[str, Path] = {}
    texts: dict[str, bytes] = {}
    placed = []
    declarations: dict[str, list[str]] = {}
    extra, words = _config_files(config)
    copies |= extra
    for index, operator in enumerate(operators):
        package = _inside(operator.folder, base)
        _check_package(package, operator)
        _check_options(operator, base)
        own = {_inside(path, base): path for path in (*_files_of(operator, leave_out), *headers[index])}
        copies |= own
        contract = operator.contract
        if index in contracts:
            contract, data = contracts[index]
            texts[f"{package}/{contract}"] = data
        if index in cases:
            operator = replace(operator, cases=CASES)
            texts[f"{package}/{CASES}"] = cases[index]
        declarations.setdefault(package, []).append(_declaration(operator, contract, operator.archs or archs, config, words))
        label = Label(package=package, name=operator.name)
        files = tuple(sorted({*own, *extra, *([f"{package}/{contract}"] if contract else [])}))
        placed.append(
            Placed(
                operator=operator,
                label=label,
                package=package,
                files=files,
                contract=f"{package}/{contract}" if contract else "",
            )
        )
    settings, decisions = settings_of(operators, base)
    copies |= decisions
    packages = tuple(sorted({each.package.partition("/")[0] for each in placed}))
    texts |= {f"{package}/{FILE_NAME}": "\n".join(calls).encode() for package, calls in declarations.items()}
    if config.force_includes:
        texts[_FORCED] = _forced(config)
    validate = f", validate={settings!r}" if settings else ""
    texts[_SCONSTRUCT] = f"from skrules.scons import Workspace\n\nWorkspace(packages={list(packages)!r}{validate})\n".encode()
    return Mirror(
        base=base,
        packages=packages,
        placed=tuple(placed),
        copies=copies,
        texts=texts,
        settings=settings,
        decisions=tuple(decisions),
    )


def write(mirror: Mirror, root: Path) -> None:
    """Make the folder `root` hold the workspace, what is built in it, and nothing else. Raises OSError."""
    wanted = {*mirror.copies, *mirror.texts}
    for path in list(_present(root)):
        if path.relative_to(root).as_posix() not in wanted:
            path.unlink()
    for name, source in mirror.copies.items():
        write_if_changed(root / name, bytes_of(source))
        if source.stat().st_mode & 0o100:
            (root / name).chmod(0o755)
    for name, data in mirror.texts.items():
        write_if_changed(root / name, data)
    _remove_empty(root)


def _remove_empty(root: Path) -> None:
    for here, _, _ in os.walk(root, topdown=False):
        place = Path(here)
        if place != root and place.relative_to(root).parts[0] != BUILD and not any(place.iterdir()):
            place.rmdir()


def _present(root: Path) -> Iterator[Path]:
    for here, below, names in os.walk(root):
        if here == str(root):
            below[:] = [name for name in below if name != BUILD]
            names = [name for name in names if not name.startswith(".")]  # what SCons keeps for itself
        yield from (Path(here) / name for name in names)


def _files_of(operator: Operator, leave_out: Path) -> Iterator[Path]:
    if not operator.is_declared and not operator.is_alone:
        yield from (operator.folder / name for name in operator.sources)
        return
    others = _other_sources(operator, leave_out)
    for here, below, names in os.walk(operator.folder):
        folder = Path(here)
        below[:] = [
            name
            for name in below
            if name not in _PASSED_OVER and not name.startswith(".") and (folder / name).resolve() != leave_out
        ]
        for name in names:
            path = folder / name
            if not name.startswith(".") and name not in (FILE_NAME, _SCONSTRUCT) and path.is_file() and path not in others:
                yield path


def _other_sources(operator: Operator, leave_out: Path) -> frozenset[Path]:
    """Return the kernel sources in the folder that are not of this operator, as its SConscript says: nothing may read them."""
    if not operator.is_declared or not operator.is_alone:
        return frozenset()
    own = {operator.folder / name for name in operator.sources}
    if not any(path for path in operator.folder.rglob("*") if path.suffix in SUFFIXES and path not in own):
        return frozenset()
    included = {Path(path) for source in own for path in local_headers(str(source))}
    found = {source.path for source in read_asset(operator.folder, leave_out).sources}
    return frozenset(found - own - included)


def _outside(operator: Operator, config: BuildConfig) -> tuple[Path, ...]:
    """Return the headers that the sources include and that lie outside of the asset's folder."""
    root = workspace_of(operator) or operator.folder.parent
    words = list(operator.options)
    quoted = [root / folder for folder in include_folders(words)]
    angled = [root / folder for folder in angled_folders(words)]
    found: dict[str, None] = {}
    for name in operator.sources:
        found |= dict.fromkeys(local_headers(str(operator.folder / name), quoted, angled=angled))
    given = [*config.include_dirs, *config.support_dirs.values()]
    whole = operator.is_declared or operator.is_alone
    paths = [Path(path) for path in found]
    return tuple(
        path
        for path in paths
        if not (whole and path.is_relative_to(operator.folder)) and not any(path.is_relative_to(folder) for folder in given)
    )


def _inside(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix()


def _check_package(package: str, operator: Operator) -> None:
    try:
        parse_pattern(f"//{package}")
    except UsageError as error:
        raise UsageError(
            f"the folder {operator.folder} cannot be a package: its path from the others is '{package}'",
            hint="letters, digits, '_', '-' and '.' in the names of folders",
        ) from error


def _check_options(operator: Operator, base: Path) -> None:
    words = [*map(str, include_folders(list(operator.options))), *_following(operator.options, "-include")]
    relative = [word for word in words if not Path(word).is_absolute()]
    if relative and workspace_of(operator) != base:
        raise UsageError(
            f"{operator.name}: its options look for headers in '{relative[0]}' of its own workspace",
            hint="take operators of different workspaces in runs of their own",
        )


def _following(words: Sequence[str], option: str) -> list[str]:
    return [value for name, value in itertools.pairwise(words) if name == option]


def _declaration(operator: Operator, contract: str, archs: Sequence[str], config: BuildConfig, words: Sequence[str]) -> str:
    """Return the operator as its SConscript declares it; without archs the place of one is left to the error of a build."""
    fields: dict[str, object] = {
        "name": operator.name,
        "srcs": list(operator.sources),
        "contract": contract,
        "archs": list(archs),
        "cases": operator.cases,
        "reference": operator.reference,
        "defines": _once([*operator.defines, *(word.removeprefix("-D") for word in config.compile_definitions)]),
        "options": _once([*operator.options, *config.compile_options, *words]),
    }
    lines = [f"    {name}={value!r}," for name, value in fields.items() if value or name == "archs"]
    return "\n".join(["operator(", *lines, ")", ""])


def _once(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _config_files(config: BuildConfig) -> tuple[dict[str, Path], list[str]]:
    """Return copies of the folders and files that a build config names, and the options that find them.

    They are copied so that a build knows them: an edited header outside of the workspace would change nothing.
    """
    copies: dict[str, Path] = {}
    words = []
    for index, folder in enumerate(config.include_dirs):
        place = f"{_CONFIG}/include/{index}"
        copies |= _below(folder, place)
        words.append(f"-I{place}")
    for name, folder in config.support_dirs.items():
        copies |= _below(folder, f"{_CONFIG}/support/{name}")
    if config.support_dirs:
        words.append(f"-I{_CONFIG}/support")
    if config.force_includes:
        copies |= {f"{_CONFIG}/forced/{index}/{path.name}": path for index, path in enumerate(config.force_includes)}
        words += ["-include", _FORCED]
    return copies, words


def _forced(config: BuildConfig) -> bytes:
    """Return the one header that includes all those that every source is to begin with, in their order."""
    lines = [f'#include "{index}/{path.name}"' for index, path in enumerate(config.force_includes)]
    return "".join(f"{line}\n" for line in lines).encode()


def _below(folder: Path, place: str) -> dict[str, Path]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {f"{place}/{path.relative_to(folder).as_posix()}": path for path in files}
