# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `quantize_stat.py`: one range of each tensor from a log."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.command_line import flags
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.quantize import ranges

_EXAMPLES = """\
examples:
  python tools/converter.py run --config=FILE --quantize_stat --input_dir=DIR > LOG
  python mace/python/tools/quantization/quantize_stat.py --log_file LOG > overall_range
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def make_parser() -> flags.FlagParser:
    """All flags; docs/user/quantization.md explains them."""
    parser = flags.FlagParser(
        prog="quantize_stat.py",
        description="Makes one range of each tensor of the log that "
        "converter.py run --quantize_stat prints, and prints them.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--log_file", required=True, type=Path, metavar="FILE", help="the log"
    )
    parser.add_argument(
        "--percentile",
        type=flags.number(0, 50),
        default=0.0,
        metavar="P",
        help="share of the samples, in percent, whose minimum or maximum may be "
        "outside of the range (default 0)",
    )
    flags.add_switch(
        parser,
        "--enhance",
        "leave out samples whose range is much wider than that of most",
    )
    parser.add_argument(
        "--enhance_ratio",
        type=flags.number(1, 1e9),
        default=10.0,
        metavar="R",
        help="with --enhance: how many times as wide as the median (default 10)",
    )
    return parser


def _run(arguments: list[str]) -> int:
    args = make_parser().parse_args(arguments)
    log = ranges.read_log(args.log_file)
    ratio = args.enhance_ratio if args.enhance else None
    combined = ranges.combine(log, args.percentile, ratio)
    sys.stdout.write(ranges.write_ranges(combined))
    return 0
