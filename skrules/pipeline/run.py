"""The pipeline: assets in, stages gone through, results and their documents out."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skrules.commands.adapt_sk_from_global import check_package
from skrules.commands.files import json_bytes
from skrules.engine.files import write_if_changed
from skrules.errors import BuildError, SkrulesError, UsageError
from skrules.pipeline import artifacts, mirror, stages, state, statuses, sync
from skrules.pipeline.build_config import BuildConfig, read_build_config
from skrules.pipeline.course import Course
from skrules.pipeline.coverage import write_coverage
from skrules.pipeline.discovery import Skipped
from skrules.pipeline.documents import begin_documents, write_documents
from skrules.pipeline.early import code_digest
from skrules.pipeline.ledger import Ledger
from skrules.pipeline.members import Member, choose_mode, find_assets, read_members
from skrules.pipeline.outcome import Job, Progress
from skrules.pipeline.output import WORK, OutputPlace
from skrules.pipeline.request import AGGREGATE, SEPARATE, PipelineRequest, environment_of
from skrules.pipeline.run_record import AssetRecord, RunRecord
from skrules.pipeline.statuses import Ending
from skrules.pipeline.telling import tell
from skrules.pipeline.units import duplicates

_STAGE_WORK = "stage-work"


def run_pipeline(request: PipelineRequest, environ: Mapping[str, str]) -> int:
    """Go through the stages and return the exit status: 0 only for verified, packaged, and a whole set of these.

    Raises UsageError and ToolchainError for what keeps it from beginning, BuildError for what cannot be written.
    """
    check_package(argparse.Namespace(package_name=request.wheel_name, package_version=request.version))
    config = read_build_config(request.config, request.overrides)
    if stages.BUILD in request.selected and config.unbuildable:
        raise UsageError(
            f"{config.unbuildable[0]} of the build config is for a setup.py: operators are linked by the build itself",
            hint="--stages 05 makes the project for pip, with these flags",
        )
    with OutputPlace(request.output, clean=request.clean, resume_from=request.resume_from):
        try:
            return _Pipeline(request, config, environ).run()
        except BrokenPipeError:
            raise
        except OSError as error:  # a full disk, a folder that may not be written
            raise BuildError(f"{error.filename or request.output}: {error.strerror or error}") from error


class _Pipeline:
    def __init__(self, request: PipelineRequest, config: BuildConfig, environ: Mapping[str, str]) -> None:
        self._request = request
        self._config = config
        self._environment = environment_of(request, environ, config.build_env)
        self._output = request.output.resolve()
        self._ledger = Ledger(self._output / WORK, code_digest())

    def run(self) -> int:
        begin_documents(self._output, state.RUNNING)
        try:
            return self._carry_out()
        except SkrulesError:
            begin_documents(self._output, "error")
            raise

    def _carry_out(self) -> int:
        assets, skipped = find_assets(self._request, self._output)
        members = read_members(self._request, assets, self._output)
        shared = duplicates([(each.asset.slug, each.operator, each.unit) for each in members])
        mode = choose_mode(self._request, shared)
        groups = [[asset] for asset in assets] if mode == SEPARATE else [assets]
        records = [self._run(group, members, is_separate=mode == SEPARATE) for group in groups]
        ending = statuses.worst(record.ending() for record in records)
        if mode == SEPARATE and ending.is_good:
            ending = replace(ending, status=statuses.COMPLETED)
        self._forget_others(records)
        write_documents(self._output, records, ending, mode=mode)
        if self._request.roots:
            self._write_coverage(records, ending, mode, skipped, shared)
        return tell(records, ending, self._output, mode=mode, skipped=skipped)

    def _run(self, assets: Sequence[AssetRecord], members: Sequence[Member], *, is_separate: bool) -> RunRecord:
        slugs = {asset.slug for asset in assets}
        own = [member for member in members if member.asset.slug in slugs]
        slug = assets[0].slug if len(assets) == 1 else AGGREGATE
        folder = self._ledger.root / _STAGE_WORK / slug
        plan = mirror.plan(
            [member.operator for member in own],
            archs=self._request.archs,
            contracts={index: member.given for index, member in enumerate(own) if member.given},
            cases={index: data for index, member in enumerate(own) if (data := member.fixture_cases())},
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
        Course(record, self._ledger, self._config, self._environment).go()
        artifacts.write_artifacts(self._output, record)
        state.write_state(record, record.ending())
        return record

    def _write_config(self, record: RunRecord) -> None:
        request = self._request
        config = {
            "schema_version": 1,
            "assets": [asset.slug for asset in record.assets],
            **request.to_json(),
            "archs_named_by": request.archs_named_by,
            "toolchain": request.toolchain,
            "wheel_name": record.wheel_name,
            "package_version": request.version,
        }
        write_if_changed(record.folder / "00-pipeline-config.json", json_bytes(config))
        write_if_changed(record.folder / "operator-build-config.resolved.json", json_bytes(self._config.to_json()))

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
        self,
        records: Sequence[RunRecord],
        ending: Ending,
        mode: str,
        skipped: Sequence[Skipped],
        shared: Sequence[Mapping[str, Any]],
    ) -> None:
        write_coverage(
            self._output,
            self._request.roots,
            mode=mode,
            status="asset-root-covered" if ending.is_good else "failed",
            assets=[
                (
                    asset,
                    record.asset_ending(asset.slug),
                    [name for progress in record.of_asset(asset.slug) for name in progress.entries or progress.job.unit.entries],
                )
                for record in records
                for asset in record.assets
            ],
            skipped=skipped,
            duplicates=shared,
        )
