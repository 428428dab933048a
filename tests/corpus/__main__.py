"""Read, adapt and check every file of a corpus of real kernels.

    python -m tests.corpus FOLDER expected.jsonl [--headers] [--include DIR] [--check-compile N] [--every N] [--json FILE]

FOLDER holds checkouts; a file counts when its sha256 is among the expectations. With --headers, what a file includes is read
from its checkout, as a build reads the headers of its workspace: beside the including file, and in each DIR that its build
system names. Exit status 0: nothing that completes is wrong, nothing crashed, and whatever is not read as expected has a
finding.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.corpus.check import Job, check_file
from tests.corpus.headers import Headers, checkout_of
from tests.corpus.records import find_files, load_expected
from tests.corpus.report import lines, summarise


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description="Read, adapt and check real kernel files.")
    parser.add_argument("folder", type=Path, help="public checkouts, side by side")
    parser.add_argument("expected", type=Path, help="expected.jsonl")
    parser.add_argument("--headers", action="store_true", help="read the headers that files include from their checkouts")
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="DIR",
        help="look for headers in this folder of each checkout too; implies --headers",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument(
        "--check-compile", type=int, default=100, metavar="N", help="compile about N files; -1: all (default: 100)"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th file")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose name has TEXT")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there too")
    options = parser.parse_args(arguments)
    found = [pair for pair in find_files(options.folder, load_expected(options.expected)) if options.only in pair[1].name]
    found = found[:: options.every]
    reads_headers = options.headers or bool(options.include)
    step = 1 if options.check_compile < 0 else max(1, len(found) // options.check_compile) if options.check_compile else 0
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(options.jobs) as pool:
        jobs = [
            Job(
                path=path,
                expected=expected,
                compiles=bool(step) and index % step == 0,
                scratch=Path(scratch),
                headers=Headers(checkout_of(path, options.folder), tuple(options.include)) if reads_headers else None,
            )
            for index, (path, expected) in enumerate(found)
        ]
        summary = summarise(list(pool.map(check_file, jobs, chunksize=4)))
    print("\n".join(lines(summary)))
    if options.json:
        options.json.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    return 1 if summary["wrong"] or summary["crashes"] else 0


if __name__ == "__main__":
    sys.exit(main())
