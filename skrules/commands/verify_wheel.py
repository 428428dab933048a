"""`skrules verify-wheel`: whether a wheel is what it should be, without installing or importing anything of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from skrules.errors import BuildError, UsageError


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("wheel", type=Path, metavar="FILE", help="a wheel that was made by scons wheel")


def run(options: argparse.Namespace) -> int:
    from skrules.wheel.report import describe
    from skrules.wheel.verify import verify

    path: Path = options.wheel
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(f"cannot read '{path}': it is no regular file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from error
    problems = verify(data, path.name)
    if problems:
        raise BuildError(f"{path}: the wheel is not what it should be", notes=problems)
    print("\n".join(describe(path, str(path))))
    return 0
