"""Rooms stand on floors, and a room uses only what stands below it."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "skrules"
FLOORS = (
    {"errors", "resources", "installed"},
    {"label", "findings", "arch", "sourced_yaml", "engine", "explanations"},
    {"arch_file", "arch_page", "source", "compiled_shapes"},
    {"toolchain", "report", "contract"},
    {"shapes", "remediate", "scaffold"},
    {"adapt"},
    {"binding", "compare", "validate"},
    {"wheel", "aclgraph", "doctor", "hostnpu"},
    {"standalone"},
    {"rules"},
    {"scons", "commands", "pipeline", "cli"},  # on top: what people type
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
ROOMS = sorted(
    {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
)
ROOMS.remove("__init__")


@functools.cache
def _imports(room):
    """Return the modules that a room imports, with the file and line of each."""
    return tuple(_imported(room))


def _imported(room):
    files = [PACKAGE / f"{room}.py"] if (PACKAGE / f"{room}.py").is_file() else sorted((PACKAGE / room).rglob("*.py"))
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            place = f"{file.relative_to(PACKAGE.parent)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [f"skrules.{alias.name}" for alias in node.names] if node.module == "skrules" else [node.module]
                yield from ((name, place) for name in names)
            elif isinstance(node, ast.Import):
                yield from ((alias.name, place) for alias in node.names)


def test_every_room_has_its_floor():
    assert set(ROOMS) == set(FLOOR)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_uses_what_stands_below_it(room):
    for module, place in _imports(room):
        if module.startswith("skrules.") and (used := module.split(".")[1]) != room:
            top = FLOOR[room] == FLOOR[used] == len(FLOORS) - 1
            assert FLOOR[used] < FLOOR[room] or top, f"{place} uses {used}"


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "scons"])
def test_only_one_room_knows_scons(room):
    assert not [place for module, place in _imports(room) if module.split(".")[0] == "SCons"]


def _module(path):
    return ".".join(("skrules", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def _imported_at_once(path, known):
    """Return the modules that importing a module imports: what it names outside of functions, and the packages of these."""
    body = [ast.parse(path.read_text())]
    while body:
        node = body.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            body += node.orelse
            continue
        body += ast.iter_child_nodes(node)
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        for name in names:
            parts = name.split(".")
            yield from (whole for end in range(2, len(parts) + 1) if (whole := ".".join(parts[:end])) in known)


def test_modules_import_one_another_in_one_order():
    """Steps run in threads and import what they need there. Where imports run in a circle, two threads that begin at different
    ends of it wait for one another, and Python then gives one of them a module that is half made."""
    modules = {_module(path): path for path in PACKAGE.rglob("*.py")}
    for package in ("skrules.scons", "skrules.hostnpu"):
        del modules[package]  # what users import, and no step does
    uses = {name: sorted(set(_imported_at_once(path, modules)) - {name}) for name, path in modules.items()}
    done: set[str] = set()

    def visit(name, trail):
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for used in uses[name]:
                visit(used, [*trail, name])
            done.add(name)

    for name in uses:
        visit(name, [])
