"""The command line of `hostcc`, which is that of bisheng."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skrules.engine.depfile import folders_named
from skrules.errors import UsageError

# Options of bisheng that say how device code is made and mean nothing here, with the number of words that follow. From
# docs/zh/guide/编程指南/编译与运行/算子编译/AI-Core算子编译基本用法.md and FindASC.cmake of asc-devkit.
_DEVICE_ONLY = {
    "--cce-": 0,
    "-cce-": 0,
    "--npu-soc": 0,
    "--asc-aicore-lang": 0,
    "--sanitizer": 0,
    "--enable-simt": 0,
    "-mllvm": 1,
}
_JOINED = ("-I", "-D", "-U", "-L", "-l")
_SEPARATE = ("-iquote", "-isystem", "-idirafter", "-include", "-imacros", "-MF", "-MT", "-MQ", "-o", "-x")
_LINKING = ("-L", "-l", "-Wl,", "-shared", "--shared", "-static")
_CPP = (".cpp", ".cc", ".cxx")


@dataclass(slots=True, kw_only=True)
class Invocation:
    """A parsed command line.

    `options` go on to the C++ compiler whatever it does; `linking`, objects and libraries and what is said to the linker,
    only when it links. Both keep their order.
    """

    arch: str = ""
    compile_only: bool = False
    output: str = ""
    depfile: str = ""
    target: str = ""
    asc: list[str] = field(default_factory=list)
    cpp: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    linking: list[str] = field(default_factory=list)


def parse(arguments: Sequence[str]) -> Invocation:
    """Read a command line in bisheng's form. Raises UsageError when it cannot be carried out."""
    found = Invocation()
    language = ""
    words = iter(_without_sections(_expanded(arguments)))
    for word in words:
        name = next(
            (option for option in (*_SEPARATE, *_JOINED) if word == option or (word.startswith(option) and option in _JOINED)), ""
        )
        value = word[len(name) :] or next(words, "") if name else ""
        if name and not value:
            raise UsageError(f"hostcc: option '{name}' needs a value")
        if word == "-lib":
            raise UsageError("hostcc: static libraries (-lib) are not made", hint="link the objects themselves")
        if name == "-x":
            language = value
        elif name == "-o":
            found.output = value
        elif name == "-MF":
            found.depfile = value
        elif name in ("-MT", "-MQ"):
            found.target = value
        elif word.startswith(_LINKING):
            found.linking.append(name + value if name else word.replace("--shared", "-shared"))
        elif name:
            found.options += [name + value] if name in _JOINED else [name, value]
        elif word in ("-MD", "-MMD"):
            pass  # -MF says it all
        elif word in ("-c", "-dc"):
            found.compile_only = True
        elif word.startswith("--npu-arch="):
            found.arch = word.partition("=")[2]
        elif device := next((option for option in _DEVICE_ONLY if word.startswith(option)), ""):
            for _ in range(_DEVICE_ONLY[device]):
                next(words, "")
        elif word.startswith("-"):
            found.options.append(word)
        elif language == "asc" or (not language and word.endswith(".asc")):
            found.asc.append(word)
        elif word.endswith(_CPP):
            found.cpp.append(word)
        else:
            found.linking.append(word)
    sources = [*found.asc, *found.cpp]
    if not found.output:
        raise UsageError("hostcc: -o is missing")
    if found.compile_only and len(sources) != 1:
        raise UsageError(f"hostcc: -c takes exactly one source, not {len(sources)}", notes=sources)
    if found.asc and not found.arch:
        raise UsageError("hostcc: --npu-arch is missing", hint="for example --npu-arch=dav-2201")
    return found


def _expanded(arguments: Sequence[str], depth: int = 0) -> Iterator[str]:
    """Replace `@file` by the words in the file, as clang does; a word `@x` without such a file stays."""
    for word in arguments:
        if not word.startswith("@") or not Path(word[1:]).is_file():
            yield word
        elif depth > 8:
            raise UsageError(f"hostcc: {word} includes itself")
        else:
            try:
                words = shlex.split(Path(word[1:]).read_text(encoding="utf-8", errors="surrogateescape"))
            except ValueError as error:
                raise UsageError(f"hostcc: {word[1:]}: {error}") from error
            yield from _expanded(words, depth + 1)


def _without_sections(arguments: Iterable[str]) -> list[str]:
    """Resolve `-Xhost-start ... -Xhost-end`, all of it kept, and `-Xaicore-start ... -Xaicore-end`: definitions and paths."""
    words: list[str] = []
    section = ""
    for word in arguments:
        if marker := re.fullmatch(r"-X(host|aicore)-(start|end)", word):
            section = marker[1] if marker[2] == "start" else ""
        elif section != "aicore" or word.startswith(("-D", "-U", "-I")):
            words.append(word)
    return words


def codegen_options(options: Sequence[str]) -> list[str]:
    """Return the options that a precompiled header depends on; GCC itself compares the definitions."""
    words = iter(options)
    kept = []
    for word in words:
        if word in _SEPARATE:
            next(words, "")
        elif not word.startswith(_JOINED):
            kept.append(word)
    return kept


def include_folders(options: Sequence[str]) -> list[Path]:
    """Return where `#include "x"` looks beyond the folder of the including file, in order."""
    return [*map(Path, folders_named(options, angled=False)), *angled_folders(options)]


def angled_folders(options: Sequence[str]) -> list[Path]:
    """Return where `#include <x>` looks before the folders of the compiler, in order."""
    return [Path(folder) for folder in folders_named(options, angled=True)]
