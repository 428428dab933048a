"""Disturb builds at random and compare what comes out with clean builds.

    python -m tests.rounds [--rounds 200] [--seed N] [--folder FOLDER] [--quiet]

Exit status 1 when a round ended in another way than a clean build does. Its seed and its number repeat what was chosen, but
not the moments at which processes were hit.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.rounds.rounds import Rounds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.rounds", description="Disturb builds at random.")
    parser.add_argument("--rounds", type=int, default=200, help="default: 200")
    parser.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="default: another one each time"
    )
    parser.add_argument("--folder", type=Path, help="keep everything there, to be looked at; must not exist")
    parser.add_argument("--quiet", action="store_true", help="tell of what is wrong only")
    options = parser.parse_args(arguments)
    started, wrong = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="skrules-rounds-") as temporary:
        folder = options.folder or Path(temporary) / "rounds"
        rounds = Rounds(folder.absolute(), options.seed)
        print(f"seed {options.seed}", flush=True)
        for number in range(1, options.rounds + 1):
            done = list(rounds.run(number))
            failed = [line for line in done if line.startswith("WRONG")]
            wrong += bool(failed)
            if failed or not options.quiet:
                print(f"round {number}: {'; '.join(line for line in done if line not in failed)}", flush=True)
            for line in failed:
                print(line, flush=True)
            if failed and options.folder:
                break  # as it is, to be looked at
    counts = ", ".join(f"{name} {count}" for name, count in sorted(rounds.counts.items()))
    print(f"{number} rounds, {wrong} wrong, {time.monotonic() - started:.0f} s; {counts}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
