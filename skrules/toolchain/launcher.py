"""What the user puts in front of compilers: ccache, sccache, distcc, icecc, or any program that is used in their way."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from skrules.engine.action import NO_LAUNCHER, Launcher
from skrules.errors import ToolchainError, UsageError

# What these programs are configured by, and where they keep things. Nothing else of the user's environment reaches them.
_PREFIXES = ("CCACHE_", "DISTCC_", "ICECC_", "SCCACHE_")
_PLACES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")


def find_launcher(text: str, environ: Mapping[str, str]) -> Launcher:
    """Return the launcher that `LAUNCHER=text` means: a program by name or path, and words for it; nothing for no words.

    Raises UsageError for what is no command line, and ToolchainError when there is no such program.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"LAUNCHER is '{text}', which is no command: {error}") from error
    if not words:
        return NO_LAUNCHER
    path = environ.get("PATH") or os.defpath
    program = shutil.which(words[0], path=path)
    if program is None:
        raise ToolchainError(
            f"LAUNCHER is '{text}', but there is no program '{words[0]}'",
            hint="install it, give its path, or leave LAUNCHER out",
        )
    # Commands have a short PATH: what the launcher starts in turn, as in `nice ccache`, is named by its path too.
    others = (word if word.startswith("-") else shutil.which(word, path=path) or word for word in words[1:])
    return Launcher(
        words=(str(Path(program).absolute()), *others),
        environment={name: value for name, value in environ.items() if name in _PLACES or name.startswith(_PREFIXES)},
    )
