"""SCons builders that run Action records."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import SCons.Node
from SCons.Script import Action as SConsAction
from SCons.Script import Builder, Scanner

from skrules.engine.action import Action
from skrules.engine.depfile import shadows, workspace_headers
from skrules.errors import BuildError, SkrulesError
from skrules.rules.status import Outcome
from skrules.scons import _private

# Exit statuses of the families of errors, gravest first: a test result means little where a compiler is missing.
_GRAVITY = (70, 4, 2, 5, 1, 3)

_OUTCOMES = {
    SCons.Node.executed: Outcome.MADE,
    SCons.Node.up_to_date: Outcome.CURRENT,
    SCons.Node.failed: Outcome.FAILED,
}


class Runner:
    """Runs Action records for SCons and remembers which ran and which failed."""

    def __init__(self, root: Path, *, verbose: bool) -> None:
        self.root = root
        self.verbose = verbose
        self.executed: list[Action] = []
        self.failed: list[Action] = []
        self._nodes: dict[str, Any] = {}
        self._status = _GRAVITY[-1]
        self._lock = threading.Lock()

    def declare(self, environment: Any, action: Action) -> list[Any]:
        """Make the nodes of `action` and return those of its outputs.

        Nodes are made from records, so inputs and outputs are looked up as files once and never expanded as text.
        """
        files = environment.fs.File
        builder = environment["BUILDERS"]["SkrulesAction"]
        nodes: list[Any] = builder(
            environment,
            target=[files(f"#{path}") for path in action.outputs],
            source=[files(f"#{path}") for path in action.inputs],
            SKRULES_ACTION=action,
            SKRULES_DIGEST=action.digest(),
        )
        if action.run is not None:
            # Generators write only what changed; SCons must not remove their outputs first.
            for node in nodes:
                node.set_precious()
        self._nodes[action.outputs[0]] = nodes[0]
        if action.depfile:
            environment.Clean(nodes[0], f"#{action.depfile}")
        return nodes

    def outcome(self, output: str) -> Outcome:
        """Tell what this run did about the first output of an action."""
        state = self._nodes[output].get_state()
        if state == SCons.Node.failed and not any(output in action.outputs for action in self.failed):
            return Outcome.NOTHING  # SCons calls failed what it did not come to because something before it failed
        return _OUTCOMES.get(state, Outcome.NOTHING)

    def builder(self) -> Any:
        return Builder(
            action=SConsAction(self._run, self._show, varlist=["SKRULES_DIGEST"]),
            target_scanner=Scanner(function=self._scan, name="skrules-depfile", skeys=[]),
        )

    def _show(self, target: Any, source: Any, env: Any) -> str:  # noqa: ARG002
        action: Action = env["SKRULES_ACTION"]
        return f"[{action.mnemonic:<8} {action.arch:<8}] {action.label} {action.what}".rstrip()

    def _run(self, target: Any, source: Any, env: Any) -> int:  # noqa: ARG002
        action: Action = env["SKRULES_ACTION"]
        try:
            if action.run is not None:
                action.run(self.root)
            if action.command and action.depfile:
                (self.root / action.depfile).unlink(missing_ok=True)  # an old one must not speak for this run
            for command in action.command:
                self._call(action, command)
            self._refuse_missing(action)
        except SkrulesError as error:
            self._print(str(error) + "\n", sys.stderr)
            raise self._failure(action, target, error.exit_code) from None
        except OSError as error:  # a full disk, a folder that may not be written
            self._print(f"error: {action.label}: {_said(error)}\n", sys.stderr)
            raise self._failure(action, target, BuildError.exit_code) from None
        except BaseException:  # one that leaves a thread of SCons' ends the thread, and SCons waits for it for ever
            self._print(f"error: fault of skrules in {action.mnemonic} of {action.label}\n{traceback.format_exc()}", sys.stderr)
            raise self._failure(action, target, SkrulesError.exit_code) from None
        with self._lock:
            self.executed.append(action)
        if action.depfile:
            # All targets: a later scan gives what it finds to each of them.
            for node in target:
                _private.set_implicit(node, self._headers(action, env))
        return 0

    def _call(self, action: Action, command: tuple[str, ...]) -> None:
        if self.verbose:
            self._print(" ".join(command) + "\n")
        try:
            done = subprocess.run(
                command, cwd=self.root, env=dict(action.environment), stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except OSError as error:
            raise _CommandFailed(f"{command[0]}: {error.strerror}", status=1) from error
        # In one piece, so that the messages of parallel compilers do not mix.
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        if text:
            self._print(text if text.endswith("\n") else text + "\n", sys.stderr)
        if done.returncode:
            how = f"exit status {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
            raise _CommandFailed(
                f"{action.label} {action.arch}: {action.mnemonic} {action.what} failed ({how})", status=done.returncode
            )

    def _refuse_missing(self, action: Action) -> None:
        """Raise BuildError for a result that is not there: what ended well is not always a compiler."""
        for name in (*action.outputs, *([action.depfile] if action.depfile else [])):
            if not (self.root / name).is_file():
                raise BuildError(f"{action.label} {action.arch}: {action.mnemonic} ended well but did not write {name}")

    def _failure(self, action: Action, target: Any, status: int) -> Exception:
        with self._lock:
            self.failed.append(action)
            # SCons exits with the status of what failed last; with -k that must be the gravest, whatever the order.
            self._status = min(self._status, status, key=_GRAVITY.index)
        where = f"{action.label} {action.arch}".rstrip()
        return _private.Failure(node=target[0], message=f"{where}: {action.mnemonic} failed", status=self._status)

    def _scan(self, node: Any, env: Any, path: Any) -> list[Any]:  # noqa: ARG002
        action: Action = env["SKRULES_ACTION"]
        return self._headers(action, env) if action.depfile and str(node) == action.outputs[0] else []

    def _headers(self, action: Action, env: Any) -> list[Any]:
        names = workspace_headers(self.root / action.depfile, self.root, frozenset((*action.inputs, *action.outputs)))
        return [env.fs.File(f"#{name}") for name in (*names, *shadows(names, self.root, _search_folders(action)))]

    def _print(self, text: str, stream: Any = None) -> None:
        with self._lock:
            (stream or sys.stdout).write(text)
            (stream or sys.stdout).flush()


def _search_folders(action: Action) -> list[str]:
    """Return where the command of `action` looks for headers, as far as that lies in the workspace."""
    words = [word for command in action.command for word in command]
    quoted = [folder for option, folder in itertools.pairwise(words) if option == "-iquote"]
    return [folder for folder in (*quoted, *(word[2:] for word in words if word.startswith("-I"))) if not folder.startswith("/")]


def _said(error: OSError) -> str:
    """Return an error of the system in words, with the file it is about."""
    what = error.strerror or str(error)
    return f"{error.filename}: {what}" if error.filename else what


class _CommandFailed(SkrulesError):
    """A command ended badly. Status 4 is that of a driver which found no compiler; all else is the user's source."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.exit_code = 4 if status == 4 else 1
