"""The pipeline: assets in, stages gone through, results and their documents out."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skrules import resources
from skrules.arch_file import load_archs
from skrules.commands.files import json_bytes
from skrules.engine.files import write_if_changed
from skrules.errors import SkrulesError, ToolchainError, UsageError
from skrules.pipeline import artifacts, mirror, stages, state, statuses, sync
from skrules.pipeline.build import PROGRAM, TORCH, BuildRequest, build
from skrules.pipeline.build_config import BuildConfig, read_build_config
from skrules.pipeline.contracts import share_contract
from skrules.pipeline.coverage import write_coverage
from skrules.pipeline.discovery import Skipped, discover
from skrules.pipeline.documents import begin_documents, write_documents
from skrules.pipeline.early import EarlyStages, Place, code_digest
from skrules.pipeline.ledger import Ledger
from skrules.pipeline.operators import FIXTURE, Operator, read_operators
from skrules.pipeline.outcome import Job, Progress, judge_build
from skrules.pipeline.output import WORK, OutputPlace
from skrules.pipeline.request import (
    AGGREGATE,
    AUTO,
    BOTH,
    NONE,
    SEPARATE,
    STANDALONE,
    WHEEL,
    PipelineRequest,
    environment_of,
)
from skrules.pipeline.run_record import AssetRecord, RunRecord
from skrules.pipeline.slugs import distinct
from skrules.pipeline.statuses import Ending
from skrules.pipeline.units import Unit, duplicates, read_unit

_STAGE_WORK = "stage-work"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """An operator of an asset before it is placed in a workspace. `given` is what `--io-contract` has for it."""

    asset: AssetRecord
    slug: str
    operator: Operator
    given: tuple[str, bytes] | None
    unit: Unit


def run_pipeline(request: PipelineRequest, environ: Mapping[str, str]) -> int:
    """Go through the stages and return the exit status: 0 only for verified, packaged, and a whole set of these.

    Raises UsageError and ToolchainError for what keeps it from beginning.
    """
    config = read_build_config(request.config, request.overrides)
    if stages.BUILD in request.selected and config.unbuildable:
        raise UsageError(
            f"{config.unbuildable[0]} of the build config is for a setup.py: operators are linked by the build itself",
            at=None,
            hint="--stages 05 makes the project for pip, with these flags",
        )
    with OutputPlace(request.output, clean=request.clean, resume_from=request.resume_from):
        return _Pipeline(request, config, environ).run()


class _Pipeline:
    def __init__(self, request: PipelineRequest, config: BuildConfig, environ: Mapping[str, str]) -> None:
        self._request = request
        self._config = config
        self._environment = environment_of(request, environ, config.build_env)
        self._output = request.output.resolve()
        self._work = self._output / WORK
        self._ledger = Ledger(self._work, code_digest())
        self._skipped: list[Skipped] = []

    def run(self) -> int:
        begin_documents(self._output, state.RUNNING)
        try:
            return self._carry_out()
        except SkrulesError:
            begin_documents(self._output, "error")
            raise

    def _carry_out(self) -> int:
        assets = self._find_assets()
        members = self._members(assets)
        shared = duplicates([(each.asset.slug, each.operator, each.unit) for each in members])
        mode = self._mode(shared)
        groups = [[asset] for asset in assets] if mode == SEPARATE else [assets]
        records = [self._run(group, members, is_separate=mode == SEPARATE) for group in groups]
        ending = _overall(records, mode)
        self._forget_others(records)
        write_documents(self._output, records, ending, mode=mode)
        if self._request.roots:
            self._write_coverage(records, ending, mode, shared)
        return self._report(records, ending, mode, len(assets))

    def _find_assets(self) -> list[AssetRecord]:
        found: list[tuple[Path, Path | None]] = []
        for path in self._request.assets:
            if not path.exists():
                raise UsageError(f"--asset: there is no '{path}'")
            found.append((path.resolve(), None))
        for root in self._request.roots:
            discovered = discover(root.resolve(), self._output)
            found += [(path, root) for path in discovered.assets]
            self._skipped += discovered.skipped
        paths = list(dict.fromkeys(path for path, _ in found))
        if not paths:
            write_coverage(
                self._output,
                self._request.roots,
                mode=self._request.root_mode,
                status="empty",
                assets=(),
                skipped=self._skipped,
                duplicates=(),
            )
            roots = ", ".join(map(str, self._request.roots))
            notes = [f"{each.path}: {each.reason}" for each in self._skipped]
            raise UsageError(
                f"no operator was found below {roots}", notes=notes, hint="a folder with kernels and a contract for each"
            )
        roots_of = dict(found)
        slugs = distinct(path.stem if path.is_file() else path.name for path in paths)
        return [AssetRecord(slug=slug, path=path, root=roots_of[path]) for slug, path in zip(slugs, paths, strict=True)]

    def _members(self, assets: Sequence[AssetRecord]) -> list[_Member]:
        pairs = [(asset, operator) for asset in assets for operator in read_operators(asset.path, self._output)]
        for asset, operator in pairs:
            if not operator.is_alone and len(operator.sources) > 1:
                raise UsageError(
                    f"{asset.path} declares several operators, and '{operator.name}' has several sources",
                    hint="give each operator a folder of its own",
                )
        plain = [self._unit(operator, None) for _, operator in pairs]
        given = share_contract(self._request.contract, [operator for _, operator in pairs], [unit.kernels for unit in plain])
        slugs = distinct(operator.name for _, operator in pairs)
        return [
            _Member(
                asset=asset,
                slug=slug,
                operator=operator,
                given=given.get(index),
                unit=self._unit(operator, given[index]) if index in given else plain[index],
            )
            for index, (slug, (asset, operator)) in enumerate(zip(slugs, pairs, strict=True))
        ]

    def _unit(self, operator: Operator, given: tuple[str, bytes] | None) -> Unit:
        name, data = given or (
            operator.contract,
            (operator.folder / operator.contract).read_bytes() if operator.contract else None,
        )
        return read_unit(operator, data, name)

    def _mode(self, shared: Sequence[Mapping[str, Any]]) -> str:
        """Return whether there is one package or many: many where names clash and nobody chose."""
        chosen = self._request.root_mode
        if not shared:
            return AGGREGATE if chosen == AUTO else chosen
        if chosen == SEPARATE or (chosen == AUTO and self._request.roots):
            return SEPARATE
        first = shared[0]
        raise UsageError(
            f"'{first['entry']}' is in {' and '.join(dict.fromkeys(first['assets']))}: one package has a name once",
            hint="--asset-root-mode separate makes a package for each asset",
        )

    def _run(self, assets: Sequence[AssetRecord], members: Sequence[_Member], *, is_separate: bool) -> RunRecord:
        slugs = {asset.slug for asset in assets}
        own = [member for member in members if member.asset.slug in slugs]
        slug = assets[0].slug if len(assets) == 1 else AGGREGATE
        folder = self._work / _STAGE_WORK / slug
        plan = mirror.plan(
            [member.operator for member in own],
            archs=self._request.archs,
            contracts={index: member.given for index, member in enumerate(own) if member.given},
            cases={index: data for index, member in enumerate(own) if (data := _fixture(member.operator, member.unit))},
            config=self._config,
            leave_out=self._output,
        )
        mirror.write(plan, folder / "workspace")
        record = RunRecord(
            slug=slug,
            request=self._request,
            assets=tuple(assets),
            folder=folder,
            workspace=folder / "workspace",
            mirror=plan,
            wheel_name=f"{self._request.wheel_name}_{slug}" if is_separate else self._request.wheel_name,
            progress=tuple(
                Progress(job=Job(slug=member.slug, asset=member.asset.slug, placed=placed, unit=member.unit))
                for member, placed in zip(own, plan.placed, strict=True)
            ),
        )
        self._write_config(record)
        self._go_through(record)
        artifacts.write_artifacts(self._output, record)
        state.write_state(record, record.ending())
        return record

    def _write_config(self, record: RunRecord) -> None:
        request = self._request
        config = {
            "schema_version": 1,
            "assets": [asset.slug for asset in record.assets],
            "selected_stages": list(request.selected),
            "profile": request.profile,
            "verify_backend": request.backend,
            "wheel_mode": "cache" if request.wheel else "never",
            "target_chip": request.target_chip,
            "archs": list(request.archs),
            "archs_named_by": request.archs_named_by,
            "toolchain": request.toolchain,
            "wheel_name": record.wheel_name,
            "package_version": request.version,
        }
        write_if_changed(record.folder / "00-pipeline-config.json", json_bytes(config))
        write_if_changed(record.folder / "operator-build-config.resolved.json", json_bytes(self._config.to_json()))

    def _go_through(self, record: RunRecord) -> None:
        place = Place(work=self._work, run=f"{_STAGE_WORK}/{record.slug}", workspace=f"{_STAGE_WORK}/{record.slug}/workspace")
        early = EarlyStages(
            place, self._ledger, self._config, name=record.wheel_name, version=record.request.version,
            target_chip=record.request.target_chip,
        )  # fmt: skip
        chips = [word for word in record.request.target_chip.replace(";", ",").split(",") if word.strip()]
        steps: dict[str, Callable[[Progress], None]] = {
            stages.UNDERSTAND: lambda progress: _understand(place, self._ledger, progress),
            stages.DETECT: early.detect,
            stages.ADAPT: early.adapt,
            stages.SPEC: lambda progress: early.validate(progress, stages.SPEC, ()),
            stages.COMPAT: lambda progress: early.validate(
                progress, stages.COMPAT, chips or record.request.archs or progress.job.placed.operator.archs
            ),
        }
        for identifier in record.request.selected:
            began = time.time()
            if identifier in steps:
                for progress in record.progress:
                    if progress.stopped is None:
                        steps[identifier](progress)
            elif identifier == stages.BINDING:
                self._bind(record, early)
            else:
                self._build(record)
            record.times[identifier] = (began, time.time())
            state.write_state(record)

    def _bind(self, record: RunRecord, early: EarlyStages) -> None:
        stopped = [progress.job.placed.operator.name for progress in record.progress if progress.stopped]
        if stopped:
            note = f"there is no package without {', '.join(stopped)}"
            record.wide[stages.BINDING] = Ending(status=statuses.NEEDS_HUMAN, reason="operator-stopped", notes=(note,))
            return
        ending = early.aggregate(record.progress)
        if ending.status == statuses.ADAPTED:
            ending = early.bind()
        record.wide[stages.BINDING] = ending
        if ending.status == statuses.PYBIND_GENERATED:
            for progress in record.progress:
                progress.stages[stages.BINDING] = ending

    def _build(self, record: RunRecord) -> None:
        ready = []
        for progress in record.progress:
            if progress.stopped is not None:
                continue
            if not (progress.job.placed.operator.archs or record.request.archs):
                note = f"--npu-arch or --target-chip says what it is built for: {', '.join(_known_archs())}"
                ending = Ending(status=statuses.NEEDS_TARGET_ARCH, reason="missing-npu-arch-and-target-chip", notes=(note,))
                progress.stages[stages.BUILD] = ending
                continue
            ready.append(progress)
        if ready:
            self._build_ready(record, ready)

    def _build_ready(self, record: RunRecord, ready: Sequence[Progress]) -> None:
        request = record.request
        # A wheel of some of the operators would look like one of all.
        wheel = request.wheel and len(ready) == len(record.progress)
        variables = {"TOOLCHAIN": request.toolchain}
        if request.archs:
            variables["ARCH"] = ",".join(request.archs)
        asked = BuildRequest(
            workspace=record.workspace,
            packages=record.mirror.packages,
            labels=tuple(progress.job.label for progress in ready),
            compared=tuple(progress.job.label for progress in ready if request.compares and progress.job.placed.operator.cases),
            backends=_BACKENDS[request.backend],
            torch_if_possible=request.backend == BOTH,
            wheel=wheel,
            wheel_variables={"WHEEL_NAME": record.wheel_name, "WHEEL_VERSION": request.version},
            variables=variables,
            jobs=request.jobs,
            environment=self._environment,
        )
        try:
            result = build(asked, record.stage_folder(stages.BUILD))
        except ToolchainError as error:
            ending = Ending(status=statuses.NEEDS_TOOLCHAIN, reason="toolchain", notes=tuple(str(error).splitlines()))
            for progress in ready:
                progress.stages[stages.BUILD] = ending
            return
        record.result = result
        for progress in ready:
            progress.verdicts = tuple(verdict for verdict in result.verdicts if verdict.label == progress.job.label)
            progress.stages[stages.BUILD] = judge_build(
                progress, result, compares=request.compares, wanted_archs=request.archs, wheel=wheel
            )
        if result.wheel_error:
            notes = (*result.wheel_error.splitlines(), "--profile fast compares without a wheel")
            record.wide[stages.BUILD] = Ending(status=statuses.NEEDS_TOOLCHAIN, reason="wheel", notes=notes)
        elif wheel and (result.problems or not result.wheels):
            record.wide[stages.BUILD] = Ending(status=statuses.NEEDS_HUMAN, reason="wheel", notes=result.problems)

    def _forget_others(self, records: Sequence[RunRecord]) -> None:
        """Remove the results of assets and runs that are not of this one: the output would tell of both."""
        kept = {record.slug for record in records} | {asset.slug for record in records for asset in record.assets}
        for parent in ("deliverables/*", "artifacts/*", "assets"):
            for folder in self._output.glob(parent):
                for child in folder.iterdir() if folder.is_dir() else ():
                    if child.name not in kept:
                        shutil.rmtree(child)
                sync.remove_empty(folder)
        if not self._request.roots:
            for name in ("asset-root-coverage.json", "asset-root-coverage.md"):
                (self._output / name).unlink(missing_ok=True)

    def _write_coverage(
        self, records: Sequence[RunRecord], ending: Ending, mode: str, shared: Sequence[Mapping[str, Any]]
    ) -> None:
        write_coverage(
            self._output,
            self._request.roots,
            mode=mode,
            status="asset-root-covered" if ending.is_good or ending.status == _COMPLETED else "failed",
            assets=[
                (
                    asset,
                    record.asset_ending(asset.slug),
                    [name for progress in record.of_asset(asset.slug) for name in progress.entries or progress.job.unit.entries],
                )
                for record in records
                for asset in record.assets
            ],
            skipped=self._skipped,
            duplicates=shared,
        )

    def _report(self, records: Sequence[RunRecord], ending: Ending, mode: str, count: int) -> int:
        lines = [line for record in records for line in _lines(record, self._output)]
        if any(record.is_emulated for record in records):
            lines.append("emulated: kernels ran on the CPU, so nothing here is a device result")
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        summary: dict[str, Any] = {
            "status": ending.status,
            "stages": sum(len(record.stage_endings()) for record in records),
            "asset_count": count,
        }
        if mode == SEPARATE:
            failed = sum(not record.ending().is_good for record in records)
            summary |= {
                "mode": mode,
                "release_success": not failed and not self._skipped,
                "skipped_asset_count": len(self._skipped),
                "failed_asset_count": failed,
            }
        sys.stdout.write(json.dumps(summary) + "\n")
        sys.stdout.flush()
        return 0 if ending.status == _COMPLETED else statuses.exit_status(ending.status)


_BACKENDS = {STANDALONE: (PROGRAM,), WHEEL: (TORCH,), BOTH: (PROGRAM, TORCH), NONE: ()}
# How a run with a package for each asset ends, when each of them ended well.
_COMPLETED = "completed"


def _overall(records: Sequence[RunRecord], mode: str) -> Ending:
    ending = statuses.worst(record.ending() for record in records)
    return replace(ending, status=_COMPLETED) if mode == SEPARATE and ending.is_good else ending


def _understand(place: Place, ledger: Ledger, progress: Progress) -> None:
    job = progress.job
    data = json_bytes(job.unit.to_json(job.placed.operator))

    def make(folder: Path) -> None:
        (folder / "operator-unit.json").write_bytes(data)

    ledger.fill(place.outputs(stages.UNDERSTAND, job.slug), (), {"unit": data.decode()}, make)
    progress.stages[stages.UNDERSTAND] = Ending(status=statuses.ANALYZED)


def _fixture(operator: Operator, unit: Unit) -> bytes:
    """Return the cases of an operator that has none of its own, but a fixture of the public tool; b"" otherwise."""
    if operator.cases or not (operator.folder / FIXTURE).is_file() or not unit.resolved:
        return b""
    from skrules.pipeline.fixture import cases_of_fixture  # numpy is not needed otherwise

    return cases_of_fixture(operator.folder / FIXTURE, unit.resolved)


def _known_archs() -> tuple[str, ...]:
    return load_archs(resources.toolchains() / "ascend.yaml").names()


def _lines(record: RunRecord, output: Path) -> list[str]:
    """Return a line for each operator, and below it why it did not end well."""
    lines = []
    for progress in record.progress:
        ending = progress.ending()
        reason = f" ({ending.reason})" if ending.reason else ""
        lines.append(f"{progress.job.placed.operator.name:<32} {ending.status}{reason}")
        lines += [f"  {_shown(note, record)}" for note in ending.notes]
    for identifier, ending in record.wide.items():
        if ending.is_stopping:
            lines.append(f"{'package of ' + record.slug:<32} {ending.status} ({stages.stage_of(identifier).folder})")
            lines += [f"  {_shown(note, record)}" for note in ending.notes]
    if record.result is not None and record.ending().is_good:
        shown = os.path.relpath(output / "deliverables/wheels" / record.slug)
        lines += [f"wheel: {shown}/{Path(name).name}" for name in record.result.wheels]
    return lines


def _shown(text: str, record: RunRecord) -> str:
    """Return a message with the files of the workspace called as the user knows them."""
    base = os.path.relpath(record.mirror.base)
    return text.replace(
        f"{record.workspace}/", "" if base == "." else f"{base}/" if not base.startswith("..") else f"{record.mirror.base}/"
    )
