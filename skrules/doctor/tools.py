"""Python, SCons and the libraries; the C++ compiler; CANN; what can be put in front of compilers."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata

from skrules.doctor.check import Check, Status
from skrules.doctor.machine import Machine
from skrules.errors import ToolchainError
from skrules.toolchain.bisheng import BishengToolchain
from skrules.toolchain.cxx import find_compiler
from skrules.toolchain.detect import select

# Where the installers of CANN put what must be sourced, newest layout first; root's folder and that of other users:
# https://www.hiascend.com/document/detail/en/canncommercial/850/softwareinst/instg/instg_0044.html and
# https://www.hiascend.com/document/detail/en/canncommercial/800/softwareinst/instg/instg_0008.html
_CANN = ("cann/set_env.sh", "ascend-toolkit/set_env.sh", "ascend-toolkit/latest/set_env.sh")
_CANN_PAGE = "https://www.hiascend.com/cann/download"
_LAUNCHERS = ("ccache", "sccache", "distcc", "icecc")
# Shows that the compiler finds headers, of the language and of the system.
_PROBE = "#include <cstdint>\nstatic_assert(__cplusplus >= 201703L);\n"
_SECONDS = 20
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+?)(?:\s*>=\s*([0-9.]+))?")


def look_at_python() -> Check:
    return Check(
        name="Python",
        status=Status.OK,
        found=f"{platform.python_version()}, {sys.executable}",
        details={"version": platform.python_version(), "executable": sys.executable},
    )


def look_at_requirements(texts: Iterable[str] | None = None) -> tuple[Check, ...]:
    """Return a check of SCons, and one of the other distributions that skrules says it needs."""
    words = [text.partition(";") for text in (metadata.requires("skrules") or () if texts is None else texts)]
    needed = [text.strip() for text, _, marker in words if "extra" not in marker]
    scons = [text for text in needed if text.lower().startswith("scons")]
    return _distributions("SCons", scons), _distributions("libraries", [text for text in needed if text not in scons])


def _distributions(name: str, needed: Sequence[str]) -> Check:
    parts = [part for text in needed if (part := _REQUIREMENT.fullmatch(text))]
    versions = {part[1]: _version(part[1]) for part in parts}
    wrong = [part[0] for part in parts if not _is_enough(versions[part[1]], part[2])]
    return Check(
        name=name,
        status=Status.BROKEN if wrong else Status.OK,
        found=", ".join(f"{each} {version or 'is not there'}" for each, version in versions.items()).removeprefix(
            f"{name.lower()} "
        ),
        meaning=f"nothing can be built without {', '.join(wrong)}" if wrong else "",
        command=f"{shlex.quote(sys.executable)} -m pip install {shlex.join(wrong)}" if wrong else "",
        details=dict(versions),
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _is_enough(version: str, least: str | None) -> bool:
    """Compare without the library for versions, which may be what is missing; skrules states least versions only."""
    return bool(version) and (least is None or _numbers(version) >= _numbers(least))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", version.partition("+")[0])[:4])


def look_at_compiler(machine: Machine) -> Check:
    """Look for the compiler that the host toolchain uses, and have it read two lines."""
    name = "C++ compiler"
    without = "the host toolchain builds nothing; on a machine without CANN nothing can be built"
    try:
        compiler = find_compiler(machine.environ)
    except ToolchainError as error:
        command = "unset CXX" if machine.environ.get("CXX") else machine.installs_compiler()
        return Check(name=name, status=Status.BROKEN, found=error.message, meaning=without, command=command)
    program = shlex.join(compiler.command)
    details = {"command": list(compiler.command), "kind": compiler.kind, "identity": compiler.identity}
    found = f"{compiler.identity}, {program}"
    said = _compile(compiler.command, machine)
    if said:
        return Check(
            name=name,
            status=Status.BROKEN,
            found=found,
            meaning=f"it does not compile C++17: {said}",
            command=machine.installs_compiler(),
            details=details,
        )
    return Check(name=name, status=Status.OK, found=found, details=details)


def _compile(command: tuple[str, ...], machine: Machine) -> str:
    """Return what is wrong when the compiler reads a header, "" for nothing."""
    words = [*command, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    environment = {"PATH": machine.environ.get("PATH") or os.defpath, "LC_ALL": "C"}
    try:
        done = subprocess.run(words, input=_PROBE, capture_output=True, text=True, env=environment, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = (
        [line for line in done.stderr.splitlines() if "error" in line]
        or done.stderr.splitlines()
        or [f"exit status {done.returncode}"]
    )
    return lines[0] if done.returncode else ""


def look_at_cann(machine: Machine) -> Check:
    """Look for bisheng and the CANN that it belongs to."""
    name = "CANN"
    without = "kernels are built for the emulated device only, and none for an NPU"
    try:
        toolchain = select("bisheng", machine.environ, machine=machine.architecture)
    except ToolchainError as error:
        wrong = next((name for name in ("BISHENG", "ASCEND_HOME_PATH") if error.message.startswith(f"{name} ")), "")
        if wrong:
            meaning = f"builds end with this error unless they are told TOOLCHAIN=host; {without}"
            return Check(name=name, status=Status.BROKEN, found=error.message, meaning=meaning, command=f"unset {wrong}")
        script = _set_env(machine)
        if script:
            return Check(
                name=name,
                status=Status.MISSING,
                found="installed, but its environment is not set",
                meaning=without,
                command=f"source {shlex.quote(script)}",
                details={"set_env": script},
            )
        meaning = f"{without}; CANN is installed from {_CANN_PAGE}, then this sets its environment:"
        command = "source /usr/local/Ascend/cann/set_env.sh"
        home = machine.environ.get("ASCEND_HOME_PATH", "")
        found = f"no bisheng in ASCEND_HOME_PATH={home}" if home else "no bisheng"
        return Check(name=name, status=Status.MISSING, found=found, meaning=meaning, command=command)
    assert isinstance(toolchain, BishengToolchain)
    toolkit = toolchain.toolkit
    version = toolkit.version if toolkit else ""
    return Check(
        name=name,
        status=Status.OK,
        found=f"{version or 'version unknown'}, {toolchain.program} ({toolchain.why})",
        details={"version": version, "home": str(toolkit.home) if toolkit else "", "bisheng": str(toolchain.program)},
    )


def _set_env(machine: Machine) -> str:
    """Return the script of an installed CANN whose environment is not set, "" for none."""
    home = machine.environ.get("HOME", "")
    folders = [machine.root / "usr/local/Ascend", *([machine.root / home.lstrip("/") / "Ascend"] if home else [])]
    return next((str(folder / name) for folder in folders for name in _CANN if (folder / name).is_file()), "")


def look_at_launcher(machine: Machine) -> Check:
    """Look for programs that people put in front of compilers."""
    name = "launcher"
    there = {program: place for program in _LAUNCHERS if (place := machine.which(program))}
    if not there:
        meaning = "builds do without: skrules keeps results itself; LAUNCHER= names one where there is one"
        return Check(name=name, status=Status.MISSING, found=f"none of {', '.join(_LAUNCHERS)}", meaning=meaning)
    found = ", ".join(there.values())
    return Check(name=name, status=Status.OK, found=f"{found}; used with scons LAUNCHER={next(iter(there))}", details=dict(there))
