"""Directed graphs in the language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """`lines` are shown below one another; `group` boxes are drawn within one frame with that title."""

    name: str
    lines: Sequence[str]
    shape: str = "box"
    group: str = ""


def render_dot(title: str, boxes: Iterable[Box], arrows: Iterable[tuple[str, str, str]]) -> str:
    """Return the text of a graph. `arrows` are (from, to, words beside the arrow)."""
    lines = [f"digraph {_quoted(title)} {{", *_STYLE]
    groups: dict[str, list[Box]] = {}
    for box in boxes:
        groups.setdefault(box.group, []).append(box)
    for number, (group, members) in enumerate(groups.items()):
        indent = "  "
        if group:
            lines += [f"  subgraph {_quoted(f'cluster_{number}')} {{", f"    label={_quoted(group)};"]
            indent = "    "
        lines += [f"{indent}{_quoted(box.name)} {_attributes(_look(box))};" for box in members]
        if group:
            lines.append("  }")
    for start, end, words in arrows:
        lines.append(f"  {_quoted(start)} -> {_quoted(end)}{' ' + _attributes({'label': _quoted(words)}) if words else ''};")
    return "\n".join([*lines, "}", ""])


_STYLE = (
    "  rankdir=LR;",
    '  fontname="sans-serif";',
    '  node [fontname="sans-serif", fontsize=11];',
    '  edge [fontname="sans-serif", fontsize=9];',
)


def _look(box: Box) -> Mapping[str, str]:
    return {"shape": box.shape, "label": _quoted("\n".join(box.lines))}


def _attributes(values: Mapping[str, str]) -> str:
    return f"[{', '.join(f'{name}={value}' for name, value in values.items())}]"


def _quoted(text: str) -> str:
    # Not only the quote: a backslash begins an escape in labels, and a line end is one.
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
