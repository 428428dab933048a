"""Compile commands for tools that read C++ as clang does: clangd, clang-tidy, include-what-you-use.

They are for the file that people edit, not for the adapted one that is compiled: an editor looks a command up by the file
that is open, and nothing that the adapted file has more changes how the user's part of it is read.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from skrules import resources
from skrules.toolchain import cache, cxx
from skrules.toolchain.arch_header import arch_include
from skrules.toolchain.base import Toolchain
from skrules.toolchain.command_line import parse
from skrules.toolchain.host import HostToolchain


def editor_command(toolchain: Toolchain, command: Sequence[str], compiled: str, edited: str, root: Path) -> tuple[str, ...]:
    """Return the argument vector that reads `edited` as `command`, a kernel's compile, reads `compiled`.

    For `bisheng` it is that command. The driver of the `host` toolchain is known to nobody else: its command is turned into
    the one of the C++ compiler behind it, less what only GCC knows. Response files are written out as far as they exist.
    Paths in `command` are relative to `root`.
    """
    words = [edited if word == compiled else word for word in _written_out(command, root)]
    return _host_command(toolchain, words, edited) if isinstance(toolchain, HostToolchain) else tuple(words)


def _host_command(toolchain: HostToolchain, words: Sequence[str], edited: str) -> tuple[str, ...]:
    # The words before the first option name the driver: python -P -m skrules.toolchain.hostcc.
    work = parse(words[words.index("-x") :])
    store = cache.Cache(cache.root(toolchain.environ))
    # Left in the cache, where a command that is kept can find it later.
    table = arch_include(store, store.root)
    return (
        *toolchain.compiler.command,
        *("-x", "c++", "-std=c++17"),
        *cxx.this_machine_flags(),
        f"-D__NPU_ARCH__={work.arch.removeprefix('dav-')}",
        *work.options,
        *("-isystem", str(resources.toolchains() / "host" / "include"), "-isystem", str(table)),
        *("-c", edited, "-o", work.output),
    )


def _written_out(words: Sequence[str], root: Path) -> Iterator[str]:
    for word in words:
        if not word.startswith("@"):
            yield word
        elif (root / word[1:]).is_file():
            yield from shlex.split((root / word[1:]).read_text(encoding="utf-8", errors="surrogateescape"))
