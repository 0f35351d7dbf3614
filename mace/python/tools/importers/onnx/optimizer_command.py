# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `tools/onnx_optimizer.py`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.command_line import flags
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.importers.onnx import optimizer

_EXAMPLES = """\
examples:
  python tools/onnx_optimizer.py model.onnx model_opt.onnx
  python tools/onnx_optimizer.py --list

exit status: 0 done; 1 a defect of MACE; 2 something to mend, and nothing was
written.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def make_parser() -> argparse.ArgumentParser:
    """All flags; docs/user/onnx.md explains them."""
    parser = flags.FlagParser(
        prog="onnx_optimizer.py",
        description="Simplifies an ONNX file before it is converted.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "source", nargs="?", type=Path, metavar="MODEL", help="the model"
    )
    parser.add_argument(
        "target", nargs="?", type=Path, metavar="COPY", help="the simplified copy"
    )
    parser.add_argument(
        "--passes",
        metavar="NAME[,NAME]",
        type=flags.words,
        default=optimizer.DEFAULT_PASSES,
        help="rewrites to make instead of the usual ones",
    )
    parser.add_argument(
        "--list", action="store_true", help="print the rewrites there are, and end"
    )
    return parser


def _run(arguments: list[str]) -> int:
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.list:
        for name in optimizer.available_passes():
            usual = " (usual)" if name in optimizer.DEFAULT_PASSES else ""
            sys.stdout.write(f"{name}{usual}\n")
        return 0
    if args.target is None:
        parser.error("two files are needed: the model and where its copy goes")
    report = optimizer.optimize_file(args.source, args.target, args.passes)
    sys.stdout.write(
        f"{args.target}: {report.nodes[1]} nodes (were {report.nodes[0]}), "
        f"{report.size[1]} bytes (were {report.size[0]})\n"
    )
    return 0
