"""Every use of what SCons does not document, in one place.

SCons keeps an action's dependencies from before it ran. A compiler knows them only afterwards: without this, the first
build after a clean one would compile everything again, because "its dependencies changed".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import SCons.Script
import SCons.Script.Main


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


def exit_status() -> int:
    """Return the status SCons will exit with, as far as it is known now."""
    return int(SCons.Script.Main.exit_status)


def set_exit_status(status: int) -> None:
    """Replace the status SCons exits with: with `-k` it is that of whichever target failed last."""
    SCons.Script.Main.exit_status = status
