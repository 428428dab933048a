"""The standalone project: the parts of a build's own comparison, copied, and a CMake file that puts them together.

Each source of the tree becomes a program: the adapted kernels with the launchers of a build behind them, the descriptor of a
build, and the one program that runs cases. What is compared is what ships.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from skrules import resources
from skrules.aclgraph.entry import PackageEntry
from skrules.aclgraph.host import without_host_part
from skrules.binding.descriptor import render_descriptor
from skrules.binding.launcher import render_launchers
from skrules.contract.entry import Entry
from skrules.errors import UsageError
from skrules.shapes import shape
from skrules.source.kernels import read
from skrules.source.programs import defines_main
from skrules.toolchain.bisheng import PROGRAM_LIBRARIES

TREE = "operator-sk-standalone-verify"
PROGRAM = "runtime_compare.asc"
CMAKE = "CMakeLists.txt"
_HEADERS = {
    "compare": ("compare_describe.h", "compare_plan.h"),
    "binding": ("skrules_descriptor.h", "skrules_launcher.h", "skrules_wrapper.h"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source of a package, `text` as it lies in the tree, with its entries; `target` is the program it becomes.

    `fixtures` and `support` are files by their paths below its folders `fixtures/<stem>` and `csrc`.
    """

    path: str
    text: bytes
    target: str
    entries: tuple[Entry, ...]
    packaged: tuple[PackageEntry, ...]
    fixtures: Mapping[str, bytes]
    support: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def place(self) -> str:
        """Where the project has it."""
        return f"csrc/{self.stem}/{self.stem}.asc"

    @property
    def descriptor(self) -> str:
        return f"csrc/{self.stem}/descriptor.cpp"

    @property
    def options(self) -> str:
        return f"csrc/{self.stem}/options.rsp"

    @property
    def fixture_folder(self) -> str:
        return f"fixtures/{self.stem}"

    @property
    def quote_dirs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(folder for entry in self.packaged for folder in entry.quote_dirs))


def target_names(paths: Sequence[str]) -> dict[str, str]:
    """Return the name of the program of each source: `runtime_compare`, with the source's own name when there are several."""
    if len(paths) == 1:
        return {paths[0]: "runtime_compare"}
    return {path: f"runtime_compare_{_identifier(PurePosixPath(path).stem)}" for path in paths}


def _identifier(text: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char == "_") else "_" for char in text)


def render_project(sources: Sequence[Source], arch: str, config: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the project; without an arch there is no CMakeLists.txt.

    `config` is the resolved build config of the package. Raises UsageError for a source that is not as it was made.
    """
    templates = resources.templates()
    files = {f"include/{name}": (templates / room / name).read_bytes() for room, names in _HEADERS.items() for name in names}
    files[PROGRAM] = (templates / "compare" / PROGRAM).read_bytes()
    files["run.py"] = (templates / "standalone" / "run.py").read_bytes()
    files["targets.json"] = (json.dumps({each.target: each.fixture_folder for each in sources}, indent=2) + "\n").encode()
    for source in sources:
        files |= _source_files(source, config)
    if arch:
        files[CMAKE] = _cmake(sources, arch, config)
    return files


def _source_files(source: Source, config: Mapping[str, Any]) -> dict[str, bytes]:
    try:
        kernels = without_host_part(source.text)
    except ValueError as error:
        raise UsageError(f"{source.path} is not as it was made: {error}", hint="adapt the operator again") from error
    unit = read(kernels, source.path)
    launchers = render_launchers(source.entries).replace("\n", unit.newline).encode("latin-1")
    descriptor = render_descriptor(source.stem, source.entries, {entry.name: entry.type for entry in source.entries})
    words = list(dict.fromkeys(word for entry in source.packaged for word in (*entry.defines, *entry.options)))
    if defines_main(unit):
        words.append(f"-Dmain=skrules_main_{_identifier(source.stem)}")  # the program has one of its own
    words += [f"-D{word}" for word in config.get("compile_definitions", ())]
    words += config.get("compile_options", ())
    words += [word for path in config.get("force_includes", ()) for word in ("-include", path)]
    words += [f"-I{path}" for path in config.get("include_dirs", ())]
    return {
        source.place: kernels + launchers,
        source.descriptor: descriptor.encode("latin-1"),
        source.options: "".join(f"{_quoted(word)}\n" for word in words).encode(),
        **source.support,
        **{f"{source.fixture_folder}/{path}": data for path, data in source.fixtures.items()},
    }


def _quoted(word: str) -> str:
    # Response files of GCC and Clang: a backslash keeps the next character.
    return "".join(f"\\{char}" if char in " \t\n\\\"'" else char for char in word)


def _cmake(sources: Sequence[Source], arch: str, config: Mapping[str, Any]) -> bytes:
    targets = [
        {
            "name": each.target,
            "program": PROGRAM,
            "source": each.place,
            "descriptor": each.descriptor,
            "options": each.options,
            "quote_dirs": each.quote_dirs,
        }
        for each in sources
    ]
    values = {
        "arch": arch,
        "targets": targets,
        "libraries": [*PROGRAM_LIBRARIES, *config.get("link_libraries", ())],
        "link_options": config.get("link_options", ()),
        "link_dirs": config.get("link_dirs", ()),
    }
    return shape("standalone", "CMakeLists.txt.j2", filters=(("cmake", _cmake_word),)).render(values).encode()


def _cmake_word(text: str) -> str:
    """Return one argument of a CMake command: quoted where it is not plain."""
    if text and all(char.isascii() and (char.isalnum() or char in "_+-./=,:") for char in text):
        return text
    escaped = "".join(f"\\{char}" if char in '\\"$@' else char for char in text)
    return f'"{escaped}"'
