"""Measure the build graph.

    python -m tests.bench [--ops 10,100,1000] [--json FILE] [--only SCENARIO] [--rounds N] [--no-peers] [--folder FOLDER]

Exit status 1: some scenario did not carry out exactly the actions that it should. Seconds over a budget are shown only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from skrules.binding.detect import find_torch
from tests.bench.bench import Bench
from tests.bench.measure import Programs
from tests.bench.report import Row, data, table
from tests.bench.scenarios import NAMES


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the build graph, beside others.")
    parser.add_argument("--ops", default="10,100,1000", help="numbers of operators (default: 10,100,1000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("--only", action="append", choices=NAMES, metavar="SCENARIO", help=f"may be repeated: {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many runs counts (default: 3)")
    parser.add_argument("--no-peers", action="store_true", help="skrules alone")
    parser.add_argument("--folder", type=Path, help="keep the workspaces there; default: a temporary folder")
    options = parser.parse_args(arguments)
    if find_torch() is not None:
        print("the bench needs a Python without torch: modules would compile and link, and hide the graph", file=sys.stderr)
        return 2
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="skrules-bench-") as temporary:
        folder = (options.folder or Path(temporary)).absolute()
        programs = Programs(folder / "bin")
        for count in (int(word) for word in options.ops.split(",")):
            bench = Bench(folder / f"ops{count}", count, programs, rounds=max(1, options.rounds), peers=not options.no_peers)
            found = list(bench.run(options.only or NAMES))
            print("\n".join([*table(found, bench.notes), ""]), flush=True)
            rows += found
            if options.json:  # after each size: a bench of many operators takes minutes
                options.json.write_text(json.dumps(data(rows), indent=1) + "\n")
    return 1 if any(row.problems for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
