# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `new-op`.

python tools/converter.py new-op NAME [--onnx TYPE] [--custom_ops DIR]
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


_NEXT_CUSTOM = """
{op} builds, and multiplies by a factor. Now say in these files what it computes,
beginning with the declaration; docs/development/adding_an_op.md goes through them.
What holds is shown, in the folder of MACE, by

  export MACE_CUSTOM_OPS={folder}
  bazel test @mace_custom_ops//:{room}_test //mace/ops/testing:all_ops_test
{pytest}
Deployment files use it with the key custom_ops.
"""
_PYTEST = """\
  python -m pytest {folder}
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
        help="also write the file that imports this operator of ONNX; "
        "DOMAIN.TYPE of another operator set",
    )
    parser.add_argument(
        "--custom_ops",
        type=Path,
        metavar="DIR",
        help="write into this folder of your own, outside of MACE, which is made if it "
        "is not there",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the files and says what to do with them; 0."""
    # Imported here, so that the help needs no packages.
    from mace.python.tools.new_op.room import NewOp

    op = NewOp(args.name, args.onnx)
    if args.custom_ops is not None:
        folder = args.custom_ops.absolute()
        written = op.write_custom(ROOT, folder)
        sys.stdout.write(f"Written into {folder}:\n")
        sys.stdout.writelines(f"  {path}\n" for path in written)
        pytest = _PYTEST.format(folder=folder) if op.onnx else ""
        words = {"op": op.op_type, "room": op.room, "folder": folder}
        sys.stdout.write(_NEXT_CUSTOM.format(**words, pytest=pytest))
        return 0
    written = op.write(ROOT)
    sys.stdout.write(f"Written into {ROOT}:\n")
    sys.stdout.writelines(f"  {path}\n" for path in written)
    handlers = " mace/python/tools/importers/standard/handlers" if op.onnx else ""
    sys.stdout.write(_NEXT.format(op=op.op_type, room=op.room, handlers=handlers))
    return 0
