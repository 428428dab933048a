"""What lies in an asset: its files by their use, its kernels, its marks of SuperKernel. Read from code, not from comments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.pipeline.operators import CASES, CONTRACTS, REFERENCE
from skrules.rules.declaration import FILE_NAME
from skrules.source.code import Code
from skrules.source.form import classify
from skrules.source.includes import local_headers
from skrules.source.kernels import read
from skrules.source.macros import read_macro
from skrules.source.model import SourceUnit, TokenKind

SOURCES = (".asc", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx")
HEADERS = (".h", ".hh", ".hpp", ".hxx")
_BUILDS = frozenset({FILE_NAME, "SConstruct", "CMakeLists.txt", "setup.py", "pyproject.toml", "compile.sh", "build.sh"})
_TESTS = frozenset({CASES, "run.sh", "main.cpp", "test.py", "operator-sk-runtime-fixture.json"})
_TEST_FOLDERS = frozenset({"test", "tests"})
_PACKAGES = frozenset({FILE_NAME, "setup.py", "pyproject.toml"})
_DOCS = frozenset({"README", *CONTRACTS})
# Words of SuperKernel code, and of the forms that came before it.
_MARKS = ("__sk__", "__spk__", "SK_BIND")
_PARAMETER_STRUCTS = frozenset({"CommArgs", "SkSystemArgs"})
_PASSED_OVER = frozenset({"__pycache__", "build", "build_out"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelEntry:
    """A kernel by its qualified name, where it is defined."""

    name: str
    file: str
    line: int
    column: int

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "file": self.file, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All files are relative to `base`. `units` are the sources as they were read, `marks` says which words their code has."""

    path: Path
    base: Path
    files: tuple[str, ...]
    sources: tuple[str, ...]
    headers: tuple[str, ...]
    builds: tuple[str, ...]
    tests: tuple[str, ...]
    packages: tuple[str, ...]
    docs: tuple[str, ...]
    kernels: tuple[KernelEntry, ...]
    marks: dict[str, bool]
    units: dict[str, SourceUnit]

    @property
    def is_bound(self) -> bool:
        """Whether something in it is SuperKernel code already."""
        return any(self.marks[name] for name in _MARKS)

    def text_of(self, name: str) -> str:
        return bytes_of(self.base / name).decode("utf-8", "replace")


def take_inventory(path: Path, leave_out: Path | None = None) -> Inventory:
    """Look through a file or folder; hidden files, folders of builds and `leave_out` are passed over.

    Raises UsageError when there is nothing.
    """
    if not path.exists():
        raise UsageError(f"there is no operator asset '{path}'", hint="a kernel file, or a folder of an operator")
    base = path.parent if path.is_file() else path
    names = (path.name,) if path.is_file() else tuple(_names(path, leave_out))
    sources = tuple(name for name in names if name.endswith(SOURCES))
    units = {name: _unit(base, name) for name in sources}
    return Inventory(
        path=path,
        base=base,
        files=names,
        sources=sources,
        headers=tuple(name for name in sources if name.endswith(HEADERS)),
        builds=_those(names, lambda name: _last(name) in _BUILDS),
        tests=_those(names, _is_test),
        packages=_those(names, lambda name: _last(name) in _PACKAGES or _last(name) == "__init__.py"),
        docs=_those(names, lambda name: _last(name) in _DOCS or name.lower().endswith(".md")),
        kernels=_kernels(units),
        marks=_marks(units.values()),
        units=units,
    )


def _names(root: Path, leave_out: Path | None) -> Iterable[str]:
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        is_left_out = leave_out is not None and path.resolve().is_relative_to(leave_out.resolve())
        if path.is_file() and not is_left_out and not any(part.startswith(".") or part in _PASSED_OVER for part in parts):
            yield "/".join(parts)


def _those(names: Iterable[str], is_one: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple(name for name in names if is_one(name))


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _is_test(name: str) -> bool:
    last = _last(name)
    is_named = last in _TESTS or (last.startswith("test_") and last.endswith(".py"))
    return (is_named or bool(_TEST_FOLDERS & set(name.split("/")[:-1]))) and last != REFERENCE


def _unit(base: Path, name: str) -> SourceUnit:
    path = base / name
    headers = [read(data, found) for found, data in sorted(local_headers(str(path)).items())]
    return read(bytes_of(path), name, headers=headers)


def _kernels(units: dict[str, SourceUnit]) -> tuple[KernelEntry, ...]:
    found = [
        KernelEntry(name=kernel.qualified_name, file=name, line=kernel.line, column=kernel.column)
        for name, unit in units.items()
        for kernel in unit.kernels
    ]
    return tuple({(each.name, each.file): each for each in found}.values())


def _marks(units: Iterable[SourceUnit]) -> dict[str, bool]:
    words: set[str] = set()
    for unit in units:
        words |= {marker.name for marker in classify(unit).markers} | _words(unit)
    found = {name: name in words for name in _MARKS}
    return {**found, "sk_param_struct": bool(words & _PARAMETER_STRUCTS), ".ascend.meta": ".ascend.meta" in words}


def _words(unit: SourceUnit) -> set[str]:
    codes: list[Code] = [unit.code]
    codes += [
        macro.code for token in unit.tokens if token.kind is TokenKind.DIRECTIVE and (macro := read_macro(token)) is not None
    ]
    return {text for code in codes for text in code.texts if text in _MARKS}
