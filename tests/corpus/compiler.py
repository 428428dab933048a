"""Does g++ say of an adapted file what it does not say of the original?

The originals include headers that are not here: those are stubbed by empty files, so most files do not compile. What counts
is the difference: every message on the adapted text must be one on the original too.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

from skrules.adapt.adaptation import AdaptedSource
from skrules.contract.entry import Entry
from skrules.errors import SkrulesError
from skrules.source.evaluation import DEFINED, UNDEFINED, Macros
from skrules.source.includes import local_headers
from skrules.toolchain.hostcc import Driver
from skrules.toolchain.launch_syntax import rewrite_launches

_ANY = "skrules_any_object"  # see contracts.py
_ARCH = 2201
_ERROR = re.compile(r"(?m)^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$")
_INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")')
_NOT_DECLARED = re.compile(r"there are no arguments to ('[^']*') that depend on a template parameter, so a declaration of .*")
_TWIN = re.compile(r"(?<=\w)_sk(?:_\d+)?\b")
_TARGET = re.compile(r"(?m)^SK_BIND\((.*?), \d+, \w+<")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_NO_CLASS = re.compile(r"request for member '[^']*' in ('[^']*'), which is of non-class type 'int'")
_SECONDS = 120


class Compiler:
    """g++ over the host toolchain's headers; `scratch` keeps the arch table, `folders` are those that includes start from."""

    def __init__(self, scratch: Path, folders: Sequence[Path] = ()) -> None:
        self.folders = tuple(folders)
        self.driver = Driver(os.environ)
        self.include = self.driver.include
        self.table = self.driver.arch_table(scratch)
        self.judged = True  # false: what is new may follow from what is wrong with the original; a person must look

    def new_errors(self, source: AdaptedSource, path: Path, macros: Macros = MappingProxyType({})) -> Iterator[str]:
        """Yield the messages on the adapted text that the original, at `path`, does not get, where `macros` are stated."""
        with tempfile.TemporaryDirectory() as folder:
            if any(_ANY in entry.bind_target or _has_list(entry) for entry in (each.entry for each in source.entries)):
                return  # its template arguments are made up, and no kernel of the author's
            original = _used(source)
            flags = [
                f"-U{name}" if value == UNDEFINED else f"-D{name}={1 if value == DEFINED else value}"
                for name, value in macros.items()
            ]
            before = self.errors(original, path, Path(folder), flags)
            unknown = [
                name
                for name in _type_names(source)
                if any(f"'{part}'" in message for part in name.split("::") for message in before or ())
            ]
            if unknown:
                before = self.errors(original, path, Path(folder), flags, unknown)
            if before is None:
                return
            after = self.errors(source.text(), path, Path(folder), flags, unknown)
            new = {"the compiler does not end"} if after is None else after - before
            # An object whose class is not known here is an int to the compiler: none of its members can be called.
            known = {match[1] for message in before if (match := _NO_CLASS.match(message))}
            new = {message for message in new if not ((match := _NO_CLASS.match(message)) and match[1] in known)}
            if any("'TPipe'" in message for message in before):
                new -= {message for message in new if message.endswith("' was not declared in this scope")}
            # Where the original itself is no C++ here, for want of its macros, what follows a mistake is no mistake of its own.
            if any(message.startswith("expected ") for message in before):
                new = {message for message in new if not message.startswith("expected ")}
                self.judged = not new
            yield from sorted(new)

    def errors(
        self, data: bytes, path: Path, folder: Path, flags: Sequence[str] = (), types: Collection[str] = ()
    ) -> set[str] | None:
        """Return the errors in `data` as if it stood at `path`, without names and places that adaptation changes.

        `types` are names that a header which is not here would declare.
        """
        headers = local_headers(str(path), self.folders, angled=self.folders)
        try:
            text = rewrite_launches(data, path.name, _ARCH, headers=headers)
        except SkrulesError:
            text = re.sub(rb"<<<.*?>>>", b"", data, flags=re.DOTALL)
        file = folder / "k.cpp"
        file.write_bytes(text.replace(b"[aicore]", b""))  # no C++; files define __aicore__ as this attribute of bisheng
        prelude = folder / "before" / "prelude.h"  # not beside stubs, which it would include
        prelude.parent.mkdir(exist_ok=True)
        prelude.write_text('#include "kernel_operator.h"\n' + "".join(_declaration(name) for name in types))
        self.stub(text, path, folder)
        for content in headers.values():
            self.stub(content, path, folder)
        command = [
            *self.driver.compiler.command,
            "-std=c++17",
            "-fsyntax-only",
            "-w",
            "-fmax-errors=0",
            "-fno-diagnostics-show-caret",
        ]
        command += [
            *self.driver.flags(),
            f"-D__NPU_ARCH__={_ARCH}",
            *flags,
            "-isystem",
            str(self.include),
            "-isystem",
            str(self.table),
        ]
        command += [
            "-iquote",
            str(path.parent),
            *(f"-I{place}" for place in self.folders),
            "-isystem",
            str(folder / "stubs"),
            "-include",
            str(prelude),
            "-x",
            "c++",
            str(file),
        ]
        try:
            run = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, env={**os.environ, "LC_ALL": "C"})
        except subprocess.TimeoutExpired:
            return None
        output = run.stderr.decode("latin-1")
        return {normalise(match["text"]) for match in _ERROR.finditer(output)}

    def stub(self, text: bytes, path: Path, folder: Path) -> None:
        """Make an empty file for every header that is nowhere."""
        for angled, quoted in _INCLUDE.findall(text.decode("latin-1")):
            name = angled or quoted
            places = (self.include, self.table, Path("/usr/include"), Path("/usr/include/c++"), path.parent, *self.folders)
            if any((place / name).exists() for place in places) or ("/" not in name and "." not in name):
                continue
            stub = Path(os.path.normpath(folder / "stubs" / name))
            if stub.is_relative_to(folder):
                stub.parent.mkdir(parents=True, exist_ok=True)
                stub.touch()


