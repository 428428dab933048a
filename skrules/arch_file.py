"""Reads `toolchains/ascend.yaml` into the records of `skrules.arch`, and refuses whatever has no public source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from skrules import resources
from skrules.arch import Arch, ArchTable, Chip, Memory, SkBind, plain_name
from skrules.sourced_yaml import SourcedTable, compose_table


def load_archs(path: Path | None = None) -> ArchTable:
    """Read `toolchains/ascend.yaml`, or another table of its kind.

    Raises UsageError with file:line:column for anything that is not exactly the expected shape. In particular a fact
    that names no source, or a source that the table does not list, is an error.
    """
    path = path or resources.toolchains() / "ascend.yaml"
    return _Reader(str(path)).table(compose_table(path, "the arch table"))


class _Reader(SourcedTable):
    """Turns YAML nodes into records."""

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
