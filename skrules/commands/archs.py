"""`skrules archs`: the archs and chips of the one table."""

from __future__ import annotations

import argparse

from skrules.arch_file import load_archs


def declare(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing to choose


def run(options: argparse.Namespace) -> int:
    del options
    for arch in load_archs().archs:
        chips = ", ".join(dict.fromkeys(chip.name for chip in arch.chips))
        print(f"{arch.name}  UB {arch.memory.ub // 1024} KiB, SK_BIND {arch.sk_bind}\n  {chips}")
    return 0
