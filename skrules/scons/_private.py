"""Every use of what SCons does not document, in one place.

SCons keeps an action's dependencies from before it ran. A compiler knows them only afterwards: without this, the first
build after a clean one would compile everything again, because "its dependencies changed".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import SCons.Errors


def set_implicit(node: Any, found: Sequence[Any]) -> None:
    """Make `found` the implicit dependencies that SCons stores for `node`, which has just been built.

    `Node.get_binfo` stores `implicit` with the signatures the nodes hold, so each must have its content signature.
    """
    for dependency in found:
        dependency.disambiguate()
        dependency.get_csig()
    node.implicit = list(found)
    node.implicit_set = set(found)
    node._children_reset()


class Failure(SCons.Errors.BuildError):  # type: ignore[misc]
    """A failed action with the exit status of its family of errors.

    `convert_to_BuildError` sets the status of every BuildError to 2; here that has no effect.
    """

    def __init__(self, *, node: Any, message: str, status: int) -> None:
        self._status = status
        super().__init__(node=node, errstr=message, status=status, exitstatus=status)

    @property
    def exitstatus(self) -> int:
        return self._status

    @exitstatus.setter
    def exitstatus(self, _value: int) -> None:
        pass
