"""The operator rule: codegen once, then per arch one kernel compile for each source and one link."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skrules import resources
from skrules.arch import Arch
from skrules.binding.detect import TorchInfo
from skrules.binding.package import module_name, package_files, package_paths
from skrules.binding.runtime import runtime_request
from skrules.engine.action import Action
from skrules.engine.files import write_if_changed
from skrules.rules.codegen import PACKAGE, Generated, codegen, declared_options
from skrules.rules.context import Context
from skrules.rules.declaration import Target
from skrules.toolchain.base import CompileKernel, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorActions:
    """`objects` has the kernel objects of all archs, `objects_of` those of one; `modules_of` is empty without torch, and
    `package` has the files that are imported with them."""

    generated: Generated
    actions: tuple[Action, ...]
    objects_of: dict[str, tuple[str, ...]]
    modules_of: dict[str, str]
    package: tuple[str, ...]

    @property
    def results(self) -> tuple[str, ...]:
        """What a plain build makes: importable modules, or kernel objects where there is no torch to bind to."""
        return (*self.modules_of.values(), *self.package) if self.modules_of else self.objects

    @property
    def objects(self) -> tuple[str, ...]:
        return tuple(path for paths in self.objects_of.values() for path in paths)


def operator_actions(target: Target, archs: Sequence[str], context: Context) -> OperatorActions:
    """Return the Actions that build an operator for `archs`."""
    generated = codegen(target, context)
    actions = [generated.action]
    objects: dict[str, tuple[str, ...]] = {}
    modules: dict[str, str] = {}
    for name in archs:
        arch = context.archs.arch(name)
        compiles = _compile(target, generated, arch, context)
        objects[name] = tuple(action.outputs[0] for action in compiles)
        actions += compiles
        if context.torch is not None:
            link = _link(target, generated, objects[name], arch, context)
            actions.append(link)
            modules[name] = link.outputs[0]
    return OperatorActions(
        generated=generated,
        actions=tuple(actions),
        objects_of=objects,
        modules_of=modules,
        package=(generated.table, *_package_paths(context)) if context.torch else (),
    )


def runtime_actions(archs: Sequence[str], context: Context) -> tuple[Action, ...]:
    """Return the Actions whose results all operators share: the toolchain's support, the binding runtime, the package."""
    support = context.toolchain.support(tuple(context.archs.arch(name) for name in archs), context.build)
    if context.torch is None:
        return support
    return (*support, runtime_request(context.torch, context.toolchain, context.build).action, _package(context.torch, context))


def _package_paths(context: Context) -> tuple[str, ...]:
    return tuple(f"{context.build}/{PACKAGE}/{path}" for path in package_paths())


def _package(torch: TorchInfo, context: Context) -> Action:
    texts = package_files(context.toolchain.name, torch=torch, key=context.toolchain.key(), archs=context.archs)
    outputs = _package_paths(context)
    digest = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()

    def run(root: Path) -> None:
        for output, text in zip(outputs, texts.values(), strict=True):
            write_if_changed(root / output, text.encode())

    return Action(
        mnemonic="PACKAGE",
        label="//skrules:package",
        what=PACKAGE,
        inputs=(),
        outputs=outputs,
        key={"text": digest},
        run=run,
    )


def _compile(target: Target, generated: Generated, arch: Arch, context: Context) -> list[Action]:
    folder = f"{context.build}/obj/{arch.name}/{target.label.path}"
    actions = []
    for source in generated.sources:
        stem = source.adapted.removeprefix(f"{context.build}/gen/{target.label.path}/").removesuffix(".asc")
        output, depfile = f"{folder}/{stem}.o", f"{folder}/{stem}.d"
        request = CompileKernel(
            source=source.adapted,
            output=output,
            depfile=depfile,
            arch=arch,
            quote_dirs=(source.source.rpartition("/")[0] or ".",),
            include_dirs=(str(resources.templates() / "binding"),),
            defines=target.strings("defines"),
            options=(f"@{source.options}", *target.strings("options")),
        )
        actions.append(
            Action(
                mnemonic="ASC",
                label=str(target.label),
                arch=arch.name,
                what=source.source.rpartition("/")[2],
                inputs=(source.adapted, source.options),
                outputs=(output,),
                key={
                    **context.toolchain.key(),
                    "template headers": context.binding_header_digest,
                    "flags": " ".join(declared_options(target)),
                },
                roles={source.adapted: "generated", source.options: "options"},
                command=context.toolchain.compile_kernel(request),
                depfile=depfile,
                environment=context.toolchain.environment(),
                launcher=context.toolchain.launcher,
                memory=context.toolchain.memory.kernel,
            )
        )
    return actions


def _link(target: Target, generated: Generated, objects: Sequence[str], arch: Arch, context: Context) -> Action:
    assert context.torch is not None
    runtime = runtime_request(context.torch, context.toolchain, context.build)
    support = context.toolchain.module_inputs(context.build)
    module = module_name(target.label.name, arch.name)
    output = f"{context.build}/{PACKAGE}/{module}.so"
    request = Link(
        kind="module",
        inputs=(*objects, generated.descriptor, runtime.output),
        output=output,
        arch=arch,
        library_dirs=runtime.library_dirs,
        libraries=runtime.libraries,
        # In a wheel what modules share lies in their package, and nothing outside of it is theirs.
        rpath_origin=("lib", "../lib"),
        include_dirs=(str(resources.templates() / "binding"),),
        defines=(f"SKRULES_MODULE={module}", f"SKRULES_ARCH={arch.name}", f"SKRULES_TOOLCHAIN={context.toolchain.name}"),
    )
    return Action(
        mnemonic="LINK",
        label=str(target.label),
        arch=arch.name,
        what=f"{module}.so",
        inputs=(*objects, generated.descriptor, runtime.output, *support),
        outputs=(output,),
        key={**context.toolchain.key(), "template headers": context.binding_header_digest},
        roles={**dict.fromkeys(objects, "object"), generated.descriptor: "descriptor", runtime.output: "torch"},
        command=context.toolchain.link(request),
        environment=context.toolchain.environment(),
        memory=context.toolchain.memory.link,
    )
