"""Decides whether the outputs of an Action are what they should be, and makes them when they are not.

The journal says what each output was last made from, the digests what its files hold now. An output is current when nothing
differs: neither an input, nor a header that was found, nor a part of the key, nor the output itself. Time stamps decide nothing.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skrules.engine.absences import absences
from skrules.engine.action import Action
from skrules.engine.cache import StepCache
from skrules.engine.depfile import search_folders, searched, shadows, vanished_headers, workspace_headers
from skrules.engine.digests import FileDigests
from skrules.engine.journal import Journal, Step
from skrules.engine.slots import MIB, MemorySlots
from skrules.engine.why import INTERRUPTED, NEVER_RUN, Cause, differences
from skrules.errors import BuildError, SkrulesError

# Stands for the content of a file that changed while a step read it: equal to nothing.
_UNSURE = "?"

# As compilers, linkers and Python write it: `a.asc:3:5: error: ...`, `ld: undefined reference`, `ValueError: ...`.
_ERROR = re.compile(r"\b(fatal |internal )?[Ee]rror\b.*:|\berror: |undefined (reference|symbol)|\w(Error|Exception): ")


class CommandFailed(SkrulesError):
    """A command ended badly. Status 4 is that of a driver which found no compiler; all else is the user's source.

    `first` is the first line of what it said that tells of an error, or "".
    """

    def __init__(self, message: str, *, status: int, said: str = "") -> None:
        super().__init__(message)
        self.exit_code = 4 if status == 4 else 1
        self.first = first_error(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A step that ended well: where its outputs came from ("run" or "cache"), what it took, and what it was seen to read.

    `cpu` are the CPU seconds of this process; those of a command that the step started are not among them.
    """

    source: str
    seconds: float
    found: tuple[str, ...]
    cpu: float = 0.0


