# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares random graphs with two references.

    python -m test.conformance.random_graphs --count 10000

prints each graph of which MACE's result is wrong, with the seed that draws it again,
and keeps it in build/random_graphs. Needs the library that
`bash tools/build-standalone-lib.sh -abi=host` builds.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections import Counter
from pathlib import Path

from test.conformance.random_graphs.apart import judge_apart
from test.conformance.random_graphs.judge import Verdict

_KEPT = Path(__file__).resolve().parents[3] / "build" / "random_graphs"
_EVERY = 100


def main() -> int:
    """Returns 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="of graphs")
    parser.add_argument("--seed", type=int, help="default: another one each time")
    parser.add_argument("--only", type=int, help="the number of one graph of the seed")
    parser.add_argument("--verbose", action="store_true", help="print every graph")
    options = parser.parse_args()
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    numbers = range(options.count) if options.only is None else [options.only]
    print(f"--seed {seed}", flush=True)
    found: Counter[str] = Counter()
    for done, result in enumerate(judge_apart(seed, numbers, _KEPT), 1):
        found[result.verdict.value] += 1
        if result.verdict is Verdict.WRONG or options.verbose:
            print(result.line(), flush=True)
        if done % _EVERY == 0 or done == len(numbers):
            print(done, dict(found), flush=True)
    return 1 if found[Verdict.WRONG.value] else 0


if __name__ == "__main__":
    sys.exit(main())
