"""The codegen step of an operator: where its generated files lie and what they depend on.

What it does, and all that reads and writes AscendC, is imported when it is done (see `skrules.rules.generation`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skrules.binding.package import table_name
from skrules.engine.action import Action
from skrules.rules.context import Context
from skrules.rules.declaration import Target
from skrules.rules.validate import Validation

MNEMONIC = "ADAPT"

#: The Python package of a build, below its folder: modules, and what tells of them.
PACKAGE = "op_extension"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedSource:
    """Where one source's generated files lie, relative to the workspace. `options` is a response file of compiler flags."""

    source: str
    adapted: str
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """`table` tells the package of the operator's entries; "" without torch, which reads it."""

    sources: tuple[GeneratedSource, ...]
    descriptor: str
    table: str
    action: Action


def codegen(target: Target, context: Context) -> Generated:
    """Return the one codegen Action of an operator and the paths of what it writes."""
    folder = f"{context.build}/gen/{target.label.path}"
    depfile = f"{folder}/codegen.d"
    sources = tuple(_place(source, target, folder) for source in target.strings("srcs"))
    descriptor = f"{folder}/descriptor.cpp"
    table = f"{context.build}/{PACKAGE}/{table_name(target.label.name)}" if context.torch else ""
    contract = target.file("contract")
    action = Action(
        mnemonic=MNEMONIC,
        label=str(target.label),
        what=" ".join(PurePosixPath(source).name for source in target.strings("srcs")),
        inputs=(*target.strings("srcs"), *([contract] if contract else []), *context.validation.inputs),
        outputs=(
            *(path for source in sources for path in (source.adapted, source.options)),
            descriptor,
            *([table] if table else []),
        ),
        # Where headers are looked for, and what macros are defined, decides what is read and what is found; rules speak of
        # what the operator is meant for.
        key={
            **context.codegen_key,
            "flags": " ".join(declared_options(target)),
            "rules": " ".join((context.validation.key, *target.strings("archs"))),
        },
        run=functools.partial(_run, target, sources, context.validation, descriptor, table, depfile),
        depfile=depfile,
        search=(*_beside(sources), *declared_options(target), *(f"@{source.options}" for source in sources)),
        roles={**dict.fromkeys(target.strings("srcs"), "source"), contract: "contract"},
    )
    return Generated(sources=sources, descriptor=descriptor, table=table, action=action)


def declared_options(target: Target) -> list[str]:
    return [*(f"-D{word}" for word in target.strings("defines")), *target.strings("options")]


def _place(source: str, target: Target, folder: str) -> GeneratedSource:
    inside = PurePosixPath(source).relative_to(target.label.package).as_posix()
    adapted = f"{folder}/{inside}" if inside.endswith(".asc") else f"{folder}/{inside}.asc"
    return GeneratedSource(source=source, adapted=adapted, options=f"{adapted}.rsp")


def _beside(sources: Sequence[GeneratedSource]) -> list[str]:
    """Say in a compiler's words that headers are looked for beside the sources, whatever lies there now."""
    folders = dict.fromkeys(PurePosixPath(source.source).parent.as_posix() for source in sources)
    return [word for folder in folders for word in ("-iquote", folder)]


def _run(
    target: Target,
    sources: Sequence[GeneratedSource],
    validation: Validation,
    descriptor: str,
    table: str,
    depfile: str,
    root: Path,
) -> None:
    from skrules.rules.generation import write_operator

    write_operator(root, target, sources, validation=validation, descriptor=descriptor, table=table, depfile=depfile)
