"""The course of one run: its stages, operator by operator where they can be, and together where they must."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skrules.arch_file import load_archs
from skrules.commands.files import json_bytes
from skrules.errors import ToolchainError
from skrules.pipeline import stages, state, statuses
from skrules.pipeline.build import PROGRAM, TORCH, BuildRequest, build
from skrules.pipeline.build_config import BuildConfig
from skrules.pipeline.early import EarlyStages, Place
from skrules.pipeline.ledger import Ledger
from skrules.pipeline.outcome import Progress, judge_build
from skrules.pipeline.request import BOTH, NONE, STANDALONE, WHEEL
from skrules.pipeline.run_record import RunRecord
from skrules.pipeline.statuses import Ending

_BACKENDS = {STANDALONE: (PROGRAM,), WHEEL: (TORCH,), BOTH: (PROGRAM, TORCH), NONE: ()}


class Course:
    """Takes the run of `record` through its stages; what becomes of it is noted there. `environment` is that of the build."""

    def __init__(self, record: RunRecord, ledger: Ledger, config: BuildConfig, environment: Mapping[str, str]) -> None:
        self._record = record
        self._ledger = ledger
        self._environment = environment
        work = ledger.root
        run = record.folder.relative_to(work).as_posix()
        self._place = Place(work=work, run=run, workspace=record.workspace.relative_to(work).as_posix())
        self._early = EarlyStages(
            self._place,
            ledger,
            config,
            name=record.wheel_name,
            version=record.request.version,
            target_chip=record.request.target_chip,
            settings=(record.mirror.settings, record.mirror.decisions),
        )

    def go(self) -> None:
        """Go through the stages that are selected. Raises UsageError and BuildError for what is not of a single operator."""
        record, early = self._record, self._early
        chips = [word for word in record.request.target_chip.replace(";", ",").split(",") if word.strip()]
        steps: dict[str, Callable[[Progress], None]] = {
            stages.UNDERSTAND: self._understand,
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
                self._bind()
            else:
                self._build()
            record.times[identifier] = (began, time.time())
            state.write_state(record)

    def _understand(self, progress: Progress) -> None:
        job = progress.job
        data = json_bytes(job.unit.to_json(job.placed.operator))

        def make(folder: Path) -> None:
            (folder / "operator-unit.json").write_bytes(data)

        self._ledger.fill(self._place.outputs(stages.UNDERSTAND, job.slug), (), {"unit": data.decode()}, make)
        progress.stages[stages.UNDERSTAND] = Ending(status=statuses.ANALYZED)

    def _bind(self) -> None:
        record, early = self._record, self._early
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

    def _build(self) -> None:
        record = self._record
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
            self._build_ready(ready)

    def _build_ready(self, ready: Sequence[Progress]) -> None:
        record, request = self._record, self._record.request
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
            settings=record.mirror.settings,
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


def _known_archs() -> tuple[str, ...]:
    return load_archs().names()
