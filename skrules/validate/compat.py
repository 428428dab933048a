"""What the documentation says that products support: facts with their public source, and nothing else.

What no document speaks of is `not-verified`: neither supported nor unsupported.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skrules.arch import Arch, ArchTable, Chip, plain_name

SK_BIND = "sk-bind"
MIX = "mix"


class Verdict(enum.StrEnum):
    """What is known of a feature on a product."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not-supported"
    NOT_VERIFIED = "not-verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A group of chips that the documentation speaks of as one. `id` is the published word; `chips` are names of drivers.

    `cores` has the cores of those chips that skrules builds for.
    """

    id: str
    name: str
    arch: str
    chips: tuple[str, ...]
    cores: tuple[Chip, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """`feature` is `sk-bind`, `mix` or the name of an ACL function; `cann` the versions that the document is of."""

    feature: str
    product: str
    supported: bool
    cann: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What an operator is to run on: an arch, or one chip. `cann` "" leaves the version open: any that is documented."""

    name: str
    arch: str
    products: tuple[Product, ...]
    cann: str = ""

    @property
    def cores(self) -> tuple[Chip, ...]:
        return tuple(chip for product in self.products for chip in product.cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compat:
    """All facts. `features` are the ACL functions that a fact speaks of."""

    products: tuple[Product, ...] = ()
    facts: Mapping[tuple[str, str], Fact] = field(default_factory=dict)

    def answers(self, feature: str, target: Target) -> tuple[tuple[Product, Verdict, Fact | None], ...]:
        """Return what is known of a feature on each product that a target can be."""
        return tuple((product, *self._answer(feature, product, target.cann)) for product in target.products)

    def excludes(self, feature: str, target: Target) -> Fact | None:
        """Return a fact that rules a feature out, when there is one for every product that the target can be."""
        answers = self.answers(feature, target)
        is_out = bool(answers) and all(verdict is Verdict.NOT_SUPPORTED for _, verdict, _ in answers)
        return answers[0][2] if is_out else None

    def _answer(self, feature: str, product: Product, cann: str) -> tuple[Verdict, Fact | None]:
        fact = self.facts.get((feature, product.id))
        if fact is None or (cann and cann not in fact.cann):
            return Verdict.NOT_VERIFIED, None
        return (Verdict.SUPPORTED if fact.supported else Verdict.NOT_SUPPORTED), fact

    def cann_versions(self, product: str) -> tuple[str, ...]:
        """Return the versions for which something is known of a product."""
        return tuple(sorted({version for fact in self.facts.values() if fact.product == product for version in fact.cann}))

    def target_of_arch(self, name: str, cann: str = "") -> Target:
        """Return an arch as a target: any of its products."""
        products = tuple(product for product in self.products if product.arch == name)
        return Target(name=name, arch=name, products=products, cann=cann)

    def target_of_chip(self, name: str, archs: ArchTable, cann: str = "") -> Target | None:
        """Return what people call `ascend-910b`, `Ascend910B2C` or `dav-2201`; None for what no table knows.

        The published id of a product is meant before a chip of the same letters: it has a dash, and chips have none.
        """
        plain = plain_name(name)
        named = [product for product in self.products if name.lower() == product.id]
        named = named or [product for product in self.products if plain in map(plain_name, product.chips)]
        named = named or [product for product in self.products if plain == plain_name(product.id)]
        if named:
            return Target(name=name, arch=named[0].arch, products=tuple(named[:1]), cann=cann)
        arch = name.strip().lower().replace("_", "-")
        known = {*archs.names(), *archs.unsupported}
        return self.target_of_arch(arch, cann) if arch in known else None


NO_FACTS = Compat()


def chips_of(arch: str, beginning: str, archs: ArchTable) -> tuple[tuple[str, ...], tuple[Chip, ...]]:
    """Return the chips of an arch whose names begin so: all names, and the records of those that skrules builds for."""
    known: Sequence[Arch] = [each for each in archs.archs if each.name == arch]
    cores = tuple(chip for each in known for chip in each.chips if chip.name.startswith(beginning))
    families = tuple(name for each in known for name in each.families if name.startswith(beginning))
    others: Iterable[str] = archs.unsupported.get(arch, ((), ()))[0]
    return (*families, *(chip.name for chip in cores), *(name for name in others if name.startswith(beginning))), cores
