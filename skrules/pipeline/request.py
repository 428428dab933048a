"""What one run of the pipeline is asked for."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrules.arch_file import load_archs
from skrules.errors import UsageError
from skrules.pipeline import stages
from skrules.rules.archs import with_archs
from skrules.rules.request import read_request, split_names

#: Published options that would do nothing here, or worse: each with what to do instead.
REFUSED: Mapping[str, str] = {
    "--skills-root": "skrules has its stages inside itself",
    "--repo-root": "paths are relative to the current folder, and caches have --build-cache-dir",
    "--max-iterations": "nothing is repeated until it fits: run again after skrules apply-remediation",
    "--allow-structural-toolchain": "compilers that do nothing show nothing; --toolchain host runs kernels on the CPU",
    "--allow-mock-npu": "a result that was not computed is never counted; --toolchain host runs kernels on the CPU",
    "--reuse-wheel": "a wheel is made only when something that it holds has changed",
}
RELEASE, FAST = "release", "fast"
STANDALONE, WHEEL, BOTH, NONE = "standalone", "wheel", "both", "none"
NEVER, CACHE, ALWAYS = "never", "cache", "always"
AUTO, AGGREGATE, SEPARATE = "auto", "aggregate", "separate"
DEFAULT_OUTPUT = "sk-pipeline-output"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRequest:
    """`archs` are names of the table, none: all that operators declare; `archs_named_by` says what named them.

    `compares` and `wheel` are what stage 06 is to do; `toolkit` is a folder, or None for that of the environment.
    """

    assets: tuple[Path, ...]
    roots: tuple[Path, ...]
    root_mode: str
    selected: tuple[str, ...]
    output: Path
    clean: bool
    resume_from: Path | None
    archs: tuple[str, ...]
    archs_named_by: str
    target_chip: str
    toolkit: Path | None
    toolchain: str
    wheel_name: str
    version: str
    contract: Path | None
    config: Path | None
    overrides: tuple[str, ...]
    profile: str
    backend: str
    compares: bool
    wheel: bool
    cache: Path | None
    jobs: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the published fields of what was asked for, which several documents of a run have."""
        return {
            "selected_stages": list(self.selected),
            "profile": self.profile,
            "verify_backend": self.backend,
            "wheel_mode": CACHE if self.wheel else NEVER,
            "target_chip": self.target_chip,
            "archs": list(self.archs),
        }


