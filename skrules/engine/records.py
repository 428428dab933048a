"""Action records for people and other programs: as data, as text, as a drawing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from skrules.engine.action import Action
from skrules.engine.dot import Box, render_dot


def record_of(action: Action) -> dict[str, Any]:
    """Return an Action as plain data. The names are stable; `runs` is "command" or, for a step in Python, "function"."""
    return {
        "mnemonic": action.mnemonic,
        "label": action.label,
        "arch": action.arch,
        "what": action.what,
        "inputs": list(action.inputs),
        "outputs": list(action.outputs),
        "depfile": action.depfile,
        "runs": "command" if action.command else "function",
        "commands": [list(words) for words in action.command],
        "environment": dict(sorted(action.environment.items())),
        "key": dict(sorted(action.key.items())),
        "digest": action.digest(),
    }


def text_of(action: Action) -> str:
    """Return an Action as text; its commands can be pasted into a shell in the root of the workspace."""
    lines = [" ".join(word for word in ("action", action.mnemonic, action.label, action.arch, action.what) if word)]
    for title, items in (("inputs", action.inputs), ("outputs", action.outputs)):
        if items:
            lines += [f"  {title}:", *(f"    {item}" for item in items)]
    if action.depfile:
        lines.append(f"  depfile: {action.depfile}")
    for title, values in (("key", action.key), ("environment", action.environment)):
        if values:
            lines += [f"  {title}:", *(f"    {name}: {value}" for name, value in sorted(values.items()))]
    lines += ["  command:", *(f"    {shlex.join(words)}" for words in action.command)] if action.command else ["  runs in Python"]
    return "\n".join([*lines, ""])


def draw_actions(title: str, actions: Sequence[Action]) -> str:
    """Return a drawing in DOT: a box for each Action, an arrow for the files that one makes and another reads.

    Files that no Action makes are drawn as notes. Actions of one label and arch stand in one frame.
    """
    made_by = {output: action for action in actions for output in action.outputs}
    boxes = [_box(action) for action in actions]
    files: dict[str, Box] = {}
    arrows: dict[tuple[str, str], list[str]] = {}
    for action in actions:
        for path in action.inputs:
            if path in made_by:
                arrows.setdefault((made_by[path].outputs[0], action.outputs[0]), []).append(path.rpartition("/")[2])
            else:
                files.setdefault(path, Box(name=path, lines=(path,), shape="note"))
                arrows.setdefault((path, action.outputs[0]), [])
    return render_dot(
        title, [*files.values(), *boxes], [(start, end, "\n".join(names)) for (start, end), names in arrows.items()]
    )


def _box(action: Action) -> Box:
    lines = [line for line in (action.mnemonic, action.what) if line]
    return Box(name=action.outputs[0], lines=lines, group=f"{action.label} {action.arch}".rstrip())
