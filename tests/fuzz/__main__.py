"""Hand in thousands of damaged files.

    python -m tests.fuzz [--examples 3000] [--seed N] [contracts findings envelopes remediation]

Exit status 1 when one of them had another end than it may have; hypothesis shows the smallest such file that it finds.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence

from tests.fuzz.properties import PROPERTIES, run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Hand in damaged files.")
    parser.add_argument("properties", nargs="*", choices=[*PROPERTIES, []], help="all, if none is named")
    parser.add_argument("--examples", type=int, default=3000, help="of each property (3000)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="default: another each time")
    options = parser.parse_args(arguments)
    wrong = 0
    print(f"seed {options.seed}", flush=True)
    for name in options.properties or PROPERTIES:
        started, counts = time.monotonic(), Counter[str]()
        try:
            run(name, options.examples, options.seed, counts)
        except Exception:
            traceback.print_exc()
            wrong += 1
        told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
        print(f"{name}: {told}; {time.monotonic() - started:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