class StepRunner:
    """Carries out steps of the workspace at `root`. Safe to use from several threads, for different steps."""

    def __init__(
        self,
        root: Path,
        *,
        journal: Journal,
        digests: FileDigests,
        slots: MemorySlots,
        say: Callable[[str], None],
        cache: StepCache | None = None,
        show_commands: bool = False,
        note_process: Callable[[int], None] | None = None,
    ) -> None:
        self.root = root
        self.journal = journal
        self.digests = digests
        self.slots = slots
        self.say = say
        self.cache = cache
        self.show_commands = show_commands
        self.note_process = note_process

    def causes(self, action: Action) -> tuple[Cause, ...]:
        """Return why `action` has to run; nothing when its outputs are current."""
        step = self.journal.step(action.label, action.outputs[0])
        if step is None:
            return (NEVER_RUN if self.journal.last(action.label, action.outputs[0]) is None else INTERRUPTED,)
        found = self.digests.digests(step.found)
        names = [name for name in found if found[name]]
        found.update(self.digests.digests(shadows(names, self.root, search_folders(action.searches, self.root))))
        changed = list(differences(action, step, inputs=self.digests.digests(action.inputs), found=found))
        for path, digest in step.outputs.items():
            now = self.digests.digest(path)
            if now != digest:
                changed.append(Cause(kind="output", what=path, how="was changed by hand" if now else "is missing"))
        return tuple(changed)

    def perform(self, action: Action, causes: tuple[Cause, ...], *, on_run: Callable[[], None]) -> Done:
        """Make the outputs of `action`, from the cache or by running it; `on_run` is called before it really runs.

        Raises SkrulesError, and OSError when something cannot be read or written. Then the outputs count as not made.
        """
        looks = {path: self.digests.look(path) for path in action.inputs}
        before = {path: known.digest if known else "" for path, known in looks.items()}
        missing = [path for path, digest in before.items() if not digest and not (self.root / path).is_file()]
        if missing:
            raise BuildError(f"{action.label}: there is no file {missing[0]}")
        because = tuple(map(str, causes))
        key = _cache_key(action, before) if self.cache is not None and action.command else ""
        if key and (found := self._restored(action, key)) is not None:
            step = self._step(action, before, found, because=because, source="cache", seconds=0.0, memory=0)
            self.journal.end(action.label, action.outputs[0], step)
            return Done(source="cache", seconds=0.0, found=_there(found))
        last = self.journal.last(action.label, action.outputs[0])
        wanted = int(last.memory * 1.1) if last and last.memory else action.memory * MIB
        with self.slots.take(wanted):
            on_run()
            began = self.journal.begin(action.label, action.outputs[0])
            started, used = time.monotonic(), time.thread_time()
            memory = self._run(action)
            seconds, cpu = time.monotonic() - started, time.thread_time() - used
        self._refuse_missing(action)
        found = self._found(action, began)
        before = {path: before[path] if self.digests.is_untouched(path, known) else _UNSURE for path, known in looks.items()}
        step = self._step(action, before, found, because=because, source="run", seconds=round(seconds, 3), memory=memory)
        self.journal.end(action.label, action.outputs[0], step)
        if key and self.cache is not None and _UNSURE not in (*before.values(), *found.values()):
            self.cache.store(key, self.root, _outputs(action), found)
        return Done(source="run", seconds=seconds, cpu=cpu, found=_there(found))

    def _restored(self, action: Action, key: str) -> dict[str, str] | None:
        """Take the outputs out of the cache; return the files the step had found, or None when they are not there."""
        assert self.cache is not None
        folders = search_folders(action.searches, self.root)
        stored = self.cache.find(key, _outputs(action), self.digests.digest, lambda names: shadows(names, self.root, folders))
        if stored is None:
            return None
        self.journal.begin(action.label, action.outputs[0])
        if not self.cache.restore(stored, self.root):
            return None
        self._refuse_missing(action)
        return dict(stored.variant.found)

    def _run(self, action: Action) -> int:
        """Run `action`; return the peak memory of its commands in bytes."""
        if action.run is not None:
            action.run(self.root)
            return 0
        # What is left of an earlier run must not speak for this one.
        for name in _outputs(action):
            path = self.root / name
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
        return max(self._call(action, command) for command in action.command)

    def _call(self, action: Action, command: tuple[str, ...]) -> int:
        command = (*action.launcher.words, *command)
        if self.show_commands:
            self.say(" ".join(command) + "\n")
        try:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env={**action.environment, **action.launcher.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise CommandFailed(f"{command[0]}: {error.strerror}", status=1) from error
        if self.note_process is not None:
            self.note_process(process.pid)
        assert process.stdout is not None
        with process.stdout:
            said = process.stdout.read().decode("utf-8", "replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # In one piece, so that the messages of parallel compilers do not mix.
        if said:
            self.say(said if said.endswith("\n") else said + "\n")
        if process.returncode:
            code = process.returncode
            how = f"exit status {code}" if code > 0 else f"signal {-code}"
            text = f"{action.label} {action.arch}: {action.mnemonic} {action.what} failed ({how})"
            raise CommandFailed(text, status=code, said=said)
        return int(usage.ru_maxrss) * 1024

    def _refuse_missing(self, action: Action) -> None:
        """Raise BuildError for a result that is not there: what ended well is not always a compiler."""
        for name in _outputs(action):
            if not (self.root / name).is_file():
                raise BuildError(f"{action.label} {action.arch}: {action.mnemonic} ended well but did not write {name}")

    def _found(self, action: Action, began: int) -> dict[str, str]:
        """Return the files that a step read beside its inputs, and those that it would read if they were there ("").

        One that changed since it began may have been read before.
        """
        if not action.depfile:
            return {}
        names = workspace_headers(self.root / action.depfile, self.root, frozenset((*action.inputs, *action.outputs)))
        folders = searched(action.searches, self.root)
        others = shadows(names, self.root, (*folders.quoted, *folders.angled))
        has_come = functools.partial(self._changed_since, began=began)
        asked = absences((*action.inputs, *names), self.root, *folders, has_come=has_come)
        found = self.digests.digests((*names, *others, *(name for name in asked if name not in action.inputs)))
        sure = {name: _UNSURE if digest and self._changed_since(name, began) else digest for name, digest in found.items()}
        return {**sure, **dict.fromkeys(vanished_headers(self.root / action.depfile, self.root), _UNSURE)}

    def _changed_since(self, name: str, began: int) -> bool:
        """Tell whether a file was changed, in whatever way, at the time `began` of the file system's clock or later."""
        try:
            return (self.root / name).stat().st_ctime_ns >= began
        except OSError:
            return True

    def _step(
        self,
        action: Action,
        inputs: Mapping[str, str],
        found: Mapping[str, str],
        *,
        because: tuple[str, ...],
        source: str,
        seconds: float,
        memory: int,
    ) -> Step:
        outputs = self.digests.digests(_outputs(action))
        last = self.journal.last(action.label, action.outputs[0])
        if source == "cache" and last is not None:
            seconds, memory = last.seconds, last.memory
        return Step(
            key=action.components(),
            inputs=inputs,
            found=found,
            outputs=outputs,
            because=because,
            source=source,
            seconds=seconds,
            memory=memory,
        )


def _there(found: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name, digest in found.items() if digest)


def _outputs(action: Action) -> tuple[str, ...]:
    return (*action.outputs, action.depfile) if action.depfile else action.outputs


def _cache_key(action: Action, inputs: Mapping[str, str]) -> str:
    parts = [action.digest(), *(f"{path}\0{digest}" for path, digest in sorted(inputs.items()))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def first_error(said: str) -> str:
    """Return the first line of a program's messages that tells of an error, or "" when none does."""
    return next((line.strip() for line in said.splitlines() if _ERROR.search(line)), "")
