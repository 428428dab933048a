"""The compare rule: per arch one program of the shipped kernel object, and one cached verdict.

The program is linked, not compiled, for each operator: the part that runs cases is the same for all of them and is
compiled once per arch.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skrules import resources
from skrules.arch import Arch
from skrules.engine.action import Action
from skrules.engine.files import write_atomically
from skrules.errors import TestFailure, ToolchainError
from skrules.rules.context import Context
from skrules.rules.declaration import Target, reference_of
from skrules.rules.operator import OperatorActions
from skrules.toolchain.base import CompileKernel, Link
from skrules.toolchain.fingerprint import digest_tree

_TIMEOUT_S = 600.0
_MEMORY = 150  # MiB: the program, and numpy for the reference; cases of ordinary sizes add little
_TORCH_MEMORY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """What launches the cases: the compare program, or calls through torch. `key` is what their results depend on besides."""

    through_torch: bool = False
    folder: str = "compare"
    key: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareActions:
    """`verdict` exists only after all cases passed; a failed run leaves `failed_verdict` instead, which caches nothing."""

    arch: str
    verdict: str
    failed_verdict: str
    actions: tuple[Action, ...]


def find_backend(name: str, context: Context) -> Backend:
    """Return the backend "program" or "torch". Raises ToolchainError where no operator can be called through torch."""
    if name != "torch":
        return Backend()
    if context.toolchain.name != "host":
        raise ToolchainError(
            f"BACKEND=torch compares on the emulated npu, and {context.toolchain.name} builds for a device", hint="TOOLCHAIN=host"
        )
    if context.torch is None:
        raise ToolchainError(
            "BACKEND=torch calls operators through PyTorch, and there is none in this Python",
            hint="pip install torch==2.13.0; without BACKEND, scons compares with a program of its own",
        )
    npu = digest_tree(resources.package(), ("hostnpu/*.py",)) + digest_tree(resources.toolchains() / "host" / "npu")
    return Backend(through_torch=True, folder="compare-torch", key={"torch": f"{context.torch.version}", "npu": npu})


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


def compare_actions(target: Target, arch: str, build: OperatorActions, context: Context, backend: Backend) -> CompareActions:
    """Return the link of an operator's compare program, and the run of its cases for one arch.

    Calls through torch need the program too: it knows the types of parameters, which the source alone does not show.
    """
    place = f"{arch}/{target.label.path}"
    program = _link(target, context.archs.arch(arch), build, f"{context.build}/compare/{place}/compare", context)
    folder = f"{context.build}/{backend.folder}/{place}"
    verdict, failed_verdict = f"{folder}/verdict.json", f"{folder}/verdict.failed.json"
    cases, reference = target.file("cases"), reference_of(target, context.root)
    called = (build.modules_of[arch], *build.package) if backend.through_torch else ()
    run = Action(
        mnemonic="COMPARE",
        label=str(target.label),
        arch=arch,
        inputs=(
            program.outputs[0],
            cases,
            *([reference] if reference else []),
            *called,
            *context.toolchain.module_inputs(context.build),
        ),
        outputs=(verdict,),
        key={
            **context.toolchain.key(),
            **backend.key,
            "generator": context.compare_digest,
            "arch": arch,
            "library": context.numpy,
        },
        roles={program.outputs[0]: "program", cases: "cases", reference: "reference"},
        environment=context.toolchain.device_environment(context.archs.arch(arch)),
        run=_runner(target, arch, program.outputs[0], (verdict, failed_verdict), reference, context, backend),
        memory=_TORCH_MEMORY if backend.through_torch else _MEMORY,
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
    target: Target, arch: str, program: str, verdicts: tuple[str, str], reference: str, context: Context, backend: Backend
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
            _torch_environment(environment, root / context.build, arch) if backend.through_torch else environment,
            _TIMEOUT_S,
            reference_name=reference,
            program_name=program,
            through_torch=backend.through_torch,
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


def _torch_environment(environment: Mapping[str, str], build: Path, arch: str) -> dict[str, str]:
    """Return the environment of a Python that finds what this one does, and the package of `build` before all."""
    return {
        **os.environ,
        **environment,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(build), os.environ.get("PYTHONPATH", "")))),
        "SK_ACLGRAPH_NPU_ARCH": arch,
        # Where torch_npu is installed, it is for its headers.
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
