from __future__ import annotations

import os
import signal
import threading

import pytest

from skrules.scons.interruption import Interruption


@pytest.fixture
def handled():
    """A handler of somebody else, as SCons sets one, that is set after the interruption is watched for."""
    before, file = signal.getsignal(signal.SIGUSR1), signal.set_wakeup_fd(-1)
    interruption = Interruption()
    signal.signal(signal.SIGUSR1, lambda *_: None)
    yield interruption
    signal.signal(signal.SIGUSR1, before)
    signal.set_wakeup_fd(file)


def test_a_signal_is_seen_in_every_thread_and_stays_seen(handled):
    assert not handled.happened()
    os.kill(os.getpid(), signal.SIGUSR1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(handled.happened()))
    thread.start()
    thread.join()
    assert seen == [True]
    assert handled.happened()
