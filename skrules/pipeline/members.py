"""What a run works on: the assets that were named or found, their operators, and whether these go into one package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.errors import UsageError
from skrules.pipeline.contracts import share_contract
from skrules.pipeline.coverage import write_coverage
from skrules.pipeline.discovery import Skipped, discover
from skrules.pipeline.operators import FIXTURE, Operator, read_operators
from skrules.pipeline.request import AGGREGATE, AUTO, SEPARATE, PipelineRequest
from skrules.pipeline.run_record import AssetRecord
from skrules.pipeline.slugs import distinct
from skrules.pipeline.units import Unit, read_unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An operator of an asset before it is placed in a workspace. `given` is what `--io-contract` has for it."""

    asset: AssetRecord
    slug: str
    operator: Operator
    given: tuple[str, bytes] | None
    unit: Unit

    def fixture_cases(self) -> bytes:
        """Return the cases of an operator that has none of its own, but a fixture of the public tool; b"" otherwise."""
        operator = self.operator
        # Where several operators share a folder it is not known whose the fixture is.
        is_own = operator.is_alone and not operator.cases and (operator.folder / FIXTURE).is_file()
        if not is_own or not self.unit.resolved:
            return b""
        from skrules.pipeline.fixture import cases_of_fixture  # numpy is not needed otherwise

        return cases_of_fixture(operator.folder / FIXTURE, self.unit.resolved)


def find_assets(request: PipelineRequest, output: Path) -> tuple[list[AssetRecord], list[Skipped]]:
    """Return the assets of a run, and the folders of its roots that look like one and are none.

    Raises UsageError for a path that is not there, and, after it is noted in `output`, when there is no asset at all.
    """
    found: list[tuple[Path, Path | None]] = []
    skipped: list[Skipped] = []
    for path in request.assets:
        if not path.exists():
            raise UsageError(f"--asset: there is no '{path}'")
        found.append((path.resolve(), None))
    for root in request.roots:
        discovered = discover(root.resolve(), output)
        found += [(path, root) for path in discovered.assets]
        skipped += discovered.skipped
    paths = list(dict.fromkeys(path for path, _ in found))
    if not paths:
        write_coverage(
            output,
            request.roots,
            mode=request.root_mode,
            status="empty",
            assets=(),
            skipped=skipped,
            duplicates=(),
        )
        roots = ", ".join(map(str, request.roots))
        notes = [f"{each.path}: {each.reason}" for each in skipped]
        raise UsageError(
            f"no operator was found below {roots}", notes=notes, hint="a folder with kernels and a contract for each"
        )
    roots_of = dict(found)
    slugs = distinct(path.stem if path.is_file() else path.name for path in paths)
    assets = [AssetRecord(slug=slug, path=path, root=roots_of[path]) for slug, path in zip(slugs, paths, strict=True)]
    return assets, skipped


def read_members(request: PipelineRequest, assets: Sequence[AssetRecord], output: Path) -> list[Member]:
    """Return the operators of the assets, in order. Raises UsageError for declarations or contracts that cannot be."""
    pairs = [(asset, operator) for asset in assets for operator in read_operators(asset.path, output)]
    for asset, operator in pairs:
        if not operator.is_alone and len(operator.sources) > 1:
            raise UsageError(
                f"{asset.path} declares several operators, and '{operator.name}' has several sources",
                hint="give each operator a folder of its own",
            )
    plain = [_unit(operator, None) for _, operator in pairs]
    given = share_contract(request.contract, [operator for _, operator in pairs], [unit.kernels for unit in plain])
    slugs = distinct(operator.name for _, operator in pairs)
    return [
        Member(
            asset=asset,
            slug=slug,
            operator=operator,
            given=given.get(index),
            unit=_unit(operator, given[index]) if index in given else plain[index],
        )
        for index, (slug, (asset, operator)) in enumerate(zip(slugs, pairs, strict=True))
    ]


def _unit(operator: Operator, given: tuple[str, bytes] | None) -> Unit:
    name, data = given or (
        operator.contract,
        (operator.folder / operator.contract).read_bytes() if operator.contract else None,
    )
    return read_unit(operator, data, name)


def choose_mode(request: PipelineRequest, shared: Sequence[Mapping[str, Any]]) -> str:
    """Return whether there is one package or many: many where names clash and nobody chose. Raises UsageError.

    `shared` are the names that several assets have.
    """
    chosen = request.root_mode
    if not shared:
        return AGGREGATE if chosen == AUTO else chosen
    if chosen == SEPARATE or (chosen == AUTO and request.roots):
        return SEPARATE
    first = shared[0]
    raise UsageError(
        f"'{first['entry']}' is in {' and '.join(dict.fromkeys(first['assets']))}: one package has a name once",
        hint="--asset-root-mode separate makes a package for each asset",
    )
