"""Options of the commands that look at a workspace: where it is, and what of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skrules.rules.place import Place, find_place
from skrules.rules.request import Request, from_folder, read_request

if TYPE_CHECKING:
    from skrules.rules.opening import Opened


def declare_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, metavar="DIR", help="the workspace (the folder above with an SConstruct)")
    parser.add_argument("--packages", metavar="LIST", default="", help="its folders of operators (what the SConstruct says)")
    parser.add_argument("--build", metavar="DIR", default="build", help="its folder of results (build)")


def declare_request(parser: argparse.ArgumentParser) -> None:
    """Labels, and the variables of `scons` that change what is built."""
    parser.add_argument("labels", nargs="*", metavar="LABEL", help="as for scons: ops/add_custom, //ops/...; none: all operators")
    declare_place(parser)
    parser.add_argument("--arch", metavar="LIST", help="archs, separated by commas (all that an operator declares)")
    parser.add_argument("--toolchain", default="auto", metavar="NAME", help="auto, bisheng or host (auto)")


def place_of(options: argparse.Namespace) -> Place:
    packages = tuple(folder for folder in options.packages.split(",") if folder)
    return find_place(Path.cwd(), root=options.root, packages=packages)


def open_place(options: argparse.Namespace, environ: dict[str, str]) -> tuple[Place, Opened]:
    """Return the Actions that the options ask for. Raises UsageError or ToolchainError."""
    from skrules.rules.opening import open_workspace

    place = place_of(options)
    request = _request(options, place.below)
    return place, open_workspace(place.root, place.packages, request, environ, settings=place.settings)


def _request(options: argparse.Namespace, below: str) -> Request:
    variables = {"TOOLCHAIN": options.toolchain, "BUILD": options.build}
    if options.arch is not None:
        variables["ARCH"] = options.arch
    words: Sequence[str] = options.labels
    # Labels are relative to the current folder; without one, everything is meant and not only what lies below it.
    return read_request(from_folder(words, below) if words else (), variables)
