"""Reads `toolchains/compat.yaml` into facts. One without an official public source cannot be entered."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

from skrules import resources
from skrules.arch import ArchTable
from skrules.sourced_yaml import SourcedTable, compose_table
from skrules.validate.compat import MIX, SK_BIND, Compat, Fact, Product, chips_of

# Who speaks for the products: their maker's sites, and the projects in which it publishes the toolkit.
_OFFICIAL = {
    "www.hiascend.com": "/",
    "hiascend.com": "/",
    "support.huawei.com": "/",
    "gitcode.com": "/cann/",
    "gitee.com": "/ascend/",
    "github.com": "/Ascend/",
}
_VERSION = re.compile(r"[1-9][0-9]*\.[0-9]+(?:\.[0-9A-Za-z]+)*")
_ACL = re.compile(r"acl[A-Za-z][A-Za-z0-9]+")


def load_compat(archs: ArchTable, path: Path | None = None) -> Compat:
    """Read the facts of `toolchains/compat.yaml`, or of another table of its kind.

    Raises UsageError with file:line:column for anything that is not exactly as it must be. In particular for a fact that names
    no source, a source that is not listed or not an official site, and two facts about one feature of one product. Chips
    and their archs are those of `archs`.
    """
    path = path or resources.toolchains() / "compat.yaml"
    return _Reader(str(path), archs).compat(compose_table(path, "the table of compatibility"))


class _Reader(SourcedTable):
    def __init__(self, file: str, archs: ArchTable) -> None:
        super().__init__(file)
        self.archs = archs
        self.products: dict[str, Product] = {}
        self.facts: dict[tuple[str, str], Fact] = {}

    def compat(self, root: yaml.Node) -> Compat:
        top = self.mapping(root, ("sources", "products", SK_BIND, MIX, "acl"), "compatibility")
        self.sources = {name: self.url(node) for name, node in self.mapping(top["sources"]).items()}
        for name, node in self.mapping(top["products"]).items():
            self.products[name] = self.product(name, node)
        for feature in (SK_BIND, MIX):
            for node in self.items(top[feature]):
                self.feature(feature, node)
        for node in self.items(top["acl"]):
            self.functions(node)
        return Compat(products=tuple(self.products.values()), facts=self.facts)

    def url(self, node: yaml.Node) -> str:
        text = self.text(node)
        parts = urlsplit(text)
        beginning = _OFFICIAL.get(parts.netloc)
        if parts.scheme != "https" or beginning is None or not unquote(parts.path).startswith(beginning):
            raise self.fail(node, f"'{text}' is not the address of an official document", allowed=self.official())
        return text

    @staticmethod
    def official() -> list[str]:
        return [f"https://{host}{beginning}..." for host, beginning in _OFFICIAL.items()]

    def product(self, name: str, node: yaml.Node) -> Product:
        entry = self.mapping(node, ("source", "name", "arch", "chips"), name)
        self.source(entry["source"])
        arch = self.text(entry["arch"])
        known = (*self.archs.names(), *self.archs.unsupported)
        if arch not in known:
            raise self.fail(entry["arch"], f"{name}: unknown arch '{arch}'", allowed=known)
        chips, cores = chips_of(arch, self.text(entry["chips"]), self.archs)
        if not chips:
            raise self.fail(entry["chips"], f"{name}: no chip of {arch} has a name that begins so")
        return Product(id=name, name=self.text(entry["name"]), arch=arch, chips=chips, cores=cores)

    def feature(self, feature: str, node: yaml.Node) -> None:
        entry = self.mapping(node, ("source", "cann", "supported", "not_supported"), feature)
        sources, cann = self.source(entry["source"]), self.versions(entry["cann"])
        for key in ("supported", "not_supported"):
            for item in self.items(entry[key]):
                self.add(item, feature, self.known(item), supported=key == "supported", cann=cann, sources=sources)

    def functions(self, node: yaml.Node) -> None:
        """Functions of one page of the ACL reference that the same products do not have."""
        entry = self.mapping(node, ("source", "cann", "not_supported", "functions"), "acl")
        sources, cann = self.source(entry["source"]), self.versions(entry["cann"])
        for item in self.items(entry["not_supported"]):
            product = self.known(item)
            for function in self.items(entry["functions"]):
                if not _ACL.fullmatch(self.text(function)):
                    raise self.fail(function, f"'{self.text(function)}' is no function of ACL")
                self.add(function, self.text(function), product, supported=False, cann=cann, sources=sources)

    def versions(self, node: yaml.Node) -> tuple[str, ...]:
        found = tuple(self.text(item) for item in self.items(node))
        wrong = next((item for item in self.items(node) if not _VERSION.fullmatch(self.text(item))), None)
        if wrong is not None or not found:
            raise self.fail(wrong or node, "a version of CANN such as 9.1.0 is expected")
        return found

    def known(self, node: yaml.Node) -> str:
        name = self.text(node)
        if name not in self.products:
            raise self.fail(node, f"unknown product '{name}'", allowed=self.products)
        return name

    def add(
        self, node: yaml.Node, feature: str, product: str, *, supported: bool, cann: tuple[str, ...], sources: tuple[str, ...]
    ) -> None:
        if (feature, product) in self.facts:
            raise self.fail(node, f"a second fact about {feature} of {product}")
        self.facts[feature, product] = Fact(feature=feature, product=product, supported=supported, cann=cann, sources=sources)
