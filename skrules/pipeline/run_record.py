"""What a run of the pipeline over a set of assets ended with: all that its documents and its exit status are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skrules.pipeline import stages, statuses
from skrules.pipeline.build import BuildResult
from skrules.pipeline.mirror import Mirror
from skrules.pipeline.outcome import Progress
from skrules.pipeline.request import PipelineRequest
from skrules.pipeline.statuses import Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetRecord:
    """An asset: its folder in the output, and where it lies. `root` is the folder in which it was found, or None."""

    slug: str
    path: Path
    root: Path | None = None


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """One run, of one package. `slug` is its folder; `wide` has how stages ended that work on all operators at once.

    `result` is None where nothing was built.
    """

    slug: str
    request: PipelineRequest
    assets: tuple[AssetRecord, ...]
    folder: Path
    workspace: Path
    mirror: Mirror
    wheel_name: str
    progress: tuple[Progress, ...]
    wide: dict[str, Ending] = field(default_factory=dict)
    result: BuildResult | None = None
    times: dict[str, tuple[float, float]] = field(default_factory=dict)

    def ending(self) -> Ending:
        """Return how the run ended: as its worst operator did, or what all of them share."""
        shared = [ending for ending in self.wide.values() if ending.is_stopping]
        return statuses.worst([*(progress.ending() for progress in self.progress), *shared])

    def of_asset(self, slug: str) -> tuple[Progress, ...]:
        return tuple(progress for progress in self.progress if progress.job.asset == slug)

    def asset_ending(self, slug: str) -> Ending:
        return statuses.worst(progress.ending() for progress in self.of_asset(slug))

    @property
    def is_emulated(self) -> bool:
        """Whether what was run was run on the CPU: no result of it is a device result."""
        return self.result is not None and self.result.toolchain == "host"

    def stage_endings(self) -> Mapping[str, Ending]:
        """Return how each stage ended that was gone through, over all operators."""
        found = {}
        for identifier in self.request.selected:
            each = [progress.stages[identifier] for progress in self.progress if identifier in progress.stages]
            each += [self.wide[identifier]] if identifier in self.wide else []
            if each:
                found[identifier] = statuses.worst(each)
        return found

    def stage_folder(self, identifier: str) -> Path:
        return self.folder / stages.stage_of(identifier).folder
