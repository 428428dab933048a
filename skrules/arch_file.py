"""Reads `toolchains/ascend.yaml` into the records of `skrules.arch`, and refuses whatever has no public source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from skrules.arch import Arch, ArchTable, Chip, Memory, SkBind, plain_name
from skrules.errors import Location, ToolchainError, UsageError, did_you_mean


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
            for word in (*map(plain_name, names), *map(str, numbers)):
                if owners.setdefault(word, arch) != arch:
                    raise self.fail(node, f"'{word}' belongs to {owners[word]} and to {arch}")
