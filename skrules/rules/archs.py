"""Which archs a request means: those of its command line, else those of the environment, else all that operators declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from skrules.arch import Arch, ArchTable
from skrules.errors import ToolchainError, UsageError
from skrules.rules.request import Request, split_names


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variable:
    name: str
    example: str
    find: Callable[[ArchTable, str], Arch]


def with_archs(request: Request, environ: Mapping[str, str], table: ArchTable) -> Request:
    """Return `request` with its archs by their names in the table: ARCH=, else SK_TARGET_CHIPS, else SK_NPU_ARCHS, else none.

    SK_TARGET_CHIPS has chips, families of chips, or SoC numbers as torch_npu gives them. Raises ToolchainError for what the
    table does not have, and UsageError for a variable that is set and names nothing.
    """
    if request.archs:
        return replace(request, archs=_names(request.archs, table.arch))
    for variable in _VARIABLES:
        if variable.name in environ:
            return replace(request, archs=_archs_of(variable, environ[variable.name], table), archs_named_by=variable.name)
    return request


def _of_chip(table: ArchTable, word: str) -> Arch:
    return table.arch_of_soc_version(int(word)) if word.isascii() and word.isdigit() else table.arch_of_chip(word)


# The first one that is set counts.
_VARIABLES = (
    _Variable(name="SK_TARGET_CHIPS", example="Ascend910B1", find=_of_chip),
    _Variable(name="SK_NPU_ARCHS", example="dav-2201", find=ArchTable.arch),
)


def _archs_of(variable: _Variable, text: str, table: ArchTable) -> tuple[str, ...]:
    words = split_names(text)
    if not words:
        raise UsageError(
            f"{variable.name} is set, and empty", hint=f"unset it, or name one or more, as in {variable.name}={variable.example}"
        )
    try:
        return _names(words, lambda word: variable.find(table, word))
    except ToolchainError as error:
        message = f"{variable.name}: {error.message}"
        raise ToolchainError(message, notes=error.notes, allowed=error.allowed, hint=error.hint) from error


def _names(words: Sequence[str], find: Callable[[str], Arch]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(find(word).name for word in words))
