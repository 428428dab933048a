"""What a command line asks of the workspace: verbs, labels, and the variables that change what is built."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules.errors import UsageError, did_you_mean

VERBS = {
    "compare": "run the cases of each operator, plain and as SuperKernel, and compare with the reference",
    "fix": "make the edits in sources that findings carry; alone; -n shows them",
    "validate": "list what the rules say of each operator; `skrules explain RULE` tells more of one",
    "wheel": "make the declared wheels, or one of all operators where none is declared",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    name: str
    default: str
    doc: str


VARIABLES = (
    Variable(name="ARCH", default="", doc="archs to build, separated by commas; default: all that an operator declares"),
    Variable(name="TOOLCHAIN", default="auto", doc="auto, bisheng or host"),
    Variable(name="BUILD", default="build", doc="folder for everything that is built"),
    Variable(name="BACKEND", default="program", doc="what compare launches through: program, or torch on the emulated npu"),
    Variable(name="WHEEL_NAME", default="", doc="name of the wheel's distribution, in place of the declared one or op_extension"),
    Variable(name="WHEEL_VERSION", default="", doc="version of the wheel, in place of the declared one or 0.1.0"),
    Variable(name="LAUNCHER", default="", doc="program in front of compilers, such as ccache, sccache or distcc"),
    Variable(name="VERBOSE", default="0", doc="1 prints each command before it runs"),
)


BACKENDS = ("program", "torch")

# Variables of the environment that decide which tools are found, what is built, or where caches lie.
_NAMES = frozenset(
    (
        *("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "CXX", "BISHENG", "TOOLCHAIN_HOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH"),
        *("NETRC", "SOURCE_DATE_EPOCH"),
    )
)
_PREFIXES = ("ASCEND", "SK_", "SKRULES_", "PYTHON", "CCACHE_", "SCCACHE_", "DISTCC_")

# A part of BUILD: what needs no quoting in any shell or Makefile, and is no `..`.
_FOLDER = r"(?!\.+(?:/|$))[A-Za-z0-9_.][A-Za-z0-9_.-]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`archs` are names as they were given; `archs_named_by` the variable of the environment that did, or "".
    `patterns` are label patterns (none: the whole workspace); `files` are targets that are paths below the build folder."""

    verbs: tuple[str, ...]
    patterns: tuple[str, ...]
    files: tuple[str, ...]
    archs: tuple[str, ...]
    toolchain: str
    build: str
    verbose: bool
    wheel_name: str = ""
    wheel_version: str = ""
    launcher: str = ""
    backend: str = "program"
    archs_named_by: str = ""


