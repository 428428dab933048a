"""Ascend archs and chips: what `toolchains/ascend.yaml` says, as records.

Nothing is guessed: a name that is not in the table is an error that lists the names that are.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from skrules.errors import Location, ToolchainError, UsageError, did_you_mean


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
            if _plain(name) not in map(_plain, chips):
                continue
            longer = [
                (arch, chip.name) for arch in self.archs for chip in arch.chips if _plain(chip.name).startswith(_plain(name))
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
        plain = _plain(chip).removeprefix("ascend")
        if len(plain) < 3:
            return ""
        longer = [(arch, one.name) for arch in self.archs for one in arch.chips if _starts(one.name, plain)]
        named = {arch.name: next(name for other, name in longer if other is arch) for arch, _ in longer}
        return "; ".join(f"{name} and other chips whose names begin so are of {arch}" for arch, name in named.items())

    def _find(self, name: str) -> Arch | None:
        plain = _plain(name)
        for arch in self.archs:
            if plain in map(_plain, (*arch.families, *(chip.name for chip in arch.chips))):
                return arch
        return None

    def _known(self) -> list[str]:
        return [f"{arch.name}: {', '.join((*arch.families, *(chip.name for chip in arch.chips)))}" for arch in self.archs]


_SET_ARCH = "set ARCH= to one of {}"


def _starts(chip: str, plain: str) -> bool:
    return _plain(chip).removeprefix("ascend").startswith(plain)


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


def load_archs(path: Path) -> ArchTable:
    """Read `ascend.yaml`. Raises UsageError with file:line:column for anything that is not exactly the expected shape.

    In particular a fact that names no source, or a source that the table does not list, is an error.
    """
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise ToolchainError(f"cannot read the arch table {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = Location(file=str(path), line=mark.line + 1, column=mark.column + 1) if mark else Location(file=str(path))
        raise UsageError(f"not YAML: {getattr(error, 'problem', error)}", at=at) from error
    if root is None:
        raise UsageError("the arch table is empty", at=Location(file=str(path)))
    return _Reader(str(path)).table(root)


class _Reader:
    """Turns YAML nodes into records; nodes rather than plain data, because they know their place in the file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sources: dict[str, str] = {}

    def fail(self, node: yaml.Node, message: str, *, allowed: Iterable[str] = (), hint: str = "") -> UsageError:
        mark = node.start_mark
        return UsageError(
            message, at=Location(file=self.file, line=mark.line + 1, column=mark.column + 1), allowed=allowed, hint=hint
        )

    def mapping(self, node: yaml.Node, required: tuple[str, ...] = (), what: str = "mapping") -> dict[str, yaml.Node]:
        """Return the entries of `node`; with `required`, exactly these keys must be there."""
        if not isinstance(node, yaml.MappingNode):
            raise self.fail(node, f"{what}: a mapping is expected")
        entries: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.fail(key, f"{what}: a key must be a word")
            if key.value in entries:
                raise self.fail(key, f"{what}: duplicate key '{key.value}'")
            if required and key.value not in required:
                raise self.fail(
                    key, f"{what}: unknown key '{key.value}'", allowed=required, hint=did_you_mean(key.value, required)
                )
            entries[key.value] = value
        for name in required:
            if name not in entries:
                raise self.fail(
                    node, f"{what}: '{name}' is missing" + (": every fact names its source" if name == "source" else "")
                )
        return entries

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.fail(node, "a word is expected")
        return str(node.value)

    def number(self, node: yaml.Node) -> int:
        if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"[1-9][0-9]*", node.value):
            raise self.fail(node, "a positive whole number is expected")
        return int(node.value)

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.fail(node, "a list is expected")
        return list(node.value)

    def source(self, node: yaml.Node) -> tuple[str, ...]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not nodes:
            raise self.fail(node, "the list names no source")
        for item in nodes:
            if self.text(item) not in self.sources:
                known = tuple(self.sources)
                raise self.fail(item, f"unknown source '{item.value}'", allowed=known, hint=did_you_mean(item.value, known))
        return tuple(self.sources[item.value] for item in nodes)

    def table(self, root: yaml.Node) -> ArchTable:
        top = self.mapping(root, ("sources", "archs", "not_supported"), "arch table")
        self.sources = {name: self.text(node) for name, node in self.mapping(top["sources"]).items()}
        archs = tuple(self.arch(name, node) for name, node in self.mapping(top["archs"]).items())
        if not archs:
            raise self.fail(top["archs"], "no arch")
        unsupported: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}
        for name, node in self.mapping(top["not_supported"]).items():
            entry = self.mapping(node, ("chips", "soc_versions"), name)
            chips, numbers = (self.items(self.fact(entry[key], key)[0]) for key in ("chips", "soc_versions"))
            unsupported[name] = (tuple(map(self.text, chips)), tuple(map(self.number, numbers)))
        self.unambiguous(top["archs"], archs, unsupported)
        return ArchTable(archs=archs, unsupported=unsupported)

    def fact(self, node: yaml.Node, what: str) -> tuple[yaml.Node, tuple[str, ...]]:
        entry = self.mapping(node, ("source", "value"), what)
        return entry["value"], self.source(entry["source"])

    def group(self, node: yaml.Node, what: str) -> tuple[dict[str, yaml.Node], tuple[str, ...]]:
        """Return the facts of a mapping whose `source` stands for all of them."""
        entry = self.mapping(node, what=what)
        if "source" not in entry:
            raise self.fail(node, f"{what}: 'source' is missing: every fact names its source")
        source = self.source(entry.pop("source"))
        return entry, source

    def arch(self, name: str, node: yaml.Node) -> Arch:
        facts = ("npu_arch", "mix", "sk_bind", "reference_chip", "families")
        entry = self.mapping(node, (*facts, "memory", "chips", "soc_versions"), name)
        values: dict[str, yaml.Node] = {}
        sources: dict[str, tuple[str, ...]] = {}
        for key in facts:
            values[key], sources[key] = self.fact(entry[key], f"{name}.{key}")
        memory, sources["memory"] = self.group(entry["memory"], f"{name}.memory")
        chip_nodes, sources["chips"] = self.group(entry["chips"], f"{name}.chips")
        numbers, sources["soc_versions"] = self.group(entry["soc_versions"], f"{name}.soc_versions")

        npu_arch = self.number(values["npu_arch"])
        if name != f"dav-{npu_arch}":
            raise self.fail(values["npu_arch"], f"arch '{name}' must be called dav-{npu_arch}")
        sizes = tuple(Memory.__dataclass_fields__)
        for key in {*memory, *sizes}:
            if key not in sizes or key not in memory:
                raise self.fail(
                    entry["memory"], f"{name}.memory: '{key}' is {'unknown' if key in memory else 'missing'}", allowed=sizes
                )
        chips = tuple(self.chip(chip, cores) for chip, cores in chip_nodes.items())
        families = tuple(self.text(item) for item in self.items(values["families"]))
        names = {chip.name: chip for chip in chips}
        reference = names.get(self.text(values["reference_chip"]))
        if reference is None:
            raise self.fail(values["reference_chip"], f"{name}: the reference chip is not among the chips", allowed=tuple(names))
        soc_versions: dict[int, str] = {}
        for number, target in numbers.items():
            if not number.isdecimal():
                raise self.fail(target, f"{name}.soc_versions: '{number}' is not a number")
            if self.text(target) not in (*names, *families):
                raise self.fail(target, f"{name}.soc_versions: '{self.text(target)}' is neither a chip nor a family of this arch")
            soc_versions[int(number)] = self.text(target)
        choices = tuple(SkBind)
        if self.text(values["sk_bind"]) not in choices:
            raise self.fail(values["sk_bind"], f"{name}.sk_bind: unknown value '{self.text(values['sk_bind'])}'", allowed=choices)
        return Arch(
            name=name,
            npu_arch=npu_arch,
            memory=Memory(**{key: self.number(memory[key]) for key in sizes}),
            mix=tuple(self.ratio(item) for item in self.items(values["mix"])),
            sk_bind=SkBind(self.text(values["sk_bind"])),
            reference_chip=reference,
            families=families,
            chips=chips,
            soc_versions=soc_versions,
            sources=sources,
        )

    def chip(self, name: str, node: yaml.Node) -> Chip:
        cores = self.items(node)
        if len(cores) != 2:
            raise self.fail(node, f"{name}: two numbers are expected, AIC and AIV cores")
        return Chip(name=name, aic=self.number(cores[0]), aiv=self.number(cores[1]))

    def ratio(self, node: yaml.Node) -> tuple[int, int]:
        found = re.fullmatch(r"([1-9]):([1-9])", self.text(node))
        if not found:
            raise self.fail(node, f"'{self.text(node)}' is not a ratio such as 1:2")
        return int(found[1]), int(found[2])

    def unambiguous(
        self, node: yaml.Node, archs: tuple[Arch, ...], unsupported: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]]
    ) -> None:
        """A name or a SoC number that leads to two archs would be a guess."""
        owners: dict[str, str] = {}
        claims = [(arch.name, (*arch.families, *(chip.name for chip in arch.chips)), tuple(arch.soc_versions)) for arch in archs]
        claims += [(name, *lists) for name, lists in unsupported.items()]
        for arch, names, numbers in claims:
            for word in (*map(_plain, names), *map(str, numbers)):
                if owners.setdefault(word, arch) != arch:
                    raise self.fail(node, f"'{word}' belongs to {owners[word]} and to {arch}")
