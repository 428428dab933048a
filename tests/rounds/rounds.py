"""One round after another: a workspace is disturbed, built, and compared with a clean build of the same sources."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.rounds.builds import Builds, Ended, Tools
from tests.rounds.sources import Sources

_ARCHS = ("ARCH=dav-2201", "ARCH=dav-3510", "ARCH=dav-3510,dav-2201")
# When a build of this size is at work: its first third is Python starting.
_EARLIEST_S, _LATEST_S = 0.2, 1.4


class Rounds:
    """`problems` has a line for everything that was wrong, `counts` how often each kind of thing was done."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.choice = random.Random(seed)
        self.tools = Tools(folder / "tools")
        self.sources = Sources(folder / "one", self.choice)
        self.sources.create()
        self.cache = folder / "cache"
        self.first = Builds(folder / "one", self.tools.environment(self.cache))
        self.second = Builds(folder / "two", self.tools.environment(self.cache))
        self.clean = folder / "clean"
        self.problems: list[str] = []
        self.counts: Counter[str] = Counter()
        self._is_forgotten = False
        self._clean_of: dict[str, dict[str, bytes]] = {}
        self._original = {path: path.read_bytes() for path in self._editable()}

    def run(self, number: int) -> Iterator[str]:
        """Carry out a round; yield what is done."""
        self.tools.delay(self.choice.choice((0, 60, 150)))
        for _ in range(self.choice.randint(2, 6)):
            operation = self.choice.choice(self._operations())
            self.counts[operation.__name__.strip("_")] += 1
            yield operation()
        self.sources.mend()
        self.tools.delay(0)
        yield from self.check(number)

    def _operations(self) -> list[Callable[[], str]]:
        sources = self.sources
        edits = [sources.edit, sources.edit, sources.revert, sources.revert, sources.swap, sources.touch, sources.shadow]
        rare = [sources.match, sources.package, self._edit_generator, self._replace_compiler]
        builds = [self._build, self._kill, self._kill, self._kill_alone, self._kill_alone, self._concurrent, self._part]
        more = [self._failing, self._clean_up, self._change_during_build, self._change_during_build, self._other_checkout]
        damage = [self._damage_output, self._damage_output, self._damage_state, self._damage_cache, self._remove_state]
        return [*edits, *rare, *builds, *more, *damage]

    # Builds

    def _words(self) -> list[str]:
        return self.choice.choice(([], [], ["--no-fast-path"], ["-k"], ["-j1"], ["-j4"]))

    def _moment(self) -> float:
        return self.choice.uniform(_EARLIEST_S, _LATEST_S)

    def _build(self) -> str:
        limit = self.choice.choice(("1G", "1G", "0"))
        self._expect_good(self.first.run(*self._words(), SKRULES_CACHE_LIMIT=limit))
        return f"build, cache {limit}"

    def _part(self) -> str:
        words = [f"ops/{self.choice.choice(self.sources.operators)}"] if self.choice.random() < 0.6 else []
        words += [self.choice.choice(_ARCHS)] if self.choice.random() < 0.6 else []
        self._expect_good(self.first.run(*words))
        return f"build {' '.join(words)}"

    def _kill(self) -> str:
        return self._killed(alone=False)

    def _kill_alone(self) -> str:
        return self._killed(alone=True)

    def _killed(self, *, alone: bool) -> str:
        words, after = self._words(), self._moment()
        self.first.killed(words, after, alone=alone)
        return f"kill -9 of {'scons' if alone else 'everything'} after {after:.2f} s"

    def _concurrent(self) -> str:
        started = [self.first.start(self._words()) for _ in range(2)]
        for process in started:
            self._expect_good(self.first.wait(process))
        return "two builds at once"

    def _failing(self) -> str:
        said = self.sources.break_one()
        ended = self.first.run("-k", *self._words())
        if ended.status != 1:
            self.problems.append(f"status {ended.status} of a build that cannot succeed\n{ended.output}")
        if self.choice.random() < 0.7:
            self.sources.mend()
        return f"{said}, build"

    def _clean_up(self) -> str:
        words = [f"ops/{self.choice.choice(self.sources.operators)}"] if self.choice.random() < 0.6 else []
        self.first.run("-c", *words)
        return f"scons -c {' '.join(words)}"

    def _change_during_build(self) -> str:
        changes = (self.sources.edit, self.sources.swap, self.sources.revert, self.sources.shadow, self.sources.match)
        change = self.choice.choice((*changes, self._edit_generator, self._damage_output))
        after = self._moment()
        _, said = self.first.disturbed(self._words(), after, change)
        return f"{said}, {after:.2f} s after a build began"

    def _other_checkout(self) -> str:
        self.sources.copy_to(self.second.root)
        if self.choice.random() < 0.3:
            self.second.killed([], self._moment(), alone=True)
        else:
            self._expect_good(self.second.run())
        return "build of another checkout with the same cache"

    # Damage

    def _damage_output(self) -> str:
        results = [path for path in (self.first.root / "build").glob("bisheng/*/**/*") if path.is_file()]
        return self._damage([path for path in results if ".skrules" not in path.parts])

    def _damage_state(self) -> str:
        self._is_forgotten = True
        return self._damage([path for path in (self.first.root / "build").rglob("*.json*") if ".skrules" in path.parts])

    def _damage_cache(self) -> str:
        return self._damage([path for path in (self.cache / "steps").rglob("*") if path.is_file()])

    def _damage(self, files: list[Path]) -> str:
        if not files:
            return "nothing to damage"
        path = self.choice.choice(sorted(files))
        try:
            data = path.read_bytes()
        except OSError:  # a build that runs has just renamed it
            return "nothing to damage"
        kind = self.choice.choice(("delete", "truncate", "change", "garbage"))
        if kind == "delete":
            path.unlink(missing_ok=True)
        elif kind == "truncate":
            path.write_bytes(data[: self.choice.randint(0, len(data))])
        elif kind == "garbage":
            path.write_bytes(self.choice.randbytes(self.choice.randint(0, 300)))
        elif data:
            place = self.choice.randrange(len(data))
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << self.choice.randrange(8)]) + data[place + 1 :])
        return f"{kind} {path.name}"

    def _remove_state(self) -> str:
        self._is_forgotten = True
        folders = [path for path in (self.first.root / "build").rglob(".skrules") if path.is_dir()]
        if not folders:
            return "nothing to remove"
        folder = self.choice.choice(sorted(folders))
        # Not the lock: who removes that while compilers of a killed build run has said that there are none.
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "lock":
                path.unlink(missing_ok=True)
        return f"empty {folder.relative_to(self.first.root)}"

    def _editable(self) -> list[Path]:
        package = self.tools.skrules
        return [package / name for name in ("skrules/adapt/bind.py", "skrules/rules/generation.py", "templates/adapt/binding.j2")]

    def _edit_generator(self) -> str:
        path = self.choice.choice(self._editable())
        original = self._original[path]
        if path.read_bytes() != original:
            path.write_bytes(original)
        elif path.suffix == ".j2":
            path.write_bytes(original.replace(b"do not edit", b"do not change"))
        else:
            path.write_bytes(original + b"# edited\n")
        return f"edit {path.name} of skrules"

    def _replace_compiler(self) -> str:
        path = self.tools.bin / "bisheng"
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data[: -len(b"later")] if data.endswith(b"later") else data + b"later")
        path.chmod(0o755)
        return "replace the compiler"

    # What must hold

    def _expect_good(self, ended: Ended) -> None:
        broken = any("#error" in path.read_text() for path in (self.sources.root / "ops").glob("*/own.h"))
        if ended.status != (1 if broken else 0):
            self.problems.append(f"status {ended.status}\n{ended.output}")

    def check(self, number: int) -> Iterator[str]:
        """Build, and yield a line for everything that is then not as it must be."""
        ended = self.first.run(*self._words(), SKRULES_CACHE_LIMIT=self.choice.choice(("1G", "0")))
        if ended.status:
            self.problems.append(f"the last build has status {ended.status}\n{ended.output}")
        self.problems += self.compare()
        for words in ((), ("--no-fast-path",), ()):
            again = self.first.run(*words)
            # A manifest vouches for results even when the journal is gone, and who looks at everything must make them again.
            expected = self._is_forgotten and "--no-fast-path" in words
            if again.status or (again.steps and not expected):
                self.problems.append(f"something is left to do ({' '.join(words)}): {again.steps}\n{again.output}")
        if self._is_forgotten:
            self.problems += self.compare()
            self._is_forgotten = False
        yield from (f"WRONG in round {number}: {problem}" for problem in self.problems)
        self.problems = []

    def compare(self) -> list[str]:
        """Return what is different from a clean build of the same sources."""
        problems = []
        for name, data in self._clean_outputs().items():
            path = self.first.root / name
            if not path.is_file() or path.read_bytes() != data:
                problems.append(f"{name} is not what a clean build makes")
            if f"{self.clean}/".encode() in data:
                problems.append(f"{name} tells where the workspace lies")
        return problems

    def _clean_outputs(self) -> dict[str, bytes]:
        key = hashlib.sha256()
        for name in self.sources.files():
            key.update(f"{name}\0".encode() + (self.sources.root / name).read_bytes())
        for path in (*self._editable(), self.tools.bin / "bisheng"):
            key.update(path.read_bytes())
        known = key.hexdigest()
        if known not in self._clean_of:
            shutil.rmtree(self.clean, ignore_errors=True)
            self.sources.copy_to(self.clean)
            builds = Builds(self.clean, self.tools.environment(self.clean / "cache", limit="0"))
            ended = builds.run()
            if ended.status:
                self.problems.append(f"the clean build has status {ended.status}\n{ended.output}")
            results = [
                path for path in (self.clean / "build/bisheng").rglob("*") if path.is_file() and ".skrules" not in path.parts
            ]
            self._clean_of = {known: {path.relative_to(self.clean).as_posix(): path.read_bytes() for path in results}}
        return self._clean_of[known]
