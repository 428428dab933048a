"""Stages 00 to 05: what the published commands do, for each operator, in folders that are filled again only when they must be."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skrules import installed, resources
from skrules.aclgraph.manifest import DOCUMENT as ADAPTED
from skrules.aclgraph.package import TREE
from skrules.commands.files import json_bytes
from skrules.pipeline import stages, statuses
from skrules.pipeline.build_config import BuildConfig
from skrules.pipeline.calls import Called, call
from skrules.pipeline.ledger import Ledger
from skrules.pipeline.outcome import Job, Progress
from skrules.pipeline.statuses import Ending
from skrules.toolchain.fingerprint import digest_tree

_RESULT = "stage-result.json"
_FINDINGS = "operator-validation-findings.json"
AGGREGATE = "_aggregate"
BINDING_DOCUMENT = "operator-sk-pybind-binding.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`work` is the root of the ledger; `run` the folder of this run in it, `workspace` that of its workspace."""

    work: Path
    run: str
    workspace: str

    def outputs(self, stage: str, unit: str) -> str:
        return f"{self.run}/{stages.stage_of(stage).folder}/{unit}/outputs"


def code_digest() -> str:
    """Return a digest of all that decides what these stages make, besides their inputs."""
    parts = [
        digest_tree(resources.package(), ("**/*.py", "**/*.yaml")),
        digest_tree(resources.templates()),
        digest_tree(resources.toolchains(), ("*.yaml",)),
        *(platform.python_version(), *(installed.version(name) for name in ("jinja2", "PyYAML"))),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


class EarlyStages:
    """Goes through the stages before the build. What they say of files is told with paths that mean something elsewhere too:
    those of the workspace, as a build has them, and those of the folder of results."""

    def __init__(
        self,
        place: Place,
        ledger: Ledger,
        config: BuildConfig,
        *,
        name: str,
        version: str,
        target_chip: str,
        settings: tuple[str, tuple[str, ...]] = ("", ()),
    ) -> None:
        self._place = place
        self._ledger = ledger
        self._config = config
        self._name = name
        self._version = version
        self._chip = target_chip
        self._settings, self._decisions = settings
        self._adapted: dict[str, str] = {}

    def detect(self, progress: Progress) -> None:
        job = progress.job
        folder = self._place.outputs(stages.DETECT, job.slug)
        self._fill(folder, job, {}, lambda place: call("detect-sk-form", self._asset(job), "--output-dir", place))
        progress.stages[stages.DETECT] = self._ending(folder, statuses.ANALYZED)

    def adapt(self, progress: Progress) -> None:
        job = progress.job
        folder = self._place.outputs(stages.ADAPT, job.slug)
        words: list[object] = ["--package-name", self._name, "--package-version", self._version, "--target-chip", self._chip]
        if job.placed.contract:
            words += ["--io-contract", self._workspace / job.placed.contract]
        for name in self._config.support_dirs:
            words += ["--support-dir", f"{name}={self._workspace / '.config/support' / name}"]
        key = {"options": json.dumps([self._name, self._version, self._chip, *sorted(self._config.support_dirs)])}
        self._adapted[job.slug] = self._fill(
            folder, job, key, lambda place: call("adapt-sk-from-global", self._asset(job), "--output-dir", place, *words)
        )
        document = self._document(folder, ADAPTED)
        ending = self._ending(folder, statuses.ADAPTED)
        if ending.is_stopping:
            ending = replace(ending, notes=self._told(document.get("escalations", ())) or ending.notes)
        progress.stages[stages.ADAPT] = ending
        progress.entries = tuple(entry["entry_name"] for file in document.get("per_file", []) for entry in file["entries"])

    def validate(self, progress: Progress, stage: str, targets: Sequence[str]) -> None:
        """Ask the rules of a pack about what was adapted; of `compat` for each chip or arch in `targets`."""
        job = progress.job
        pack = "spec" if stage == stages.SPEC else "compat"
        source = self._place.outputs(stages.ADAPT, job.slug)
        folder = self._place.outputs(stage, job.slug)
        asset = self._place.work / source / TREE / "csrc"
        asked = [*targets] if pack == "compat" and targets else [""]
        key = {"adapted": self._adapted[job.slug], "options": json.dumps([pack, asked])}

        def make(place: Path) -> Called:
            called = []
            for target in asked:
                words: list[object] = ["--target-chip", target] if target else []
                words += ["--settings", self._workspace / self._settings] if self._settings else []
                output = place / target if len(asked) > 1 else place
                called.append(call("validate-operator", "--asset", asset, "--output-dir", output, "--rule-pack", pack, *words))
            return max(called, key=lambda each: each.status)

        self._fill(folder, None, key, make, files=[self._workspace / name for name in self._decisions])
        ending = self._ending(folder, statuses.CLEAN)
        if ending.status == statuses.NEEDS_HUMAN:
            ending = Ending(status=ending.status, reason=f"{pack}-blocker", notes=self._blockers(folder) or ending.notes)
        progress.stages[stage] = ending

    def aggregate(self, everything: Sequence[Progress]) -> Ending:
        """Make one package of all operators that were adapted."""
        folder = self._place.outputs(stages.ADAPT, AGGREGATE)
        adapted = [self._place.outputs(stages.ADAPT, progress.job.slug) for progress in everything]
        config = f"{self._place.run}/{stages.stage_of(stages.ADAPT).folder}/{AGGREGATE}/build-config.json"
        data = json_bytes(self._config.for_package())
        words: list[object] = [word for each in adapted for word in ("--adapted-output-dir", self._place.work / each)]
        words += ["--aggregate-wheel-name", self._name, "--package-version", self._version]
        key = {
            "adapted": json.dumps([self._adapted[progress.job.slug] for progress in everything]),
            "options": json.dumps([self._name, self._version]),
            "config": data.decode(),
        }

        def make(place: Path) -> Called:
            if self._config.for_package():
                (self._place.work / config).write_bytes(data)
                words.extend(["--operator-build-config-resolved", self._place.work / config])
            return call("aggregate-sk-adapted", "--output-dir", place, *words)

        self._adapted[AGGREGATE] = self._fill(folder, None, key, make, files=self._config.package_files)
        return self._ending(folder, statuses.ADAPTED)

    def bind(self) -> Ending:
        """Write the published document on the package, after a look at whether all its files are there."""
        source = self._place.outputs(stages.ADAPT, AGGREGATE)
        folder = self._place.outputs(stages.BINDING, AGGREGATE)

        def make(place: Path) -> Called:
            manifest = self._document(source, ADAPTED)
            root = self._place.work / source
            missing = [name for name in manifest["canonical_written_files"] if not (root / name).is_file()]
            (place / BINDING_DOCUMENT).write_bytes(json_bytes(_binding(manifest, source)))
            text = f"error: the package has no {missing[0]}" if missing else ""
            return Called(status=1 if missing else 0, error=text, output="")

        self._fill(folder, None, {"adapted": self._adapted[AGGREGATE]}, make)
        return self._ending(folder, statuses.PYBIND_GENERATED)

    @property
    def _workspace(self) -> Path:
        return self._place.work / self._place.workspace

    def _asset(self, job: Job) -> Path:
        placed = job.placed
        folder = self._workspace / placed.package
        return folder if placed.operator.is_alone else folder / placed.operator.sources[0]

    def _fill(
        self, folder: str, job: Job | None, key: Mapping[str, str], make: Callable[[Path], Called], files: Sequence[Path] = ()
    ) -> str:
        inputs = [f"{self._place.workspace}/{name}" for name in job.placed.files] if job else []

        def write(place: Path) -> None:
            called: Called = make(place)
            document = {"status": called.status, "error": called.error, "output": called.output}
            (place / _RESULT).write_bytes(json_bytes(document))

        return self._ledger.fill(folder, [*inputs, *map(str, files)], key, write)

    def _ending(self, folder: str, good: str) -> Ending:
        result = self._document(folder, _RESULT)
        if result.get("status") == 0:
            return Ending(status=good)
        lines = self._shown(str(result.get("error") or result.get("output") or ""))
        return Ending(status=statuses.NEEDS_HUMAN, reason="codegen-findings", notes=lines)

    def _blockers(self, folder: str) -> tuple[str, ...]:
        paths = sorted((self._place.work / folder).rglob(_FINDINGS))
        findings = [finding for path in paths for finding in json.loads(path.read_bytes()).get("findings", [])]
        return self._told(finding for finding in findings if finding.get("severity") == "blocker")

    def _told(self, findings: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """Return findings of a document as lines: where, what, the rule, and what settles it."""
        lines: list[str] = []
        for finding in findings:
            place = ":".join(str(finding[name]) for name in ("file", "line", "column") if finding.get(name))
            lines.append(f"{place}: {finding.get('message')} [{finding.get('rule_id')}]")
            lines += [f"  {line}" for line in str(finding.get("hint") or "").splitlines()]
        return self._shown("\n".join(dict.fromkeys(lines)))

    def _shown(self, text: str) -> tuple[str, ...]:
        work = self._place.work
        return tuple(text.replace(f"{self._workspace}/", "").replace(f"{work}/", f"{work.name}/").splitlines())

    def _document(self, folder: str, name: str) -> dict[str, Any]:
        try:
            document = json.loads((self._place.work / folder / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}


def _binding(manifest: Mapping[str, Any], source: str) -> dict[str, Any]:
    entries = [entry for file in manifest["per_file"] for entry in file["entries"]]
    return {
        "status": "generated",
        "package_name": manifest["package_name"],
        "package_version": manifest["package_version"],
        "python_package": manifest["python_package"],
        "package_root": f"{source}/{TREE}",
        "pybind_layout": manifest["pybind_layout"],
        "extension_module_pattern": f"{manifest['python_package']}.<entry_module>_<arch_suffix>",
        "supported_arches_by_entry": {entry["entry_name"]: entry.get("supported_arches", []) for entry in entries},
        "kernel_entries": [entry["entry_name"] for entry in entries],
        "written_files": list(manifest["canonical_written_files"]),
        "operator_build_config": manifest.get("operator_build_config", {}),
    }
