# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `tools/transform_graph.py`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mace.python.tools.command_line import flags
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.importers.tensorflow.transforms import pipeline
from mace.python.tools.importers.tensorflow.transforms.table import entries

_EXAMPLES = """\
example:
  python tools/transform_graph.py --in_graph=model.pb --out_graph=model_opt.pb \\
      --inputs=input --outputs=output --transforms='
        strip_unused_nodes(type=float, shape="1,224,224,3")
        remove_nodes(op=Identity, op=CheckNumerics)
        fold_constants(ignore_errors=true)
        flatten_atrous_conv fold_batch_norms fold_old_batch_norms
        strip_unused_nodes sort_by_execution_order'

exit status: 0 done; 1 a defect of MACE; 2 something to mend, and nothing was
written.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def make_parser() -> argparse.ArgumentParser:
    """All flags; docs/user/tensorflow.md explains them."""
    parser = flags.FlagParser(
        prog="transform_graph.py",
        description="Rewrites a frozen TensorFlow graph.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--in_graph", type=flags.path, metavar="FILE", help="the frozen graph"
    )
    parser.add_argument(
        "--out_graph",
        type=flags.path,
        metavar="FILE",
        help="where its rewritten copy goes; text if it ends in .pbtxt",
    )
    parser.add_argument(
        "--inputs", type=flags.words, metavar="NAME[,NAME]", help="tensors that are fed"
    )
    parser.add_argument(
        "--outputs",
        type=flags.words,
        metavar="NAME[,NAME]",
        help="tensors that are computed",
    )
    parser.add_argument(
        "--transforms",
        metavar="TEXT",
        help="rewrites in their order, with arguments in parentheses",
    )
    parser.add_argument(
        "--list", action="store_true", help="print the rewrites there are, and end"
    )
    return parser


def _run(arguments: list[str]) -> int:
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.list:
        for name, entry in entries().items():
            sys.stdout.write(f"{name}({', '.join(entry.keys)})\n    {entry.summary}\n")
        return 0
    needed = ("in_graph", "out_graph", "inputs", "outputs", "transforms")
    missing = [f"--{name}" for name in needed if getattr(args, name) is None]
    if missing:
        parser.error(f"missing: {', '.join(missing)}")
    before, after = pipeline.transform_file(
        args.in_graph,
        args.out_graph,
        args.inputs,
        args.outputs,
        pipeline.parse_transforms(args.transforms),
    )
    sys.stdout.write(f"{args.out_graph}: {after} nodes (were {before})\n")
    return 0
