"""The compare rule: per arch one program of the shipped kernel object, and one cached verdict.

The program is linked, not compiled, for each operator: the part that runs cases is the same for all of them and is
compiled once per arch.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules import resources
from skrules.arch import Arch
from skrules.engine.action import Action
from skrules.engine.files import write_atomically
from skrules.errors import TestFailure
from skrules.rules.context import Context
from skrules.rules.declaration import Target, reference_of
from skrules.rules.operator import OperatorActions
from skrules.toolchain.base import CompileKernel, Link

_TIMEOUT_S = 600.0
_MEMORY = 150  # MiB: the program, and numpy for the reference; cases of ordinary sizes add little


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareActions:
    """`verdict` exists only after all cases passed; a failed run leaves `failed_verdict` instead, which caches nothing."""

    arch: str
    verdict: str
    failed_verdict: str
    actions: tuple[Action, ...]


def program_actions(archs: Sequence[str], context: Context) -> tuple[Action, ...]:
    """Return the compile of the shared compare program, once per arch."""
    source = str(resources.templates() / "compare" / "runtime_compare.asc")
    actions = []
    for name in archs:
        output = _main_object(name, context)
        request = CompileKernel(
            source=source,
            output=output,
            arch=context.archs.arch(name),
            include_dirs=tuple(str(resources.templates() / folder) for folder in ("compare", "binding")),
        )
        actions.append(
            Action(
                mnemonic="ASC",
                label="//skrules:compare",
                arch=name,
                what="runtime_compare.asc",
                inputs=(),
                outputs=(output,),
                key={
                    **context.toolchain.key(),
                    "template program": context.compare_template_digest,
                    "template headers": context.binding_header_digest,
                },
                command=context.toolchain.compile_kernel(request),
                environment=context.toolchain.environment(),
                launcher=context.toolchain.launcher,
                memory=context.toolchain.memory.kernel,
            )
        )
    return tuple(actions)


def compare_actions(target: Target, arch: str, build: OperatorActions, context: Context) -> CompareActions:
    """Return the link of an operator's compare program and its run for one arch."""
    folder = f"{context.build}/compare/{arch}/{target.label.path}"
    program = _link(target, context.archs.arch(arch), build, f"{folder}/compare", context)
    verdict, failed_verdict = f"{folder}/verdict.json", f"{folder}/verdict.failed.json"
    cases, reference = target.file("cases"), reference_of(target, context.root)
    run = Action(
        mnemonic="COMPARE",
        label=str(target.label),
        arch=arch,
        inputs=(program.outputs[0], cases, *([reference] if reference else []), *context.toolchain.module_inputs(context.build)),
        outputs=(verdict,),
        key={**context.toolchain.key(), "generator": context.compare_digest, "arch": arch, "library": context.numpy},
        roles={program.outputs[0]: "program", cases: "cases", reference: "reference"},
        environment=context.toolchain.device_environment(context.archs.arch(arch)),
        run=_runner(target, arch, program.outputs[0], (verdict, failed_verdict), reference, context),
        memory=_MEMORY,
    )
    return CompareActions(arch=arch, verdict=verdict, failed_verdict=failed_verdict, actions=(program, run))


def _main_object(arch: str, context: Context) -> str:
    return f"{context.build}/obj/{arch}/runtime_compare.o"


def _link(target: Target, arch: Arch, build: OperatorActions, output: str, context: Context) -> Action:
    objects = build.objects_of[arch.name]
    depth = output.removeprefix(f"{context.build}/").count("/")
    support = context.toolchain.module_inputs(context.build)
    request = Link(
        kind="program",
        inputs=(*objects, build.generated.descriptor, _main_object(arch.name, context)),
        output=output,
        arch=arch,
        rpath_origin=("../" * depth + "lib",),
        include_dirs=(str(resources.templates() / "binding"),),
    )
    return Action(
        mnemonic="LINK",
        label=str(target.label),
        arch=arch.name,
        what="compare",
        inputs=(*request.inputs, *support),
        outputs=(output,),
        key={**context.toolchain.key(), "template headers": context.binding_header_digest},
        command=context.toolchain.link(request),
        environment=context.toolchain.environment(),
        memory=context.toolchain.memory.link,
    )


def _runner(
    target: Target, arch: str, program: str, verdicts: tuple[str, str], reference: str, context: Context
) -> Callable[[Path], None]:
    label, cases_path = str(target.label), target.file("cases")
    environment = context.toolchain.device_environment(context.archs.arch(arch))

    def run(root: Path) -> None:
        # Numpy costs more to import than a build in which nothing is to do.
        from skrules.compare.cases import load_cases
        from skrules.compare.report import detail, human_lines, to_json
        from skrules.compare.runner import run_compare
        from skrules.compare.subject import describe_program
        from skrules.compare.verdict import Status

        passed, failed = (root / path for path in verdicts)
        for path in (passed, failed):
            path.unlink(missing_ok=True)
        interrupted = context.interrupted
        entries = describe_program(root / program, environment, label=label, name=program, interrupted=interrupted)
        work = passed.parent / "work"
        verdict = run_compare(
            root / program,
            work,
            label,
            arch,
            entries,
            load_cases((root / cases_path).read_bytes(), cases_path, entries),
            root / reference if reference else None,
            environment,
            _TIMEOUT_S,
            reference_name=reference,
            program_name=program,
            interrupted=interrupted,
        )
        good = verdict.status is Status.PASSED
        text = json.dumps({**to_json(verdict), "summary": detail(verdict)}, indent=2, sort_keys=True) + "\n"
        write_atomically(passed if good else failed, text.encode())
        if not good:
            _, *lines = human_lines(verdict)
            notes = [line.strip() for line in lines]
            raise TestFailure(f"{label} {arch}: {verdict.status}", notes=notes, hint=f"all figures are in {verdicts[1]}")
        # Inputs and outputs of every case are large, and of no use once they agree.
        shutil.rmtree(work, ignore_errors=True)

    return run
