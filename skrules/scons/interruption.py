"""Whether a signal asks for the end of the build.

SCons handles SIGINT, SIGTERM and SIGHUP by starting nothing more and waiting for what runs, in threads which no signal
reaches. What runs long must ask for itself.
"""

from __future__ import annotations

import os
import select
import signal


class Interruption:
    """Notes every signal that has a handler in Python, whoever's it is. Made in the main thread; any thread may ask."""

    def __init__(self) -> None:
        self._noted, note = os.pipe()
        os.set_blocking(note, False)
        signal.set_wakeup_fd(note, warn_on_full_buffer=False)

    def happened(self) -> bool:
        """Tell whether there was such a signal since this was made."""
        # Not one poll object for all: it cannot be asked by two threads at once.
        poll = select.poll()
        poll.register(self._noted, select.POLLIN)
        return bool(poll.poll(0))
