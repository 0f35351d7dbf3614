# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `new-op`.

python tools/converter.py new-op NAME [--onnx TYPE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]

_NEXT = """
{op} builds, and multiplies by a factor. Now say in these files what it computes,
beginning with the declaration; docs/development/adding_an_op.md goes through them.
What holds is shown by

  bazel test //mace/ops:{room}_test //mace/ops/testing:all_ops_test
  python -m pytest mace/ops{handlers}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `new-op`."""
    parser.add_argument(
        "name", metavar="NAME", help="the operator's name in models, as in OneHot"
    )
    parser.add_argument(
        "--onnx",
        default="",
        metavar="TYPE",
        help="also write the file that imports this operator of ONNX",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the files and says what to do with them; 0."""
    # Imported here, so that the help needs no packages.
    from mace.python.tools.new_op.room import NewOp

    op = NewOp(args.name, args.onnx)
    written = op.write(ROOT)
    sys.stdout.write(f"Written into {ROOT}:\n")
    sys.stdout.writelines(f"  {path}\n" for path in written)
    handlers = " mace/python/tools/importers/onnx/handlers" if op.onnx else ""
    sys.stdout.write(_NEXT.format(op=op.op_type, room=op.room, handlers=handlers))
    return 0