def _used(source: AdaptedSource) -> bytes:
    """Return the original with uses of its kernels where the bindings stand: they instantiate what SK_BIND instantiates."""
    text = source.unit.text
    pieces, at = [], 0
    for fragment in sorted(source.fragments, key=lambda fragment: fragment.span):
        targets = _TARGET.findall(fragment.text)
        uses = "".join(
            f"[[maybe_unused]] static auto *skrules_use_{fragment.span.start}_{index} = {_address(target)}; "
            for index, target in enumerate(targets)
        )
        pieces += [text[at : fragment.span.start], f"\n{uses}\n" if uses else ""]
        at = fragment.span.start
    return "".join([*pieces, text[at:]]).encode("latin-1")


def _has_list(entry: Entry) -> bool:
    return any(parameter.is_list for parameter in entry.kernel.template_parameters or ())


def _type_names(source: AdaptedSource) -> set[str]:
    """Return the plain names of types that kernels take."""
    kernels = source.unit.kernels
    own = {each.name for kernel in kernels for each in kernel.template_parameters or ()}
    names = {name for kernel in kernels for each in kernel.parameters for name in _NAME.findall(each.type)}
    return {name for name in names - own if not name.startswith("_")}


def _declaration(name: str) -> str:
    """Return a stand-in for a type that a header which is not here would declare."""
    *spaces, plain = name.split("::")
    return f"{''.join(f'namespace {space} {{ ' for space in spaces)}struct {plain} {{ int skrules; }};{' }' * len(spaces)}\n"


def _address(target: str) -> str:
    return target if target.startswith("static_cast<") else f"&{target}"


def normalise(message: str) -> str:
    """Return a message in the form that it has inside and outside of a template."""
    message = _TWIN.sub("", message)
    message = re.sub(r"size of array '[^']*' is not", "size of array is not", message)
    message = _NOT_DECLARED.sub(r"\1 was not declared in this scope", message)
    return message.partition("; did you mean")[0].partition(", and no declarations were found by")[0]
