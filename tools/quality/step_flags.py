# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The flags of `tools/test.sh`; its first lines say what they mean.

Reads them with nothing but Python's own library, so that they can be looked at
before anything is installed: as a program it lists the steps if `--list` asks for
it, and else prints the tasks of `tools/setup.sh` that they need. Wrong flags end it
with status 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, replace
from typing import Optional, Sequence, Tuple

from tools.quality.test_steps import SETUP_TASKS, Step, Tier, steps


@dataclass(frozen=True)
class Flags:
    """What is to be done.

    Attributes:
        steps: those chosen, in the order they run.
        no_gaps: whether a skipped test that nobody expects is a failure.
        listing: whether they are to be listed only.
        left_out: steps that --all runs and this call doesn't.
        changed: whether only tests that a change can affect run.
        since: the commit that --changed compares with; None: where main was left.
    """

    steps: Tuple[Step, ...]
    no_gaps: bool
    listing: bool
    left_out: Tuple[Step, ...] = ()
    changed: bool = False
    since: Optional[str] = None

    @property
    def tasks(self) -> Tuple[str, ...]:
        """Of `tools/setup.sh`, that the steps need."""
        more = (task for step in self.steps for task in step.tasks)
        return tuple(dict.fromkeys((*SETUP_TASKS, *more)))


def parse_flags(known: Sequence[Step], argv: Optional[Sequence[str]]) -> Flags:
    """Reads ``argv``, of the process if None; ends it with status 2 if it is wrong."""
    parser = argparse.ArgumentParser(prog="test.sh", add_help=False, allow_abbrev=False)
    parser.add_argument("--only", action="append", metavar="STEP", default=[])
    parser.add_argument(
        "--no-gaps",
        action="store_true",
        default=bool(os.environ.get("MACE_TEST_NO_GAPS")),
    )
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument(
        "--changed", nargs="?", metavar="COMMIT", const="", default=None
    )
    args = parser.parse_args(argv)
    names = [step.name for step in known]
    for name in args.only:
        if name not in names:
            parser.error(f"--only {name}: no such step; there are {', '.join(names)}")
    if args.all + bool(args.only) + (args.changed is not None) > 1:
        parser.error("--all, --changed and --only exclude each other")
    tiers = (Tier.USUAL, Tier.ALL) if args.all else (Tier.USUAL,)
    chosen = tuple(
        step
        for step in known
        if step.name in args.only
        or (not args.only and (args.list or step.tier in tiers))
    )
    if not (args.all or args.only or args.list):
        chosen = tuple(
            replace(step, command=step.here) if step.here else step for step in chosen
        )
    left_out = tuple(
        step
        for step in known
        if step.tier is Tier.ALL and step not in chosen and not args.only
    )
    return Flags(
        chosen,
        args.no_gaps,
        args.list,
        left_out,
        args.changed is not None,
        args.changed or None,
    )


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Lists the chosen steps if asked to, else prints what they need."""
    flags = parse_flags(steps(os.environ), argv)
    if not flags.listing:
        print(",".join(flags.tasks))
        return 0
    try:
        for step in flags.steps:
            remark = f" ({step.tier.value})" if step.tier.value else ""
            print(f"{step.name:12}{step.summary}{remark}")
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
