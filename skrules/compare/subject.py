"""What is compared: the entries of an operator as its compiled compare program describes them.

The program knows the resolved C++ types, which the source alone does not show: sizes of structs, encodings of enums.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.contract.model import ParameterKind, Role
from skrules.errors import TestFailure

_DESCRIBE_S = 60.0
# By the program's word for a scalar's class and its size in bytes.
_ENCODINGS: Mapping[tuple[str, int], str] = {
    ("bool", 1): "bool",
    ("half", 2): "float16",
    ("bfloat16", 2): "bfloat16",
    ("float", 4): "float32",
    ("float", 8): "float64",
    **{("signed", size): f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{("unsigned", size): f"uint{8 * size}" for size in (1, 2, 4, 8)},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One kernel parameter. `bytes` is the size of its C++ type; `encoding` the dtype of a scalar, "" of all else;
    `dtype` and `rank` are what the contract says of a tensor or of all in a list, "" and None for any."""

    name: str
    c_type: str = ""
    kind: ParameterKind
    roles: tuple[Role, ...] = ()
    nullable: bool = False
    dtype: str = ""
    rank: int | None = None
    bytes: int = 0
    encoding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One entry. `kernel` is what is launched ("scale<half>"); `blocks` is of the contract, 0 for all cores; `absent` says
    why the kernel is not in this build, "" when it is."""

    name: str
    kernel: str
    blocks: int = 0
    absent: str = ""
    arguments: tuple[Argument, ...]

    @property
    def kernel_name(self) -> str:
        """The plain name of the kernel's function."""
        return self.kernel.partition("<")[0].rpartition("::")[2].strip()


def describe_program(program: Path, env: Mapping[str, str]) -> tuple[Subject, ...]:
    """Ask a compare program for its entries. Raises TestFailure when it cannot be run or says nothing of use."""
    command = [str(program.resolve()), "--describe"]
    try:
        done = subprocess.run(command, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=_DESCRIBE_S)
    except OSError as error:
        raise TestFailure(f"the compare program cannot be started: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise TestFailure(f"the compare program did not describe its operator within {_DESCRIBE_S:g} s") from None
    if done.returncode != 0:
        notes = done.stderr.decode("utf-8", "replace").splitlines()[-20:]
        raise TestFailure(f"the compare program ended with status {done.returncode} instead of describing itself", notes=notes)
    return read_description(done.stdout.decode("utf-8", "replace"))


def read_description(text: str) -> tuple[Subject, ...]:
    """Read what `--describe` prints: the last line, since start-up code of a kernel may print too.

    Raises TestFailure when that is no description.
    """
    lines = text.splitlines()
    try:
        data = json.loads(lines[-1] if lines else "")
        return tuple(_subject(entry) for entry in data["entries"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TestFailure(f"the compare program's description of its operator is unreadable: {error!r}") from None


def _subject(data: Mapping[str, Any]) -> Subject:
    arguments = tuple(_argument(each) for each in data["parameters"])
    return Subject(
        name=str(data["name"]),
        kernel=str(data["kernel"]),
        blocks=int(data["blocks"]),
        absent=str(data["absent"]),
        arguments=arguments,
    )


def _argument(data: Mapping[str, Any]) -> Argument:
    kind = ParameterKind(data["kind"])
    size, rank = int(data["size"]), int(data["rank"])
    return Argument(
        name=str(data["name"]),
        c_type=str(data["c_type"]),
        kind=kind,
        roles=tuple(Role(role) for role in data["roles"]),
        nullable=bool(data["nullable"]),
        dtype=str(data["dtype"]) if kind in (ParameterKind.TENSOR, ParameterKind.TENSOR_LIST) else "",
        rank=rank if rank >= 0 else None,
        bytes=size,
        encoding=_ENCODINGS.get((data["scalar"], size), "") if kind is ParameterKind.SCALAR else "",
    )
