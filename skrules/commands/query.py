"""`skrules query`: what needs what, from the declarations of the workspace. Nothing is built."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from skrules.commands.place import declare_place, place_of
from skrules.engine.query import QueryGraph, run_query
from skrules.rules.request import read_request, refuse_build_folder
from skrules.rules.targets_graph import TargetsGraph, journals_of
from skrules.rules.workspace import load_workspace


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="such as 'rdeps(//ops/..., ops/common/tiling.h)'")
    parser.add_argument("--output", choices=_OUTPUTS, default="label", help="label (default), label_kind, json or graph (DOT)")
    declare_place(parser)


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    build = read_request((), {"BUILD": options.build}).build
    refuse_build_folder(place.root, place.packages, build)
    workspace = load_workspace(place.root, place.packages)
    graph = TargetsGraph(workspace, below=place.below, journals=journals_of(place.root, build))
    names = run_query(options.query, graph)
    sys.stdout.write(_OUTPUTS[options.output](names, graph))
    if not names:
        sys.stderr.write("note: nothing is selected\n")
    return 0


def _labels(names: Sequence[str], graph: QueryGraph) -> str:
    del graph
    return "".join(f"{name}\n" for name in names)


def _labels_and_kinds(names: Sequence[str], graph: QueryGraph) -> str:
    return "".join(f"{graph.node(name).kind} {name}\n" for name in names)


def _json(names: Sequence[str], graph: QueryGraph) -> str:
    import json

    return json.dumps([_record(name, graph) for name in names], indent=2) + "\n"


def _record(name: str, graph: QueryGraph) -> dict[str, Any]:
    node = graph.node(name)
    return {
        "name": node.name,
        "kind": node.kind,
        "at": node.at,
        "attributes": {key: value if isinstance(value, str) else list(value) for key, value in node.attributes.items()},
        "needs": list(graph.needs(name)),
    }


def _dot(names: Sequence[str], graph: QueryGraph) -> str:
    from skrules.engine.dot import Box, render_dot

    selected = set(names)
    boxes = [Box(name=name, lines=(name,), shape="box" if graph.node(name).at else "note") for name in names]
    arrows = [(name, needed, "") for name in names for needed in graph.needs(name) if needed in selected]
    return render_dot("query", boxes, arrows)


_OUTPUTS: dict[str, Callable[[Sequence[str], QueryGraph], str]] = {
    "label": _labels,
    "label_kind": _labels_and_kinds,
    "json": _json,
    "graph": _dot,
}