def read_request(targets: Sequence[str], variables: Mapping[str, str]) -> Request:
    """Read the words and `NAME=value` pairs of a command line. Raises UsageError for anything unknown."""
    values = {variable.name: variable.default for variable in VARIABLES}
    for name, value in variables.items():
        if name not in values:
            raise UsageError(f"unknown variable '{name}'", allowed=values, hint=did_you_mean(name.upper(), values))
        values[name] = value
    if values["VERBOSE"] not in ("0", "1"):
        raise UsageError(f"VERBOSE is '{values['VERBOSE']}'", allowed=("0", "1"))
    build = values["BUILD"].rstrip("/")
    if values["BUILD"].startswith("/") or not re.fullmatch(rf"{_FOLDER}(/{_FOLDER})*", build):
        raise UsageError(f"BUILD is '{values['BUILD']}'", hint="name a folder inside the workspace, such as build")
    verbs = tuple(dict.fromkeys(word for word in targets if word in VERBS))
    if values["BACKEND"] not in BACKENDS:
        raise UsageError(f"BACKEND is '{values['BACKEND']}'", allowed=BACKENDS)
    if "BACKEND" in variables and "compare" not in verbs:
        raise UsageError("BACKEND is given, and nothing is compared", hint=f"scons compare BACKEND={values['BACKEND']}")
    archs = split_names(values["ARCH"])
    if "ARCH" in variables and not archs:
        raise UsageError("ARCH is empty", hint="name one or more archs, as in ARCH=dav-2201")
    words = [word for word in targets if word not in VERBS]
    files = tuple(word for word in words if _is_file(word, build))
    if files and len(files) < len(targets):
        others = [word for word in targets if word not in files]
        raise UsageError(
            f"'{files[0]}' is a file, and '{others[0]}' is none", hint="ask for files by themselves, then for the rest"
        )
    return Request(
        verbs=verbs,
        patterns=tuple(word for word in words if not _is_file(word, build)),
        files=files,
        archs=archs,
        toolchain=values["TOOLCHAIN"],
        build=build,
        verbose=values["VERBOSE"] == "1",
        wheel_name=values["WHEEL_NAME"],
        wheel_version=values["WHEEL_VERSION"],
        launcher=values["LAUNCHER"],
        backend=values["BACKEND"],
    )


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas, semicolons or blanks between them, each once."""
    return tuple(dict.fromkeys(word for word in re.split(r"[,;\s]+", text) if word))


def read_jobs(environ: Mapping[str, str]) -> int:
    """Return how many steps may run at once when `-j` does not say: `SK_BISHENG_JOBS`, else the number of cores.

    Raises UsageError when it is not a positive whole number.
    """
    text = environ.get("SK_BISHENG_JOBS")
    if text is None:
        return os.cpu_count() or 1
    if not re.fullmatch(r"0*[1-9][0-9]{0,5}", text.strip(), re.ASCII):
        raise UsageError(f"SK_BISHENG_JOBS is '{text}', and no positive whole number", hint="unset it, or use -j")
    return int(text)


def request_key(request: Request, packages: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return a digest of everything a request means that is no file: equal keys ask for the same results."""
    variables = sorted((name, value) for name, value in environ.items() if name in _NAMES or name.startswith(_PREFIXES))
    wheel = (request.wheel_name, request.wheel_version)
    # A launcher decides nothing. But one that is not there is an error, and what is current would not look for it.
    tools = (request.toolchain, request.launcher)
    asked = (request.verbs, request.patterns, request.files, request.archs, request.backend, tools, wheel, list(packages))
    return hashlib.sha256(json.dumps([asked, variables, sys.version, sys.executable, sys.path]).encode()).hexdigest()[:32]


def state_folder(root: Path, build: str) -> Path:
    """Return where the build folder `build` keeps what it remembers of requests."""
    return root / build / ".skrules"


def journal_folder(root: Path, results: str) -> Path:
    """Return where the journal of a toolchain's results lies; `results` is their folder, such as "build/host"."""
    return state_folder(root, results) / "journal"


def manifest_path(root: Path, build: str, key: str) -> Path:
    return state_folder(root, build) / "requests" / f"{key}.json"


def refuse_build_folder(root: Path, folders: Sequence[str], build: str) -> None:
    """Raise UsageError when results in the folder `build` would lie among sources, or when it is a file."""
    path = Path(build)
    for folder in folders:
        if path.is_relative_to(folder) or Path(folder).is_relative_to(path):
            raise UsageError(
                f"BUILD is '{build}', among the packages of '{folder}'", hint="name a folder of its own, such as build"
            )
    for part in (path, *path.parents):
        if (root / part).exists() and not (root / part).is_dir():
            raise UsageError(f"BUILD is '{build}', but '{part}' is a file", hint="name a folder, such as build")


def assignments(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the variables of a command line. Raises UsageError for one that is given two values: which is meant?"""
    values: dict[str, str] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            hint = f"ARCH={values[name]},{value}" if name == "ARCH" else "keep one of them"
            raise UsageError(f"{name} is given twice: '{values[name]}' and '{value}'", hint=hint)
    return values


def from_folder(targets: Sequence[str], below: str, *, everything: bool = False) -> tuple[str, ...]:
    """Return the words of a command line that was typed in the folder `below` of the workspace, as if typed in its root.

    Labels that begin with `//` and verbs stay. Without a label the folder itself is meant, or with `everything` all.
    """
    if below in ("", "."):
        return tuple(targets)
    words = []
    for word in targets:
        path, colon, name = word.partition(":")
        joined = posixpath.normpath(posixpath.join(below, path))
        words.append(word if word in VERBS or word.startswith("//") else f"{joined}{colon}{name}")
    if not everything and all(word in VERBS for word in words):
        words.append(f"//{below}/...")
    return tuple(words)


def _is_file(word: str, build: str) -> bool:
    return word == build or word.startswith(build + "/")
