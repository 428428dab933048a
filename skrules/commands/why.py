"""`skrules why`: why the steps of an operator last ran, and why they would run now. Nothing is built."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skrules.commands.place import declare_request, open_place
from skrules.engine.digests import FileDigests
from skrules.engine.explain import Explained, explain
from skrules.engine.journal import Journal
from skrules.engine.runner import StepRunner
from skrules.engine.slots import MemorySlots
from skrules.rules.includes import Undeclared, undeclared_includes
from skrules.rules.request import journal_folder

if TYPE_CHECKING:
    from skrules.rules.opening import Opened


def declare(parser: argparse.ArgumentParser) -> None:
    declare_request(parser)
    parser.add_argument("--output", choices=("text", "json"), default="text", help="text (default), or a list of objects")


def run(options: argparse.Namespace) -> int:
    place, opened = open_place(options, dict(os.environ))
    runner = StepRunner(
        place.root,
        journal=Journal(journal_folder(place.root, opened.context.build)),
        digests=FileDigests(place.root),
        slots=MemorySlots(0),
        say=lambda _text: None,
    )
    labels = _explained(opened, runner)
    sys.stderr.write("".join(f"{note}\n" for note in opened.notes))
    if options.output == "json":
        sys.stdout.write(json.dumps([_record(label, steps, found) for label, steps, found in labels], indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_text(label, steps, found) for label, steps, found in labels))
    return 0


def _explained(opened: Opened, runner: StepRunner) -> list[tuple[str, list[Explained], tuple[Undeclared, ...]]]:
    steps = explain(opened.graph.actions, runner)
    found = []
    for operator in opened.graph.operators:
        label = str(operator.label)
        # What compares was never asked for when it has no record: it is not why a build does anything.
        compares = {action.outputs[0] for compare in operator.compare for action in compare.actions}
        own = [step for step in steps if step.action.label == label and (step.last or step.action.outputs[0] not in compares)]
        read = dict.fromkeys(path for step in own if step.last for path, digest in step.last.found.items() if digest)
        found.append((label, own, undeclared_includes(opened.workspace, label, read)))
    return found


def _text(label: str, steps: Sequence[Explained], undeclared: Sequence[Undeclared]) -> str:
    lines = [label]
    for step in steps:
        action = step.action
        name = " ".join(word for word in (action.mnemonic, action.arch, action.what) if word)
        lines += [f"  {name}: {step.state}", *(f"    {cause}" for cause in step.causes), *_last(step)]
    return "".join(f"{line}\n" for line in [*lines, *(f"  {each}" for each in undeclared)])


def _last(step: Explained) -> Iterator[str]:
    if step.last is None:
        return
    took = f"{step.last.seconds:.1f} s" if step.last.source == "run" else "taken from the cache"
    yield f"    last time ({took}): {'; '.join(step.last.because) or 'not known'}"


def _record(label: str, steps: Sequence[Explained], undeclared: Sequence[Undeclared]) -> dict[str, Any]:
    return {
        "label": label,
        "steps": [
            {
                "mnemonic": step.action.mnemonic,
                "arch": step.action.arch,
                "what": step.action.what,
                "outputs": list(step.action.outputs),
                "state": step.state,
                "causes": [asdict(cause) for cause in step.causes],
                "last": {"because": list(step.last.because), "source": step.last.source, "seconds": step.last.seconds}
                if step.last
                else None,
            }
            for step in steps
        ],
        "undeclared": [{"header": each.header, "package": each.package} for each in undeclared],
    }