class _Refuse(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **_rest: Any) -> None:
        super().__init__(option_strings, dest, nargs="?", help=argparse.SUPPRESS)

    def __call__(self, _parser: Any, _namespace: Any, _values: Any, option_string: str | None = None) -> None:
        name = option_string or ""
        raise UsageError(f"{name} is not taken: {REFUSED[name]}")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the published options, and --npu-arch and --toolchain, which the public tool does not have."""
    add = parser.add_argument
    add(
        "--asset",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a kernel file or a folder of one operator; repeat",
    )
    add(
        "--asset-root",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder in which operators are found; repeat",
    )
    add("--asset-root-mode", choices=(AUTO, AGGREGATE, SEPARATE), default=AUTO, help="one package, or one for each asset (auto)")
    add(
        "--duplicate-entry-policy",
        choices=("reject", "namespace"),
        default="reject",
        help="reject: equal names are never one package",
    )
    add("--stages", metavar="LIST", help="stages to go through, by number or name; what they need is looked at too")
    add("--output-dir", type=Path, default=Path(DEFAULT_OUTPUT), metavar="DIR", help=f"folder of all results ({DEFAULT_OUTPUT})")
    add("--clean-output", action="store_true", help="remove the results of an earlier run first; nothing needs that")
    add("--resume-from", type=Path, metavar="FILE", help="a file of the run to go on with; a run in its folder goes on anyway")
    add("--target-chip", metavar="LIST", default="", help="chips to build for, separated by commas")
    add("--npu-arch", metavar="LIST", default="", help="archs to build for, separated by commas; goes before --target-chip")
    add("--target-cann", type=Path, metavar="DIR", help="folder of the toolkit, instead of ASCEND_HOME_PATH")
    add("--toolchain", default="auto", metavar="NAME", help="auto, bisheng or host (auto)")
    add("--aggregate-wheel-name", default="op_extension", metavar="NAME", help="name of the distribution (op_extension)")
    add("--package-version", default="0.1.0", metavar="VERSION", help="version of the distribution (0.1.0)")
    add("--io-contract", type=Path, metavar="FILE", help="contract of operators that have none in their folder")
    add("--operator-build-config", type=Path, metavar="FILE", help="further flags, folders and files for the build, JSON")
    add("--operator-build-config-set", action="append", default=[], metavar="FIELD=JSON", help="one field of it; repeat")
    add("--no-package", action="store_true", help="neither bind nor build")
    add("--no-verify", action="store_true", help="build, and compare nothing: at best 'packaged'")
    add("--profile", choices=(RELEASE, FAST), default=RELEASE, help="fast: compare without making a wheel (release)")
    add(
        "--verify-backend",
        choices=(STANDALONE, WHEEL, BOTH, NONE),
        help="how operators are run: by a program, through the modules of the wheel, both, or not",
    )
    add("--wheel-mode", choices=(NEVER, CACHE, ALWAYS), help="whether a wheel is made")
    add("--build-cache-dir", type=Path, metavar="DIR", help="cache of the build, instead of SKRULES_CACHE")
    add("--jobs", type=int, metavar="N", help="steps at once (all cores)")
    for option in REFUSED:
        add(option, action=_Refuse)


def read(options: argparse.Namespace, environ: Mapping[str, str]) -> PipelineRequest:
    """Return what the options mean. Raises UsageError for what cannot be, ToolchainError for an unknown arch or chip."""
    if not options.asset and not options.asset_root:
        raise UsageError("nothing to work on", hint="--asset PATH, or --asset-root DIR for all operators in a folder")
    if options.clean_output and options.resume_from:
        raise UsageError("--clean-output and --resume-from exclude one another")
    if options.jobs is not None and options.jobs < 1:
        raise UsageError(f"--jobs is {options.jobs}", hint="a whole number from 1")
    if options.duplicate_entry_policy == "namespace":
        raise UsageError(
            "--duplicate-entry-policy namespace is not taken: callers would find an operator under a name that nobody wrote",
            hint="public_entry_name in a contract gives another name, --asset-root-mode separate a package of its own",
        )
    if options.target_cann and not options.target_cann.is_dir():
        raise UsageError(
            f"--target-cann: there is no folder '{options.target_cann}'", hint="the folder of the toolkit, not its version"
        )
    backend, wheel = _verification(options)
    wanted = (
        stages.read_stages(options.stages)
        if options.stages
        else stages.default_stages(profile=options.profile, package=not options.no_package)
    )
    archs, named_by = _archs(options, environ)
    return PipelineRequest(
        assets=tuple(options.asset),
        roots=tuple(options.asset_root),
        root_mode=options.asset_root_mode,
        selected=stages.select(wanted, wheel=wheel),
        output=options.output_dir,
        clean=options.clean_output,
        resume_from=options.resume_from,
        archs=archs,
        archs_named_by=named_by,
        target_chip=options.target_chip,
        toolkit=options.target_cann,
        toolchain=options.toolchain,
        wheel_name=options.aggregate_wheel_name,
        version=options.package_version,
        contract=options.io_contract,
        config=options.operator_build_config,
        overrides=tuple(options.operator_build_config_set),
        profile=options.profile,
        backend=backend,
        compares=backend != NONE,
        wheel=wheel,
        cache=options.build_cache_dir,
        jobs=options.jobs,
    )


def _verification(options: argparse.Namespace) -> tuple[str, bool]:
    """Return the backend that is meant, and whether a wheel is made: the published defaults and exclusions."""
    if options.wheel_mode == ALWAYS:
        raise UsageError(
            "--wheel-mode always is not taken: a wheel is made again when something that it holds has changed",
            hint="--wheel-mode cache",
        )
    default = NEVER if options.profile == FAST or options.no_package else CACHE
    if options.no_package and options.wheel_mode == CACHE:
        raise UsageError("--no-package and --wheel-mode cache exclude one another")
    makes_wheel = (options.wheel_mode or default) == CACHE
    if options.no_verify and options.verify_backend not in (None, NONE):
        raise UsageError(f"--no-verify and --verify-backend {options.verify_backend} exclude one another")
    if options.no_verify:
        return NONE, makes_wheel
    backend = options.verify_backend or (STANDALONE if options.profile == FAST else BOTH)
    if backend == WHEEL and not makes_wheel:
        raise UsageError(
            "--verify-backend wheel has no wheel to verify", hint="--wheel-mode cache, or --verify-backend standalone"
        )
    return (STANDALONE if backend == BOTH and not makes_wheel else backend), makes_wheel


def _archs(options: argparse.Namespace, environ: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    table = load_archs()
    chips = [word.strip() for word in re.split(r"[,;]", options.target_chip) if word.strip()]
    of_chips = tuple(dict.fromkeys(table.arch_of_chip(chip).name for chip in chips))
    if options.npu_arch:
        names = tuple(dict.fromkeys(table.arch(name).name for name in split_names(options.npu_arch)))
        others = [name for name in of_chips if name not in names]
        if others:
            raise UsageError(
                f"--npu-arch {options.npu_arch} leaves out the arch of --target-chip {options.target_chip}: {others[0]}"
            )
        return names, "--npu-arch"
    if chips:
        return of_chips, "--target-chip"
    found = with_archs(read_request((), {}), environ, table)
    return found.archs, found.archs_named_by


def environment_of(request: PipelineRequest, environ: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the build: that of the user, and what options and the build config say."""
    result = {**environ, **more}
    if request.toolkit:
        result["ASCEND_HOME_PATH"] = str(request.toolkit.resolve())
    if request.cache:
        result["SKRULES_CACHE"] = str(request.cache.resolve())
    # The archs are given as ARCH=: what they were read from must not be read a second time.
    for name in ("SK_TARGET_CHIPS", "SK_NPU_ARCHS"):
        result.pop(name, None)
    return result
