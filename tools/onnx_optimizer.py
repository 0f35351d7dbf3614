#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Simplifies an ONNX file before it is converted: see ``-h``.

python tools/onnx_optimizer.py model.onnx model_opt.onnx
"""

from __future__ import annotations

import _signal  # what `signal` is made of; that one takes long to import

# Nothing is to be tidied up yet: Ctrl-C ends this at once, without a traceback.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import argparse
import os
import sys
from pathlib import Path

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Simplifies an ONNX file before it is converted."
    )
    parser.add_argument("source", nargs="?", type=Path, help="the model")
    parser.add_argument("target", nargs="?", type=Path, help="the simplified copy")
    parser.add_argument(
        "--passes",
        metavar="NAME[,NAME...]",
        help="rewrites to make instead of the usual ones",
    )
    parser.add_argument(
        "--list", action="store_true", help="print the rewrites there are, and end"
    )
    return parser


def _run(args: argparse.Namespace) -> int:
    from mace.python.tools.errors import MissingToolError

    try:
        from mace.python.tools.importers.onnx import optimizer
    except ModuleNotFoundError as error:
        raise MissingToolError(
            f"the Python package {error.name}",
            f"this command ({sys.executable})",
            "bash tools/setup.sh (and use .venv/bin/python)",
        ) from error

    if args.list:
        for name in optimizer.available_passes():
            usual = " (usual)" if name in optimizer.DEFAULT_PASSES else ""
            print(f"{name}{usual}")
        return 0
    passes = optimizer.DEFAULT_PASSES
    if args.passes is not None:
        passes = tuple(filter(None, args.passes.split(",")))
    report = optimizer.optimize_file(args.source, args.target, passes)
    print(
        f"{args.target}: {report.nodes[1]} nodes (were {report.nodes[0]}), "
        f"{report.size[1]} bytes (were {report.size[0]})"
    )
    return 0


def main() -> int:
    parser = _parser()
    args = parser.parse_args()
    if not args.list and args.target is None:
        parser.error("two files are needed: the model and where its copy goes")
    sys.path.insert(0, _ROOT)
    from mace.python.tools.cli.main import guarded

    return guarded(sys.argv[1:], lambda _: _run(args))


if __name__ == "__main__":
    sys.exit(main())
