"""Whether a wheel is what it should be: from its bytes alone, and without installing or importing anything."""

from __future__ import annotations

import csv
import io
import os
import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from email.parser import BytesParser

from packaging.metadata import InvalidMetadata, Metadata
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from skrules.wheel import built_with
from skrules.wheel.archive import is_inside, record_hash
from skrules.wheel.distribution import is_emulated
from skrules.wheel.elf import MACHINES, SharedLibrary, read_library

# Only modules of the host toolchain need it; it lies in the wheel with them.
_EMULATION = "libskrules_host.so"
# Fewer bytes may stand in a library by chance.
_TELLING = 6
_METADATA = ("METADATA", "WHEEL", "RECORD")


def verify(data: bytes, file_name: str, *, private: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what is wrong with the wheel `data` that is called `file_name`, a line each; nothing when it is right.

    `private` are folders of the machine that builds it, which no library in it may name.

    Checked are the archive, the names, METADATA, WHEEL and its tags against the file's name, RECORD with every hash and
    size, that every operator is there for every arch that `built_with.json` tells of and nothing else is, and of every
    module its ELF header, its init function and that the libraries which lie in the wheel are found.
    """
    try:
        files = _files(data)
    except ValueError as error:
        return (f"{file_name}: {error}",)
    return (*_problems(files, file_name), *_told(files, private))


def _told(files: Mapping[str, bytes], private: Sequence[str]) -> Iterator[str]:
    for path in sorted(path for path in files if path.endswith(".so")):
        for folder in private:
            if len(folder) >= _TELLING and os.fsencode(folder) in files[path]:
                yield f"{path} holds the path '{folder}': another machine would make another file"


def _problems(files: Mapping[str, bytes], file_name: str) -> Iterator[str]:
    try:
        name, version, build, tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename as error:
        yield f"{error}"
        return
    stem, *middle = file_name.removesuffix(".whl").rsplit("-", 4 if build else 3)
    folder = f"{stem}.dist-info"
    missing = [f"{folder}/{each}" for each in _METADATA if f"{folder}/{each}" not in files]
    if missing:
        yield from (f"there is no {path}" for path in missing)
        return
    yield from _metadata(files[f"{folder}/METADATA"], name, str(version), files, folder)
    yield from _wheel(files[f"{folder}/WHEEL"], {str(tag) for tag in tags})
    yield from _record(files, folder)
    yield from _modules(files, folder, middle[-1], emulated=is_emulated(str(version)))


def _files(data: bytes) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                if info.filename in files:
                    raise ValueError(f"it holds '{info.filename}' twice")
                if not is_inside(info.filename):
                    raise ValueError(f"it holds '{info.filename}', which is no place in a wheel")
                files[info.filename] = archive.read(info)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, IndexError) as error:
        raise ValueError(f"it is damaged: {error}") from error
    return files


def _metadata(data: bytes, name: str, version: str, files: Mapping[str, bytes], folder: str) -> Iterator[str]:
    try:
        metadata = Metadata.from_email(data)
    except (ExceptionGroup, InvalidMetadata) as error:
        parts = error.exceptions if isinstance(error, ExceptionGroup) else [error]
        yield from (f"METADATA: {part}" for part in parts)
        return
    if canonicalize_name(metadata.name) != name:
        yield f"METADATA names it {metadata.name}, its file {name}"
    if str(metadata.version) != version:
        yield f"METADATA gives the version {metadata.version}, its file {version}"
    for path in metadata.license_files or []:
        if f"{folder}/licenses/{path}" not in files:
            yield f"METADATA names the licence {path}, which is not there"


def _wheel(data: bytes, tags: set[str]) -> Iterator[str]:
    message = BytesParser().parsebytes(data)
    if message.get("Wheel-Version") != "1.0":
        yield f"WHEEL: Wheel-Version is {message.get('Wheel-Version')}, not 1.0"
    if message.get("Root-Is-Purelib") != "false":
        yield "WHEEL: Root-Is-Purelib is not false, and modules are for one platform"
    found = set(map(str, message.get_all("Tag", [])))
    if found != tags:
        yield f"WHEEL has the tags {', '.join(sorted(found)) or 'none'}, its file {', '.join(sorted(tags))}"


def _record(files: Mapping[str, bytes], folder: str) -> Iterator[str]:
    own = f"{folder}/RECORD"
    try:
        rows = [row for row in csv.reader(io.StringIO(files[own].decode("utf-8"), newline="")) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        yield f"RECORD cannot be read: {error}"
        return
    seen: set[str] = set()
    for row in rows:
        path, digest, size = (*row, "", "")[:3]
        if path in seen:
            yield f"RECORD lists {path} twice"
        seen.add(path)
        if path == own:
            continue
        if path not in files:
            yield f"RECORD lists {path}, which is not there"
        elif digest != record_hash(files[path]):
            yield f"{path} is not what RECORD says: its hash differs"
        elif size != str(len(files[path])):
            yield f"{path} is not what RECORD says: its size differs"
    yield from (f"RECORD does not list {path}" for path in sorted(files.keys() - seen))


def _modules(files: Mapping[str, bytes], folder: str, platform: str, *, emulated: bool) -> Iterator[str]:
    records = [path for path in files if posixpath.basename(path) == built_with.FILE_NAME]
    if len(records) != 1:
        yield f"it has {len(records)} {built_with.FILE_NAME}: it must tell once what it was built with"
        return
    package = posixpath.dirname(records[0])
    try:
        says_emulated, operators = built_with.read_built_with(files[records[0]])
    except ValueError as error:
        yield f"{records[0]}: {error}"
        return
    if says_emulated != emulated:
        yield "its version must have the local part 'host' if, and only if, its modules only run emulated"
    if f"{package}/__init__.py" not in files:
        yield f"there is no {package}/__init__.py"
    expected = {
        f"{package}/{module}.so": (operator.name, arch)
        for operator in operators
        for module, arch in zip(operator.modules, operator.archs, strict=True)
    }
    for path, (operator_name, arch) in sorted(expected.items()):
        if path not in files:
            yield f"there is no {path}: the operator {operator_name} for {arch}"
    for path in sorted(files):
        if path.endswith(".so") and not path.startswith(f"{folder}/"):
            if path not in expected and posixpath.dirname(path) == package:
                yield f"{path} is a module that {built_with.FILE_NAME} does not tell of"
            yield from _library(files, path, platform, is_module=path in expected, emulated=emulated)


def _library(files: Mapping[str, bytes], path: str, platform: str, *, is_module: bool, emulated: bool) -> Iterator[str]:
    try:
        library = read_library(files[path])
    except ValueError as error:
        yield f"{path}: {error}"
        return
    machine = next((name for name in MACHINES if platform.endswith(name)), "")
    if library.machine != MACHINES.get(machine):
        names = {number: name for name, number in MACHINES.items()}
        yield f"{path} is for {names.get(library.machine, f'machine {library.machine}')}, and the wheel's tag says {platform}"
    for folder in library.rpath:
        if not folder.startswith("$ORIGIN"):
            yield f"{path} looks for libraries in '{folder}', a folder of the machine that built it"
    if not is_module:
        return
    init = f"PyInit_{posixpath.basename(path).removesuffix('.so')}"
    if init not in library.exports:
        yield f"{path} is no module of its name: it does not export {init}"
    if (_EMULATION in library.needed) != emulated:
        yield f"{path} {'only runs emulated' if not emulated else 'is not emulated'}, and the wheel's version says otherwise"
    if _EMULATION in library.needed and not _finds(files, path, library):
        yield f"{path} needs {_EMULATION}, and does not find it in the wheel"


def _finds(files: Mapping[str, bytes], path: str, library: SharedLibrary) -> bool:
    origin = posixpath.dirname(path)
    folders = (posixpath.normpath(folder.replace("$ORIGIN", origin)) for folder in library.rpath)
    return any(f"{folder}/{_EMULATION}" in files for folder in folders)
