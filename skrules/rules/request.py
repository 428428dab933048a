"""What a command line asks of the workspace: verbs, labels, and the variables that change what is built."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skrules.errors import UsageError, did_you_mean

VERBS = {
    "compare": "run the cases of each operator, plain and as SuperKernel, and compare with the reference",
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
    Variable(name="VERBOSE", default="0", doc="1 prints each command before it runs"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`patterns` are label patterns (none: the whole workspace); `files` are targets that are paths below the build folder."""

    verbs: tuple[str, ...]
    patterns: tuple[str, ...]
    files: tuple[str, ...]
    archs: tuple[str, ...]
    toolchain: str
    build: str
    verbose: bool


def read_request(targets: Sequence[str], variables: Mapping[str, str]) -> Request:
    """Read the words and `NAME=value` pairs of a command line. Raises UsageError for anything unknown."""
    values = {variable.name: variable.default for variable in VARIABLES}
    for name, value in variables.items():
        if name not in values:
            raise UsageError(f"unknown variable '{name}'", allowed=values, hint=did_you_mean(name.upper(), values))
        values[name] = value
    if values["VERBOSE"] not in ("0", "1"):
        raise UsageError(f"VERBOSE is '{values['VERBOSE']}'", allowed=("0", "1"))
    build = values["BUILD"].strip("/")
    if not re.fullmatch(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*", build) or ".." in build.split("/") or build == ".":
        raise UsageError(f"BUILD is '{values['BUILD']}'", hint="name a folder inside the workspace, such as build")
    archs = tuple(dict.fromkeys(word for word in re.split(r"[,;\s]+", values["ARCH"]) if word))
    if "ARCH" in variables and not archs:
        raise UsageError("ARCH is empty", hint="name one or more archs, as in ARCH=dav-2201")
    return Request(
        verbs=tuple(dict.fromkeys(word for word in targets if word in VERBS)),
        patterns=tuple(word for word in targets if word not in VERBS and not _is_file(word, build)),
        files=tuple(word for word in targets if word not in VERBS and _is_file(word, build)),
        archs=archs,
        toolchain=values["TOOLCHAIN"],
        build=build,
        verbose=values["VERBOSE"] == "1",
    )


def _is_file(word: str, build: str) -> bool:
    return word == build or word.startswith(build + "/")
