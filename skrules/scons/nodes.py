"""SCons nodes for Action records: SCons says when a step's turn has come, the engine whether there is anything to do.

One node stands for one step, named by its first output. SCons' own signatures, scanners and database play no part: they
cannot tell an output that somebody changed, nor what a killed run had done (see `skrules.engine.journal`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import SCons.Errors
import SCons.Node

from skrules.engine.action import Action


class StepNode(SCons.Node.Node):  # type: ignore[misc]
    """The step of `action`. `is_current` decides, `carry_out` does it and raises a BuildError when that fails."""

    def __init__(
        self,
        action: Action,
        *,
        is_current: Callable[[StepNode], bool],
        carry_out: Callable[[StepNode], None],
        remove: Callable[[StepNode], bool],
    ) -> None:
        super().__init__()
        self.action = action
        self._is_current = is_current
        self._carry_out = carry_out
        self._remove = remove
        self.implicit: list[Any] = []  # nothing to scan for
        self.store_info = 0

    def __str__(self) -> str:
        return self.action.outputs[0]

    def add_inputs(self, nodes: Sequence[StepNode]) -> None:
        """Say which steps come before this one."""
        self.sources = list(nodes)
        self.sources_set = set(nodes)
        self._children_reset()

    def has_builder(self) -> bool:
        return True

    def is_derived(self) -> bool:
        return True

    def exists(self) -> bool:
        return True

    def rexists(self) -> bool:
        return True

    def missing(self) -> bool:
        return False

    def is_up_to_date(self) -> bool:
        return self._is_current(self)

    def isdir(self) -> bool:
        return False

    def prepare(self) -> None:
        pass

    def build(self, **_options: Any) -> None:
        self._carry_out(self)

    def built(self) -> None:
        pass

    def visited(self) -> None:
        pass

    def scan(self) -> None:
        pass

    def remove(self) -> bool:
        """Remove the outputs, for `scons -c`; tell whether there were any."""
        return self._remove(self)

    def disambiguate(self, _must_exist: Any = None) -> StepNode:
        return self


class GoalNode(SCons.Node.Node):  # type: ignore[misc]
    """What a command line asks for: the steps that it waits for, and nothing of its own."""

    def __init__(self, name: str, steps: Sequence[StepNode]) -> None:
        super().__init__()
        self.name = name
        self.side_effect = 1  # SCons has words for a target that nothing builds, but not for one of these
        self.implicit: list[Any] = []
        self.store_info = 0
        self.sources = list(steps)
        self.sources_set = set(steps)

    def __str__(self) -> str:
        return self.name

    def scan(self) -> None:
        pass

    def exists(self) -> bool:
        return True

    def disambiguate(self, _must_exist: Any = None) -> GoalNode:
        return self

    def visited(self) -> None:
        pass

    def isdir(self) -> bool:
        return True

    def remove(self) -> bool:
        return False


class Failure(SCons.Errors.BuildError):  # type: ignore[misc]
    """A failed step with the exit status of its family of errors.

    `convert_to_BuildError` sets the status of every BuildError to 2; here that has no effect.
    """

    def __init__(self, *, node: StepNode, message: str, status: int) -> None:
        self._status = status
        super().__init__(node=node, errstr=message, status=status, exitstatus=status)

    @property
    def exitstatus(self) -> int:
        return self._status

    @exitstatus.setter
    def exitstatus(self, _value: int) -> None:
        pass
