#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the quality of the sources, or repairs it with --fix."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Optional, Sequence

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

try:
    from rich.console import Console
    from rich.table import Table
except ImportError:
    _VENV = Path(os.environ.get("MACE_VENV") or ROOT / ".venv")
    _PYTHON = _VENV / "bin" / "python"
    if _PYTHON.is_file() and Path(sys.prefix) != _VENV:
        os.execv(str(_PYTHON), [str(_PYTHON), *sys.argv])
    sys.exit("check: Python packages are missing: bash tools/setup.sh --for test")

from tools.quality import (  # noqa: E402
    clang_tidy,
    place_checks,
    text_checks,
    tool_checks,
)
from tools.quality.changes import changed_files, git, source_files  # noqa: E402
from tools.quality.model import Check, Context, Outcome, Status  # noqa: E402

CHECKS = (
    *text_checks.CHECKS,
    *place_checks.CHECKS,
    *tool_checks.CHECKS,
    *clang_tidy.CHECKS,
)
STYLES = {
    Status.PASSED: "green",
    Status.WARNED: "yellow",
    Status.FAILED: "bold red",
    Status.SKIPPED: "dim",
}


def parse(argv: Optional[Sequence[str]]) -> argparse.Namespace:
    """Reads the command line."""
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="repair what can be")
    parser.add_argument(
        "--all",
        action="store_true",
        help="clang-tidy looks at all sources, not just at changed ones",
    )
    parser.add_argument("--since", metavar="COMMIT", help="changed since then")
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="NAME",
        help="one check (repeatable): " + ", ".join(names),
    )
    return parser.parse_args(argv)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the checks; 0 if none failed, else 1."""
    args = parse(argv)
    console = Console(soft_wrap=True, highlight=False)
    if not git(ROOT, "rev-parse", "HEAD"):
        Console(stderr=True).print("check: needs git and a git checkout")
        return 2
    context = Context(
        root=ROOT,
        files=source_files(ROOT),
        changed=changed_files(ROOT, args.since),
        fix=args.fix,
        everything=args.all,
    )
    table = Table("check", "of", "result", "", "seconds", title="Quality")
    failed = 0
    for check in CHECKS:
        if args.only and check.name not in args.only:
            continue
        start = time.monotonic()
        outcome = check.run(context)
        for line in outcome.lines:
            console.print(f"{check.name}: {line}", markup=False)
        failed += outcome.status is Status.FAILED
        add_row(table, check, outcome, time.monotonic() - start)
    console.print(table)
    return 1 if failed else 0


def add_row(table: Table, check: Check, outcome: Outcome, seconds: float) -> None:
    """Adds one line to the summary."""
    style = STYLES[outcome.status]
    status = f"[{style}]{outcome.status.value}[/{style}]"
    table.add_row(check.name, check.summary, status, outcome.note, f"{seconds:.1f}")


if __name__ == "__main__":
    sys.exit(main())
