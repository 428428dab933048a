"""Ascend archs and chips: what `toolchains/ascend.yaml` says, as records.

Nothing is guessed: a name that is not in the table is an error that lists the names that are.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from skrules.errors import ToolchainError, did_you_mean


class SkBind(enum.StrEnum):
    """Whether the public documentation lists `SK_BIND` as supported on an arch."""

    DOCUMENTED = "documented"
    NOT_DOCUMENTED = "not-documented"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """On-chip memories of one core, in bytes: `bt` is the bias table, `fb` the fixpipe buffer."""

    ub: int
    l1: int
    l0a: int
    l0b: int
    l0c: int
    bt: int
    fb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A chip by the name its driver reports, with its physical cube (AIC) and vector (AIV) cores."""

    name: str
    aic: int
    aiv: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arch:
    """One target of `--npu-arch`.

    `npu_arch` is the value of `__NPU_ARCH__`; `mix` the legal (AIC, AIV) ratios of a mix kernel's block;
    `reference_chip` the chip that the host toolchain emulates; `families` names for all chips of a kind;
    `soc_versions` maps torch_npu's SoC number to a chip or family; `sources` maps each field to its public source.
    """

    name: str
    npu_arch: int
    memory: Memory
    mix: tuple[tuple[int, int], ...]
    sk_bind: SkBind
    reference_chip: Chip
    families: tuple[str, ...]
    chips: tuple[Chip, ...]
    soc_versions: Mapping[int, str]
    sources: Mapping[str, tuple[str, ...]] = field(repr=False)

    @property
    def suffix(self) -> str:
        """The arch as part of a module or file name: `dav_2201`."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchTable:
    """All archs, in the order of the file. `unsupported` maps an arch skrules does not build for to its chips and SoC numbers."""

    archs: tuple[Arch, ...]
    unsupported: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        return tuple(arch.name for arch in self.archs)

    def arch(self, name: str) -> Arch:
        """Return the arch that people write as `dav-2201`, `dav_2201` or `DAV-2201`.

        Raises ToolchainError, listing the known archs, for anything else. A chip name is not an arch name.
        """
        wanted = name.strip().lower().replace("_", "-")
        for arch in self.archs:
            if arch.name == wanted:
                return arch
        hint = self._hint(name) or did_you_mean(wanted, self.names())
        raise ToolchainError(f"unknown arch '{name}'", allowed=self.names(), hint=hint)

    def arch_of_chip(self, name: str) -> Arch:
        """Return the arch of a chip or chip family; case, `-`, `_` and blanks do not matter.

        Raises ToolchainError for a chip that is unknown, that skrules does not build for, or whose name says too little:
        plain `Ascend910B` is a first-generation chip and also the toolkit's word for Ascend910B1 ... B4.
        """
        found = self._find(name)
        if found:
            return found
        for arch_name, (chips, _) in self.unsupported.items():
            if plain_name(name) not in map(plain_name, chips):
                continue
            longer = [
                (arch, chip.name)
                for arch in self.archs
                for chip in arch.chips
                if plain_name(chip.name).startswith(plain_name(name))
            ]
            notes = [f"a chip of that exact name belongs to {arch_name}, which skrules does not build for"]
            if longer:
                notes.append(f"for {longer[0][0].name} give the whole name, one of: {', '.join(chip for _, chip in longer)}")
            raise ToolchainError(f"chip '{name}' is not supported", notes=notes, hint=_SET_ARCH.format(", ".join(self.names())))
        raise ToolchainError(f"unknown chip '{name}'", notes=self._known(), hint=_SET_ARCH.format(", ".join(self.names())))

    def arch_of_soc_version(self, number: int) -> Arch:
        """Return the arch of the number that `torch_npu.npu.get_soc_version()` gives. Raises ToolchainError if unknown."""
        for arch in self.archs:
            if number in arch.soc_versions:
                return arch
        for name, (_, numbers) in self.unsupported.items():
            if number in numbers:
                raise ToolchainError(
                    f"SoC version {number} is a chip of {name}, which skrules does not build for", notes=self._known()
                )
        raise ToolchainError(f"unknown SoC version {number}", notes=self._known(), hint=_SET_ARCH.format(", ".join(self.names())))

    def _hint(self, chip: str) -> str:
        """Return what helps who gives a chip, or the start of its name, for an arch: the arch, if all such chips have one."""
        found = self._find(chip)
        if found:
            return f"{chip} is a chip of {found.name}"
        plain = plain_name(chip).removeprefix("ascend")
        if len(plain) < 3:
            return ""
        longer = [(arch, one.name) for arch in self.archs for one in arch.chips if _starts(one.name, plain)]
        named = {arch.name: next(name for other, name in longer if other is arch) for arch, _ in longer}
        return "; ".join(f"{name} and other chips whose names begin so are of {arch}" for arch, name in named.items())

    def _find(self, name: str) -> Arch | None:
        plain = plain_name(name)
        for arch in self.archs:
            if plain in map(plain_name, (*arch.families, *(chip.name for chip in arch.chips))):
                return arch
        return None

    def _known(self) -> list[str]:
        return [f"{arch.name}: {', '.join((*arch.families, *(chip.name for chip in arch.chips)))}" for arch in self.archs]


_SET_ARCH = "set ARCH= to one of {}"


def _starts(chip: str, plain: str) -> bool:
    return plain_name(chip).removeprefix("ascend").startswith(plain)


def plain_name(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()
