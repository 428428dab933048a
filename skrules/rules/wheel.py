"""The wheel rule: the one step that writes a wheel, of all that a plain build of its operators makes."""

from __future__ import annotations

import hashlib
import json
import posixpath
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skrules import installed, resources
from skrules.binding.descriptor import entries_of
from skrules.binding.detect import TorchInfo, find_torch
from skrules.binding.runtime import runtime_flags
from skrules.engine.action import Action
from skrules.engine.files import write_atomically
from skrules.errors import BuildError, Location, SkrulesError, ToolchainError, UsageError
from skrules.label import Label
from skrules.rules.codegen import PACKAGE
from skrules.rules.context import Context
from skrules.rules.operator import OperatorActions
from skrules.rules.request import Request
from skrules.rules.wheel_plan import WheelPlan
from skrules.toolchain.fingerprint import digest_tree
from skrules.wheel import distribution as naming
from skrules.wheel.archive import Part, pack
from skrules.wheel.built_with import FILE_NAME, Operator, render_built_with
from skrules.wheel.distribution import Distribution, render_metadata, render_wheel
from skrules.wheel.verify import verify

_LICENCES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One operator of a wheel with the Actions that build it for `archs`."""

    label: Label
    archs: tuple[str, ...]
    build: OperatorActions


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelActions:
    label: str
    output: str
    action: Action


def wheel_actions(
    plans: Sequence[WheelPlan], members: Mapping[Label, Member], request: Request, context: Context
) -> tuple[WheelActions, ...]:
    """Return the step that writes each wheel; `members` are the operators that are built, for whichever archs.

    Raises ToolchainError where no Python modules can be built, and UsageError for two wheels of one distribution.
    """
    if not plans:
        return ()
    torch = _require_torch(context)
    found: dict[str, WheelPlan] = {}
    made = []
    for plan in plans:
        try:
            distribution, licences = _distribution(plan, members, request, torch, context)
        except SkrulesError as error:
            raise type(error)(error.message, at=plan.at or error.at, allowed=error.allowed, hint=error.hint) from error
        name = distribution.stem.partition("-")[0]
        first = found.setdefault(name, plan)
        if first is not plan:
            raise UsageError(
                f"{plan.label} and {first.label} are both called '{distribution.name}'",
                at=plan.at,
                notes=[f"first at {first.at}"],
                hint="distribution= gives a name of its own",
            )
        made.append(_wheel(plan, distribution, licences, members, torch, context))
    return tuple(made)


def _require_torch(context: Context) -> TorchInfo:
    if context.torch is not None:
        return context.torch
    found = find_torch()
    if found is not None:
        runtime_flags(found, context.toolchain.name)  # says what is wrong with it
    raise ToolchainError(
        "a wheel holds Python modules for PyTorch, and there is none in this Python",
        hint="pip install torch, of the version that the wheel is for; without 'wheel', scons builds and compares kernels alone",
    )


def _members_of(plan: WheelPlan, members: Mapping[Label, Member]) -> tuple[Member, ...]:
    return tuple(members[target.label] for target in plan.operators if target.label in members)


def _distribution(
    plan: WheelPlan, members: Mapping[Label, Member], request: Request, torch: TorchInfo, context: Context
) -> tuple[Distribution, tuple[str, ...]]:
    target = plan.target
    text = target.string if target else lambda _name: ""
    inside = _members_of(plan, members)
    if not inside:
        raise UsageError(f"{plan.label}: none of its operators is built for {', '.join(request.archs)}")
    emulated = context.toolchain.name == "host"
    licences = (target.strings("license_files") if target else ()) or _licences(context.root)
    summary = text("description") or "AscendC operators for PyTorch"
    naming.read_package(text("package") or PACKAGE)
    distribution = Distribution(
        name=naming.read_name(
            request.wheel_name or text("distribution") or (target.label.name if target else naming.DEFAULT_NAME)
        ),
        version=naming.read_version(request.wheel_version or text("version") or naming.DEFAULT_VERSION, emulated=emulated),
        tag=naming.tag_of(torch.python_abi),
        summary=f"{summary} (emulated on the CPU, not for a device)" if emulated else summary,
        description="" if text("readme") else _contents(inside, context.toolchain.name, torch),
        keywords=tuple(sorted({arch for member in inside for arch in member.archs})),
        license=naming.read_license(text("license")) if text("license") else "",
        license_files=licences,
        requires=naming.read_requirements(target.strings("requires") if target else (), _needed(torch, context)),
        requires_python=naming.read_python(text("python_requires")) if text("python_requires") else "",
    )
    return distribution, licences


def _needed(torch: TorchInfo, context: Context) -> tuple[str, ...]:
    """Modules are made for one release of torch: its C++ interface is its own in each."""
    needed = [f"torch=={_release(torch.version)}"]
    if torch.npu is not None and context.toolchain.name != "host":
        needed.append(f"torch-npu=={_release(torch.npu.version)}")
    return tuple(needed)


def _release(version: str) -> str:
    return version.partition("+")[0]


def _licences(root: Path) -> tuple[str, ...]:
    found = {path.name for pattern in _LICENCES for path in root.glob(pattern) if path.is_file()}
    return tuple(sorted(found))


def _contents(members: Sequence[Member], toolchain: str, torch: TorchInfo) -> str:
    lines = ["| operator | archs |", "| --- | --- |"]
    lines += [f"| {member.label.name} | {', '.join(member.archs)} |" for member in members]
    built = f"Built by skrules with its {toolchain} toolchain for torch {torch.version}, Python {torch.python_version}."
    note = (
        "\n**Emulated: these modules run on the CPU. No result of theirs is a device result.**\n" if toolchain == "host" else ""
    )
    return "\n".join([*lines, "", built, note]).rstrip() + "\n"


def _wheel(
    plan: WheelPlan,
    distribution: Distribution,
    licences: tuple[str, ...],
    members: Mapping[Label, Member],
    torch: TorchInfo,
    context: Context,
) -> WheelActions:
    inside = _members_of(plan, members)
    package = (plan.target.string("package") if plan.target else "") or PACKAGE
    readme = plan.target.file("readme") if plan.target else ""
    output = f"{context.build}/dist/{distribution.file_name}"
    built = f"{context.build}/{PACKAGE}/"
    # Where each file of the build stands in the wheel, and whose it is. All that a plain build makes importable goes in.
    places = {
        path: (f"{package}/{path.removeprefix(built)}", str(member.label)) for member in inside for path in member.build.results
    }
    for path in context.toolchain.module_inputs(context.build):
        places[path] = (f"{package}/lib/{posixpath.basename(path)}", "//toolchain")
    for path in licences:
        places[path] = (f"{distribution.dist_info}/licenses/{path}", plan.label)
    descriptors = {member.build.generated.descriptor: member for member in inside}
    generator = f"skrules {installed.version('skrules')}"
    key = context.toolchain.key()

    def run(root: Path) -> None:
        operators = _operators(root, descriptors)
        made = [
            Part(path=at, data=(root / path).read_bytes(), origin=f"{path} of {whose}") for path, (at, whose) in places.items()
        ]
        digests = {
            posixpath.basename(part.path): hashlib.sha256(part.data).hexdigest()
            for part in made
            if part.path.endswith(".so") and posixpath.dirname(part.path) == package
        }
        record = render_built_with(
            operators, toolchain=context.toolchain.name, key=key, torch=torch, generator=generator, digests=digests
        )
        described = distribution
        if readme:
            described = replace(distribution, description=_text(root, readme))
        own = {
            f"{package}/{FILE_NAME}": record,
            f"{distribution.dist_info}/METADATA": render_metadata(described),
            f"{distribution.dist_info}/WHEEL": render_wheel(distribution, generator),
        }
        parts = [
            *made,
            *(Part(path=at, data=text.encode(), origin=f"written for {plan.label}") for at, text in own.items()),
        ]
        data = pack(parts, dist_info=distribution.dist_info, epoch=plan.epoch)
        problems = verify(data, distribution.file_name, private=(f"{root}/", f"{torch.root}/"))
        if problems:
            raise BuildError(
                f"{plan.label}: the wheel is not what it should be", at=plan.at, notes=problems, hint=_hint(problems)
            )
        _remove_others(root / output, distribution)
        write_atomically(root / output, data)

    inputs = tuple(dict.fromkeys([*places, *descriptors, *([readme] if readme else [])]))
    action = Action(
        mnemonic="WHEEL",
        label=plan.label,
        what=distribution.file_name,
        inputs=inputs,
        outputs=(output,),
        key={
            **key,
            "generator": digest_tree(resources.package(), ("wheel/*.py", "rules/wheel.py", "errors.py")),
            "library": f"packaging {installed.version('packaging')} zlib {zlib.ZLIB_RUNTIME_VERSION}",
            "version": distribution.version,
            "metadata": json.dumps([render_metadata(distribution), render_wheel(distribution, generator), package]),
            "torch": f"{torch.version} {torch.cxx11_abi} {torch.npu.version if torch.npu else ''}",
            "time": str(plan.epoch),
        },
        roles={path: "module" for path in places if path.endswith(".so")},
        run=run,
    )
    return WheelActions(label=plan.label, output=output, action=action)


def _hint(problems: Sequence[str]) -> str:
    told = any("holds the path" in problem for problem in problems)
    return "debug information has such paths: bisheng leaves them out with -fdebug-compilation-dir=." if told else ""


def _operators(root: Path, descriptors: Mapping[str, Member]) -> tuple[Operator, ...]:
    """Read the entries of all operators. Raises UsageError for a name that two of them have."""
    operators = []
    owners: dict[str, Label] = {}
    for path, member in descriptors.items():
        entries = entries_of(_text(root, path))
        for entry in entries:
            first = owners.setdefault(entry, member.label)
            if first != member.label:
                raise UsageError(
                    f"two operators of the wheel have an entry '{entry}': {first} and {member.label}",
                    hint=f"torch.ops.ascendc_ops.{entry} names one of them: rename the kernel, or make two wheels",
                )
        operators.append(Operator(name=member.label.name, archs=member.archs, entries=entries))
    return tuple(operators)


def _text(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the file is not UTF-8", at=Location(file=path)) from error


def _remove_others(path: Path, distribution: Distribution) -> None:
    """Remove what this step made for other versions: nothing would build it again, and `pip install dist/*` would take it."""
    name = distribution.stem.partition("-")[0]
    for other in path.parent.glob(f"{name}-*.whl"):
        if other != path:
            other.unlink(missing_ok=True)
