#!/usr/bin/env python3
"""A stand-in for CANN's bisheng in tests: takes the documented options only, and writes files that stand for its results.

An "object" is a text that depends on the arch, the options and the contents of all files that were read, so that a
build that compiles too little is seen. The command line and the environment's names go as one JSON line to
$BISHENG_LOG, or to a file `bisheng.log` beside the program, if there is one: a build passes no foreign variable on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path

ARCHS = ("dav-2201", "dav-3510")
FLAGS = ("-c", "-shared", "-fPIC", "-MD", "-g", "--enable-simt", "--cce-auto-sync")
PATTERNS = (r"-O[023]", r"-std=c\+\+(17|20)", r"--npu-arch=\S+", r"-D[A-Za-z_]\w*(=.*)?", r"-I.+", r"-L.+", r"-l\S+", r"-Wl,.+")
SEPARATE = ("-x", "-o", "-iquote", "-MT", "-MF", "-include")
SOURCES = (".asc", ".cpp")


def install(folder: Path, *, name: str = "bisheng") -> Path:
    """Put the program into `folder` with this interpreter in its first line, and an empty log beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    lines = Path(__file__).read_text().splitlines(keepends=True)
    program.write_text(f"#!{sys.executable}\n" + "".join(lines[1:]))
    program.chmod(0o755)
    (folder / "bisheng.log").touch()
    return program


def read_log(program: Path) -> list[list[str]]:
    """Return the command lines that were carried out, without the program's name."""
    return [json.loads(line)["argv"] for line in (program.parent / "bisheng.log").read_text().splitlines()]


def main(argv: list[str]) -> int:
    log = os.environ.get("BISHENG_LOG") or str(Path(sys.argv[0]).with_name("bisheng.log"))
    if Path(log).exists():
        with Path(log).open("a") as file:
            file.write(json.dumps({"argv": argv, "environment": sorted(os.environ)}) + "\n")
    if argv == ["--version"]:
        print("stand-in for bisheng, clang version 15.0.5")
        return 0
    try:
        carry_out(expand(argv))
    except ValueError as error:
        print(f"bisheng: error: {error}", file=sys.stderr)
        return 1
    return 0


def expand(argv: list[str]) -> list[str]:
    words: list[str] = []
    for word in argv:
        words += Path(word[1:]).read_text().split() if word.startswith("@") else [word]
    return words


def carry_out(argv: list[str]) -> None:
    values: dict[str, list[str]] = {name: [] for name in SEPARATE}
    flags: list[str] = []
    inputs: list[str] = []
    words = iter(argv)
    for word in words:
        if word in SEPARATE:
            value = next(words, "")
            require(bool(value), f"argument to '{word}' is missing")
            require(word != "-x" or (value == "asc" and not inputs), "-x asc must stand before the source")
            values[word].append(value)
        elif word.startswith("-"):
            require(word in FLAGS or any(re.fullmatch(pattern, word) for pattern in PATTERNS), f"unknown argument: '{word}'")
            require(not word.startswith("-l") or bool(inputs), f"{word} stands before the inputs that need it")
            flags.append(word)
        else:
            require(Path(word).is_file(), f"no such file or directory: '{word}'")
            inputs.append(word)
    archs = [flag.partition("=")[2] for flag in flags if flag.startswith("--npu-arch=")]
    require(all(arch in ARCHS for arch in archs) and len(archs) <= 1, f"unsupported npu-arch {archs}")
    require(len(values["-o"]) == 1, "exactly one -o")
    require(bool(inputs), "no input files")
    sources = [path for path in inputs if path.endswith(SOURCES)]
    if "-c" in flags:
        require(inputs == sources and len(sources) == 1, "-c takes one source")
        asc = values["-x"] == ["asc"] or sources[0].endswith(".asc")
        require(not asc or bool(archs), "--npu-arch is missing")
        require("-fPIC" in flags, "an object for a shared library needs -fPIC")
        require(not any(flag.startswith(("-l", "-L", "-Wl,")) for flag in flags), "linker arguments while compiling")
    else:
        require(bool(archs), "--npu-arch is missing")
        # One call may compile and link; then everything that it is given is a source.
        require(not values["-x"] or ("-shared" in flags and inputs == sources), "-x would make sources of the objects")
        require("-shared" not in flags or "-fPIC" in flags, "-shared needs -fPIC")
        require("-MD" not in flags, "-MD while linking")
    require(("-MD" in flags) == (len(values["-MT"]) == 1) == (len(values["-MF"]) == 1), "-MD, -MT and -MF go together")

    search = [*values["-iquote"], *(flag[2:] for flag in flags if flag.startswith("-I"))]
    read: list[str] = []
    for path in sources:
        collect(path, search, read)
    total = hashlib.sha256(" ".join(flag for flag in flags if not flag.startswith(("-I", "-L"))).encode())
    for path in [*(path for path in inputs if path not in sources), *read]:
        total.update(Path(path).read_bytes())
        if b"#error stand-in" in Path(path).read_bytes():
            raise ValueError(f"{path}:1:2: #error stand-in")
    output = Path(values["-o"][0])
    require(output.parent.is_dir(), f"cannot open output file '{output}'")
    output.write_text(f"stand-in {'object' if '-c' in flags else 'image'} {' '.join(archs)} {total.hexdigest()}\n")
    output.chmod(0o644 if "-c" in flags else 0o755)
    if values["-MF"]:
        files = [*read, "/opt/cann/include/kernel_operator.h"]
        Path(values["-MF"][0]).write_text(
            f"{values['-MT'][0]}: " + " \\\n  ".join(path.replace(" ", r"\ ") for path in files) + "\n"
        )


def collect(path: str, search: list[str], found: list[str]) -> None:
    """Add `path` and, depth first, the files it includes with quotes, where they exist."""
    if path in found:
        return
    found.append(path)
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', Path(path).read_text(errors="replace"), re.M):
        places = [str(Path(path).parent / name), *(f"{folder}/{name}" for folder in search)]
        existing = next((place for place in places if Path(place).is_file()), None)
        if existing:
            collect(existing, search, found)


def require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
