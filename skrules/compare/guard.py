"""Starts a program and ends it, with all it started, when the process that asked for it is gone.

Run as a file by a bare interpreter, so it imports nothing of skrules. Its standard input is one end of a socket pair of the
builder: a line of JSON {"command", "env"} comes in, {"code"} or {"error"} goes out. However the builder ends, its end of the
socket closes. PR_SET_PDEATHSIG would speak of the thread that started us, of Linux, and of no grandchild.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

_BUILDER = 0
# Python ignores these from its start on, and what is ignored stays so in every child.
_DEFAULT_AGAIN = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name))


def main() -> None:
    """Run what the builder asks for. This process leads the group that it ends."""
    request = json.loads(_read_line())
    command = [str(word) for word in request["command"]]
    no_input = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    try:
        program = os.posix_spawn(command[0], command, request["env"], file_actions=[no_input], setsigdef=_DEFAULT_AGAIN)
    except (OSError, ValueError) as error:
        _answer({"error": getattr(error, "strerror", "") or str(error)})
        return
    threading.Thread(target=_end_with_builder, daemon=True).start()
    _, status = os.waitpid(program, 0)
    _answer({"code": os.waitstatus_to_exitcode(status)})


def _read_line() -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        more = os.read(_BUILDER, 1 << 16)
        if not more:
            sys.exit(1)
        data += more
    return data


def _answer(answer: dict[str, object]) -> None:
    os.write(_BUILDER, json.dumps(answer).encode())


def _end_with_builder() -> None:
    while os.read(_BUILDER, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
