"""The published build config: further flags, folders and files for the build of all operators."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skrules.commands.files import read_object
from skrules.errors import Location, UsageError, did_you_mean
from skrules.rules.request import read_request, request_key

SCHEMA = "sk.operator.build_config.v1"
RESOLVED_SCHEMA = "sk.operator.build_config.resolved.v1"
_FOLDERS = ("include_dirs", "support_dirs", "link_dirs")
_PATHS = (*_FOLDERS, "force_includes", "package_files")
_LISTS = (*_PATHS, "compile_options", "compile_definitions", "link_libraries", "link_options")
_TABLES = ("build_env", "runtime_env")
_KEYS = (*_LISTS, *_TABLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConfig:
    """All paths are absolute. `support_dirs` maps the first word of includes to the folder that is meant by it."""

    source: str = ""
    include_dirs: tuple[Path, ...] = ()
    support_dirs: Mapping[str, Path] = field(default_factory=dict)
    force_includes: tuple[Path, ...] = ()
    package_files: tuple[Path, ...] = ()
    compile_options: tuple[str, ...] = ()
    compile_definitions: tuple[str, ...] = ()
    link_dirs: tuple[Path, ...] = ()
    link_libraries: tuple[str, ...] = ()
    link_options: tuple[str, ...] = ()
    build_env: Mapping[str, str] = field(default_factory=dict)
    runtime_env: Mapping[str, str] = field(default_factory=dict)

    @property
    def unbuildable(self) -> tuple[str, ...]:
        """The fields that a setup.py can follow and a build of skrules cannot."""
        given = (self.link_dirs, self.link_libraries, self.link_options, self.package_files)
        return tuple(
            name
            for name, value in zip(("link_dirs", "link_libraries", "link_options", "package_files"), given, strict=True)
            if value
        )

    def to_json(self) -> dict[str, Any]:
        """Return the resolved document, with the published fields."""
        return {
            "schema_version": RESOLVED_SCHEMA,
            "status": "ready",
            "source_config": self.source,
            "include_dirs": [str(path) for path in self.include_dirs],
            "support_dirs": [f"{name}={path}" for name, path in self.support_dirs.items()],
            "force_includes": [str(path) for path in self.force_includes],
            "compile_options": list(self.compile_options),
            "compile_definitions": list(self.compile_definitions),
            "link_dirs": [str(path) for path in self.link_dirs],
            "link_libraries": list(self.link_libraries),
            "link_options": list(self.link_options),
            "build_env": dict(self.build_env),
            "runtime_env": dict(self.runtime_env),
            "package_files": [str(path) for path in self.package_files],
        }

    def for_package(self) -> dict[str, Any]:
        """Return what `aggregate-sk-adapted` takes: the fields that a setup.py follows."""
        document = self.to_json()
        kept = [name for name in _KEYS if name != "support_dirs" and document[name]]
        return {name: document[name] for name in kept}


def read_build_config(path: Path | None, overrides: Sequence[str]) -> BuildConfig:
    """Read the file, if there is one, and the `FIELD=JSON` words that replace fields of it.

    Raises UsageError for an unknown field, a value of another type, a path that is not there, two support folders of one
    name, and a variable of `build_env` that no build looks at.
    """
    document: dict[str, Any] = {}
    at = Location(file=str(path) if path else "--operator-build-config-set")
    base = path.parent if path else Path()
    if path:
        document = read_object(path)
    version = document.pop("schema_version", "")
    if version not in (None, "", SCHEMA):
        raise UsageError(f"schema_version is {version!r}", at=at, allowed=[SCHEMA])
    for key in document:
        if key not in _KEYS:
            raise UsageError(f"unknown key '{key}'", at=at, allowed=_KEYS, hint=did_you_mean(key, _KEYS))
    bases = dict.fromkeys(_PATHS, base)
    for word in overrides:
        name, value = _override(word)
        table, dot, key = name.partition(".")
        if dot:
            document[table] = {**(document.get(table) or {}), key: value}
        else:
            document[name] = value
            bases[name] = Path()
    return _resolved(document, bases, at, str(path) if path else "")


def _override(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    option = f"--operator-build-config-set {word}"
    table, dot, key = name.partition(".")
    if not equals or (name not in _KEYS and not (dot and key and table in _TABLES)):
        raise UsageError(f"{option}: unknown field '{name}'", allowed=_KEYS, hint=did_you_mean(table, _KEYS))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{option}: not JSON: {error}", hint=f"{name}={json.dumps(text)}") from error
    if dot and not isinstance(value, str):
        raise UsageError(f"{option}: must be a text", hint=f"{name}={json.dumps(text)}")
    return name, value


def _resolved(document: dict[str, Any], bases: Mapping[str, Path], at: Location, source: str) -> BuildConfig:
    lists = {name: _texts(document.get(name), name, at) for name in _LISTS}
    tables = {name: _table(document.get(name), name, at) for name in _TABLES}

    def paths(name: str) -> tuple[Path, ...]:
        return tuple(_existing(name, word, bases[name], at) for word in lists[name])

    unseen = [name for name, value in tables["build_env"].items() if not _is_looked_at(name, value)]
    if unseen:
        raise UsageError(
            f"build_env.{unseen[0]}: no step of a build looks at it",
            at=at,
            hint="compile_definitions and compile_options reach compilers; ASCEND_HOME_PATH, BISHENG and CXX choose them",
        )
    if tables["runtime_env"]:
        name = next(iter(tables["runtime_env"]))
        raise UsageError(f"runtime_env.{name}: nothing would set it when operators run", at=at, hint="set it where they run")
    return BuildConfig(
        source=source,
        support_dirs=_support(lists["support_dirs"], bases["support_dirs"], at),
        compile_options=lists["compile_options"],
        compile_definitions=lists["compile_definitions"],
        link_libraries=lists["link_libraries"],
        link_options=lists["link_options"],
        include_dirs=paths("include_dirs"),
        force_includes=paths("force_includes"),
        package_files=paths("package_files"),
        link_dirs=paths("link_dirs"),
        build_env=tables["build_env"],
        runtime_env=tables["runtime_env"],
    )


def _is_looked_at(name: str, value: str) -> bool:
    request = read_request((), {})
    return request_key(request, (), {name: value}) != request_key(request, (), {})


def _texts(value: Any, name: str, at: Location) -> tuple[str, ...]:
    items = [] if value in (None, "") else value
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise UsageError(f"'{name}' must be a list of texts that are not empty", at=at)
    return tuple(items)


def _table(value: Any, name: str, at: Location) -> dict[str, str]:
    items = {} if value in (None, "") else value
    if not isinstance(items, dict) or not all(isinstance(item, str) for item in items.values()):
        raise UsageError(f"'{name}' must be a table of texts", at=at)
    return dict(items)


def _existing(name: str, word: str, base: Path, at: Location) -> Path:
    path = (base / Path(word).expanduser()).resolve()
    is_right = path.is_dir() if name in _FOLDERS else path.is_file() if name == "force_includes" else path.exists()
    if not is_right:
        raise UsageError(f"{name}: there is no {'folder' if name in _FOLDERS else 'file'} '{path}'", at=at)
    return path


def _support(words: Sequence[str], base: Path, at: Location) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for word in words:
        name, equals, text = word.partition("=")
        path = _existing("support_dirs", text if equals else word, base, at)
        name = name if equals else path.name
        if found.setdefault(name, path) != path:
            raise UsageError(f"support_dirs: '{name}' is {found[name]} and {path}", at=at)
    return found
