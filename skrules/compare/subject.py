"""What is compared: the entries of an operator as its compiled compare program describes them.

The program knows the resolved C++ types, which the source alone does not show: sizes of structs, encodings of enums.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.compare.child import never, run_child, tail_of
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
    """One kernel parameter. `bytes` is the size of its C++ type, None where it was not compiled; `encoding` the dtype of a
    scalar, "" of all else; `dtype` and `rank` are what the contract says of a tensor or of all in a list, "" and None for any.
    """

    name: str
    c_type: str = ""
    kind: ParameterKind
    roles: tuple[Role, ...] = ()
    nullable: bool = False
    dtype: str = ""
    rank: int | None = None
    bytes: int | None = 0
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


def describe_program(
    program: Path, env: Mapping[str, str], *, label: str, name: str = "", interrupted: Callable[[], bool] = never
) -> tuple[Subject, ...]:
    """Ask the compare program of the operator `label` for its entries; messages call it `name`.

    Raises TestFailure when it cannot be run or says nothing of use, BuildError when `interrupted()` turns true.
    """
    what = f"{label}: the compare program {name or program}"
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        ending = run_child(
            [str(program.resolve()), "--describe"],
            env=env,
            stdout=stdout,
            stderr=stderr,
            timeout_s=_DESCRIBE_S,
            interrupted=interrupted,
            what=what,
        )
        if not ending.good:
            instead = " instead of describing itself" if ending.started else ""
            raise TestFailure(f"{what} {ending.text}{instead}", notes=tail_of(stderr).splitlines())
        stdout.seek(0)
        return read_description(stdout.read().decode("utf-8", "replace"), what)


def read_description(text: str, what: str = "the compare program") -> tuple[Subject, ...]:
    """Read what `--describe` prints: the last line, since start-up code of a kernel may print too.

    Raises TestFailure when that is no description.
    """
    lines = text.splitlines()
    try:
        data = json.loads(lines[-1] if lines else "")
        return tuple(_subject(entry) for entry in data["entries"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TestFailure(f"{what} describes its operator unreadably: {error!r}") from None


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
