# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Simplifies an ONNX file before it is converted: `tools/onnx_optimizer.py`.

The rewrites are those of the package `onnxoptimizer`. The converter has its own
rewrites, so a model can be converted without this module. It helps with models that
other tools read too, and shows which operators an exporter wrote unnecessarily.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from mace.python.tools.atomic import atomic_write
from mace.python.tools.command_line import flags
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.errors import MaceError, MissingToolError, UsageError
from mace.python.tools.importers.onnx.inner_graphs import reads
from mace.python.tools.importers.onnx.mapped_file import read_model
from mace.python.tools.importers.standard.convert import evaluate_node
from mace.python.tools.wording import on_one_line

_LOG = logging.getLogger(__name__)

DEFAULT_PASSES = (
    "eliminate_identity",
    "fuse_consecutive_squeezes",
    "fuse_consecutive_transposes",
    "eliminate_nop_pad",
    "eliminate_nop_transpose",
    "eliminate_unused_initializer",
    "extract_constant_to_initializer",
    "fuse_bn_into_conv",
    "fuse_transpose_into_gemm",
)

# The largest message of protobuf, and so of the package.
_LARGEST_FILE = 2**31 - 1

# The package is compiled code, which a damaged model can crash; therefore it runs in a
# separate process.
_CHILD = """
import sys, onnx, onnxoptimizer
model = onnx.load(sys.argv[1])
model = onnxoptimizer.optimize(model, sys.argv[3:], fixed_point=True)
with open(sys.argv[2], 'wb') as stream:
    stream.write(model.SerializeToString())
"""


class OptimizeError(MaceError):
    """The model cannot be simplified."""


@dataclass(frozen=True)
class OptimizeReport:
    """Nodes and bytes before and after."""

    nodes: tuple[int, int]
    size: tuple[int, int]


def available_passes() -> list[str]:
    """The passes of the installed package, sorted."""
    _require_package()
    import onnxoptimizer

    return sorted(onnxoptimizer.get_available_passes())


def optimize_file(
    source: Path, target: Path, passes: Sequence[str] = DEFAULT_PASSES
) -> OptimizeReport:
    """Writes a simplified copy of a model; the inputs and outputs stay.

    Args:
        source: an ONNX file; external data is put into the copy.
        target: written whole or not at all; may be the same file.
        passes: names of rewrites, each of `available_passes`.

    Raises:
        MaceError: the package or a pass is missing, the model is damaged, too
            large or cannot be simplified, the target cannot be written.
    """
    unknown = [name for name in passes if name not in available_passes()]
    if unknown:
        raise UsageError(
            f"--passes: {', '.join(unknown)} unknown; there are: "
            f"{', '.join(available_passes())}"
        )
    before = read_model(source).proto
    if source.stat().st_size > _LARGEST_FILE:
        raise OptimizeError(
            f"{source} is larger than 2 GB, which cannot be simplified; convert it as "
            "it is"
        )
    with tempfile.TemporaryDirectory(prefix="onnx_optimizer_") as folder:
        plain, result = (Path(folder) / f"{name}.onnx" for name in ("plain", "result"))
        plain.write_bytes(_self_contained(source).SerializeToString())
        _run(source, plain, result, passes)
        after = onnx.load(str(result))
        _fold_weights(after)
        _check(source, before, after)
        data = after.SerializeToString()
    with atomic_write(target) as stream:
        stream.write(data)
    return OptimizeReport(
        (len(before.graph.node), len(after.graph.node)),
        (source.stat().st_size, len(data)),
    )


def _require_package() -> None:
    if importlib.util.find_spec("onnxoptimizer") is None:
        raise MissingToolError(
            "the Python package onnxoptimizer",
            "simplifying ONNX files (converting them works without)",
            f"{sys.executable} -m pip install onnxoptimizer",
        )


def _self_contained(source: Path) -> onnx.ModelProto:
    """The model with its external data, in which weights are not inputs. Up to IR
    version 3, every weight was an input that a caller could replace, and such a weight
    cannot be fused.
    """
    try:
        model = onnx.load(str(source))
    except (OSError, ValueError, RuntimeError, onnx.checker.ValidationError) as error:
        raise OptimizeError(
            f"the external data of {source} cannot be read: {on_one_line(str(error))}"
        ) from error
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 4)
    return model


def _fold_weights(model: onnx.ModelProto) -> None:
    """Computes arithmetic on weights, which remains after fusing."""
    graph = model.graph
    known = {tensor.name: tensor for tensor in graph.initializer}
    opset = next((o.version for o in model.opset_import if o.domain == ""), 1)
    kept = []
    for node in graph.node:
        feeds = {
            name: onnx.numpy_helper.to_array(known[name])
            for name in node.input
            if name in known
        }
        results = None
        if feeds and all(name in known for name in node.input):
            results = evaluate_node(node, opset, feeds)
        if results is None:
            kept.append(node)
            continue
        for name, array in results.items():
            known[name] = onnx.numpy_helper.from_array(array, name)
    used = {name for node in kept for name in reads(node)}
    used.update(value.name for value in graph.output)
    del graph.node[:]
    graph.node.extend(kept)
    del graph.initializer[:]
    graph.initializer.extend(t for name, t in known.items() if name in used)


def _run(source: Path, plain: Path, result: Path, passes: Sequence[str]) -> None:
    # With -I and this working folder, no module in the model's folder is imported.
    done = subprocess.run(
        [sys.executable, "-I", "-c", _CHILD, str(plain), str(result), *passes],
        capture_output=True,
        check=False,
        cwd=result.parent,
    )
    if done.returncode == 0 and result.is_file():
        return
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    _LOG.debug("onnxoptimizer: %s", "\n".join(lines))
    reason = lines[-1] if lines else f"ended with status {done.returncode}"
    raise OptimizeError(f"{source} cannot be simplified: {reason}")


def _check(source: Path, before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    try:
        onnx.checker.check_model(after)
    except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else "unknown"
        raise OptimizeError(
            f"{source} cannot be simplified: the result is no valid model ({reason})"
        ) from error
    if _border(before) != _border(after):
        raise OptimizeError(
            f"{source} cannot be simplified: its inputs or outputs would change"
        )


def _border(model: onnx.ModelProto) -> tuple[list[str], list[str]]:
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [v.name for v in model.graph.input if v.name not in weights]
    return inputs, [value.name for value in model.graph.output]


_EXAMPLES = """\
examples:
  python tools/onnx_optimizer.py model.onnx model_opt.onnx
  python tools/onnx_optimizer.py --list

exit status: 0 done; 1 a defect of MACE; 2 something to mend, and nothing was
written.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _command)


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
        default=DEFAULT_PASSES,
        help="rewrites to make instead of the usual ones",
    )
    parser.add_argument(
        "--list", action="store_true", help="print the rewrites there are, and end"
    )
    return parser


def _command(arguments: list[str]) -> int:
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.list:
        for name in available_passes():
            usual = " (usual)" if name in DEFAULT_PASSES else ""
            sys.stdout.write(f"{name}{usual}\n")
        return 0
    if args.target is None:
        parser.error("two files are needed: the model and where its copy goes")
    report = optimize_file(args.source, args.target, args.passes)
    sys.stdout.write(
        f"{args.target}: {report.nodes[1]} nodes (were {report.nodes[0]}), "
        f"{report.size[1]} bytes (were {report.size[0]})\n"
    )
    return 0
