"""The runtime library of the host toolchain: compiled once per machine and content, then copied into workspaces."""

from __future__ import annotations

import concurrent.futures
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from skrules import resources
from skrules.engine.files import write_if_changed
from skrules.engine.slots import MIB, available_memory
from skrules.errors import BuildError
from skrules.toolchain import cache
from skrules.toolchain.fingerprint import digest_file, digest_tree

LIBRARY = "libskrules_host.so"

_COMPILING = ("-c", "-fPIC")
# Sources compiled as one: the standard headers, which all need, take longer than most of the code. More at a time would
# leave cores idle and make a change of one of them slower.
_TOGETHER = 14
# A source with such a pragma stands alone: it would reach into those after it.
_ALONE = b"#pragma GCC optimize"
# -z defs: what the runtime declares and does not define is found here, not when an operator is loaded.
_LINKING = ("-shared", f"-Wl,-soname,{LIBRARY}", "-Wl,-z,defs", "-pthread", "-ldl")
# MiB that a compiler of one unit takes, measured with g++ 12.
UNIT_MEMORY = 350
_LIBRARIES_KEPT = 4
_OBJECTS_KEPT = 40  # of 500 kB or less


def runtime_digest() -> str:
    """Return the digest of the runtime's own sources and headers."""
    return digest_tree(_sources())


def workers(jobs: int) -> int:
    """Return how many compilers may run side by side: `jobs`, or as many as there are units or fit into memory, if fewer."""
    return max(1, min(jobs, len(units_of(_own_sources())), available_memory() // (UNIT_MEMORY * MIB)))


def make_runtime(
    output: str, environment: Mapping[str, str], key: Mapping[str, str], workspace: Path, *, at_once: int = 1
) -> None:
    """Put the runtime library at `output` of `workspace`, and say so first when it must be compiled: that takes a while.

    `key` names all that the library depends on but `runtime_digest`; `at_once` is how many compilers may run side by side.
    Raises BuildError when it does not compile.
    """
    making = _Making(environment, key, at_once)
    kept = making.cache.root

    def build(folder: Path) -> None:
        print(f"host toolchain: compiling the emulated device; this is done once, and kept in {kept}", flush=True)
        making.library(folder)

    name = cache.key_of(making.identity, runtime_digest())
    entry = making.cache.cached("host-runtime", name, build, keep=_LIBRARIES_KEPT)
    target = workspace / output
    if entry:
        write_if_changed(target, (entry / LIBRARY).read_bytes())
    else:
        print(f"host toolchain: compiling the emulated device; it cannot be kept in {kept}", flush=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{LIBRARY}.", dir=target.parent) as folder:
            making.library(Path(folder))
            (Path(folder) / LIBRARY).replace(target)
    target.chmod(0o755)


def _sources() -> Path:
    return resources.toolchains() / "host" / "runtime"


def _own_sources() -> list[Path]:
    return sorted(_sources().glob("*.cpp"))


def units_of(sources: Sequence[Path]) -> tuple[tuple[Path, ...], ...]:
    """Return what is compiled as one. Together sources share one scope: a name without linkage is in one of them only."""
    alone = [source for source in sources if _ALONE in source.read_bytes()]
    others = [source for source in sources if source not in alone]
    together = (tuple(others[at : at + _TOGETHER]) for at in range(0, len(others), _TOGETHER))
    return (*((source,) for source in alone), *together)


class _Making:
    def __init__(self, environment: Mapping[str, str], key: Mapping[str, str], at_once: int) -> None:
        # Here and not above: all that reads AscendC comes with it, which a build that only needs the digest does without.
        from skrules.toolchain.hostcc import Driver

        self.driver = Driver(environment)
        self.at_once = at_once
        self.cache = cache.Cache(cache.root(environment))
        self.identity = cache.key_of(*(f"{name}={value}" for name, value in sorted(key.items())))
        self.headers = digest_tree(_sources(), ("**/*.h",))

    def library(self, folder: Path) -> None:
        """Make the library in `folder`: all units side by side, then one link."""
        from skrules.toolchain.hostcc import CompilerFailed

        sources = _own_sources()
        if not sources:
            raise BuildError("the host toolchain has no runtime sources", hint="reinstall skrules")
        with tempfile.TemporaryDirectory() as scratch:
            try:
                with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
                    objects = list(pool.map(lambda unit: self.object(unit, Path(scratch)), units_of(sources)))
                self.driver.run([*map(str, objects), *_LINKING, "-o", str(folder / LIBRARY)])
            except CompilerFailed as error:
                raise BuildError(
                    "the runtime of the host toolchain does not compile", hint="the messages above say where"
                ) from error

    def object(self, unit: Sequence[Path], scratch: Path) -> Path:
        """Return the object of one unit: a change in one of thirty files is a matter of seconds."""
        name = unit[0].stem

        def compile_into(folder: Path) -> None:
            text = folder / f"{name}.cpp"
            text.write_text("".join(f'#include "{source}"\n' for source in unit))
            self.driver.run([*_COMPILING, str(text), "-o", str(folder / f"{name}.o")])

        key = cache.key_of(self.identity, self.headers, *(word for source in unit for word in (source.name, digest_file(source))))
        entry = self.cache.cached("host-objects", key, compile_into, keep=_OBJECTS_KEPT)
        if entry is None:
            entry = scratch
            compile_into(entry)
        return entry / f"{name}.o"
