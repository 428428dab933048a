"""The steps of one run of SCons: their nodes, what became of each, and the lines that tell."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import SCons.Node

from skrules.engine.action import Action
from skrules.engine.events import EventLog
from skrules.engine.runner import CommandFailed, Done, StepRunner
from skrules.engine.why import Cause, traced
from skrules.errors import BuildError, SkrulesError, TestFailure
from skrules.rules.status import Outcome
from skrules.scons.nodes import Failure, StepNode

_NOT_COME_TO = (SCons.Node.no_state, SCons.Node.pending, SCons.Node.failed)

# Exit statuses of the families of errors, gravest first: a test result means little where a compiler is missing.
_GRAVITY = (70, 4, 2, 5, 1, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A step that failed and the first line that says why."""

    action: Action
    message: str


class Steps:
    """Makes a node for every Action and carries out what is not current.

    `is_dry` is set for `scons -n`: steps are shown and not carried out. `tell` writes text for the user in one piece.
    `review` returns what is to be said of the files that a step of a label was seen to read.
    """

    def __init__(
        self,
        runner: StepRunner,
        *,
        tell: Callable[[str], None],
        complain: Callable[[str], None],
        events: EventLog,
        is_dry: bool,
        review: Callable[[str, Sequence[str]], Iterable[object]] = lambda _label, _read: (),
    ) -> None:
        self.runner = runner
        self.events = events
        self.is_dry = is_dry
        self.done: list[tuple[Action, Done]] = []
        self.failed: list[Failed] = []
        self.settled = 0
        self._tell = tell
        self._complain = complain
        self._review = review
        self._said: set[str] = set()
        self._nodes: dict[str, StepNode] = {}
        self._count = 0
        self._causes: dict[str, tuple[Cause, ...]] = {}
        self._status = _GRAVITY[-1]
        self._lock = threading.Lock()

    def declare(self, actions: Iterable[Action]) -> None:
        """Make the nodes of `actions`, in an order in which inputs come before what uses them."""
        for action in actions:
            node = StepNode(action, is_current=self._is_current, carry_out=self._carry_out, remove=self._remove)
            node.add_inputs(list(dict.fromkeys(self._nodes[path] for path in action.inputs if path in self._nodes)))
            self._count += 1
            for output in action.outputs:
                self._nodes[output] = node

    def nodes(self, outputs: Iterable[str]) -> list[StepNode]:
        """Return the nodes that make `outputs`, each once. Raises KeyError for a file that no step makes."""
        return list(dict.fromkeys(self._nodes[output] for output in outputs))

    def __len__(self) -> int:
        return self._count

    @property
    def executed(self) -> int:
        return sum(done.source == "run" for _, done in self.done)

    @property
    def cached(self) -> int:
        return sum(done.source == "cache" for _, done in self.done)

    def outcome(self, output: str) -> Outcome:
        """Tell what this run did about a file that a step makes."""
        node = self._nodes.get(output)
        if node is None:
            return Outcome.NOTHING
        if any(failed.action is node.action for failed in self.failed):
            return Outcome.FAILED
        state = node.get_state()
        if state == SCons.Node.executed and not self.is_dry:
            return Outcome.MADE
        return Outcome.CURRENT if state == SCons.Node.up_to_date else Outcome.NOTHING

    def skipped_labels(self) -> list[str]:
        """Return the labels of which something was not come to, because something before it failed or the run was ended."""
        failed = {failed.action.label for failed in self.failed}
        states = {node: node.get_state() for node in dict.fromkeys(self._nodes.values())}
        skipped = [node.action.label for node, state in states.items() if state in _NOT_COME_TO]
        return sorted(set(skipped) - failed)

    def _is_current(self, node: StepNode) -> bool:
        """Called by SCons in its main thread when all that comes before the step is done."""
        action = node.action
        if self.is_dry and any(before.get_state() == SCons.Node.executed for before in node.sources):
            return False
        causes = self.runner.causes(action)
        if causes:
            self._causes[action.outputs[0]] = traced(causes, self._made_before(node))
        else:
            self.settled += 1
        return not causes

    def _made_before(self, node: StepNode) -> dict[str, tuple[Cause, ...]]:
        """Return why those steps ran in this build that made inputs of this one."""
        ran = [before.action for before in node.sources if before.action.outputs[0] in self._causes]
        return {path: self._causes[action.outputs[0]] for action in ran for path in action.outputs}

    def _carry_out(self, node: StepNode) -> None:
        """Called by SCons in any of its threads. Raises Failure, and nothing else: SCons would wait for the thread for ever."""
        action = node.action
        if self.is_dry:
            self._tell(_line(action))
            return
        causes = self._causes.get(action.outputs[0], ())
        try:
            done = self.runner.perform(action, causes, on_run=lambda: self._tell(_line(action)))
        except CommandFailed as error:
            raise self._failure(node, str(error), error.exit_code, error.first) from None
        except TestFailure as error:
            own = f"{action.label} "
            case = next((note.removeprefix(own) for note in error.notes if note.startswith(own)), "")
            raise self._failure(node, str(error), error.exit_code, case) from None
        except SkrulesError as error:
            raise self._failure(node, str(error), error.exit_code) from None
        except OSError as error:  # a full disk, a folder that may not be written
            raise self._failure(node, f"error: {action.label}: {_said(error)}", BuildError.exit_code) from None
        except BaseException:
            text = f"error: fault of skrules in {action.mnemonic} of {action.label}\n{traceback.format_exc()}"
            raise self._failure(node, text.rstrip(), SkrulesError.exit_code) from None
        remarks = [str(remark) for remark in self._review(action.label, done.found)]
        with self._lock:
            new = [remark for remark in remarks if remark not in self._said]
            self._said.update(new)
            self.done.append((action, done))
            self.settled += 1
        if new:
            self._complain("".join(f"{remark}\n" for remark in new))
        self._log(action, causes, result=done.source, seconds=round(done.seconds, 3), cpu=round(done.cpu, 3))

    def _failure(self, node: StepNode, text: str, status: int, first: str = "") -> Exception:
        action = node.action
        first = first or next(iter(text.splitlines()), "")
        with self._lock:
            is_new = text not in self._said  # several steps may read the one file that is wrong
            self._said.add(text)
        if is_new:
            self._complain(text + "\n")
        with self._lock:
            self.failed.append(Failed(action=action, message=first))
            self.settled += 1
            # SCons exits with the status of what failed last; with -k that must be the gravest, whatever the order.
            self._status = min(self._status, status, key=_GRAVITY.index)
        self._log(action, self._causes.get(action.outputs[0], ()), result="failed", error=first)
        where = f"{action.label} {action.arch}".rstrip()
        return Failure(node=node, message=f"{where}: {action.mnemonic} failed", status=self._status)

    def _log(self, action: Action, causes: Iterable[Cause], **fields: object) -> None:
        self.events.write(
            "step",
            label=action.label,
            arch=action.arch,
            mnemonic=action.mnemonic,
            outputs=list(action.outputs),
            because=[str(cause) for cause in causes],
            **fields,
        )

    def _remove(self, node: StepNode) -> bool:
        """Remove the outputs of a step, for `scons -c`."""
        action = node.action
        first, *others = (self.runner.root / name for name in (*action.outputs, *filter(None, [action.depfile])))
        for path in others:
            if path.is_file() or path.is_symlink():
                path.unlink()
                self._tell(f"Removed {path.relative_to(self.runner.root)}\n")
        there = first.is_file() or first.is_symlink()
        if there:
            first.unlink()
        return there


def _line(action: Action) -> str:
    return f"[{action.mnemonic:<8} {action.arch:<8}] {action.label} {action.what}".rstrip() + "\n"


def _said(error: OSError) -> str:
    """Return an error of the system in words, with the file it is about."""
    what = error.strerror or str(error)
    return f"{error.filename}: {what}" if error.filename else what
