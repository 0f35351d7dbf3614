# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`tools/transform_graph.py`: reads its command line and the text of ``--transforms``,
applies the rewrites and writes the graph.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from google.protobuf import text_format

from mace.python.tools.atomic import atomic_write
from mace.python.tools.command_line import flags
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.errors import UsageError
from mace.python.tools.importers.tensorflow.reader import is_text, parse_graph
from mace.python.tools.rewrite.work_graph import (
    IGNORE_ERRORS,
    Arguments,
    TransformError,
    WorkGraph,
    entries,
)
from mace.python.tools.wording import nearest_names

_LOG = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z_]\w*")
_ARGUMENT = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|([^\s,()"]+))\s*')
_GAP = re.compile(r"[\s\\]*")

_NOT_DONE = {
    "quantize_nodes": "it writes TensorFlow's eight-bit operators, which MACE does not "
    "convert; leave quantize_weights and quantize_nodes out, convert the model and say "
    "`quantize: 1` in the deployment file"
}
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
    before, after = transform_file(
        args.in_graph,
        args.out_graph,
        args.inputs,
        args.outputs,
        parse_transforms(args.transforms),
    )
    sys.stdout.write(f"{args.out_graph}: {after} nodes (were {before})\n")
    return 0


def parse_transforms(text: str) -> list[Arguments]:
    """The rewrites that a text like ``a b(key=value, key="1,2")`` names.

    Raises:
        UsageError: it is not written like this, or a name or key is unknown.
    """
    found: list[Arguments] = []
    at = _gap(text, 0)
    while at < len(text):
        name = _NAME.match(text, at)
        if name is None:
            raise _syntax(text, at, "the name of a transform")
        _check_name(name[0])
        at = _gap(text, name.end())
        values: dict[str, list[str]] = {}
        if text[at : at + 1] == "(":
            at = _read_arguments(text, at + 1, values)
        _check_keys(name[0], values)
        found.append(Arguments(name[0], values))
        at = _gap(text, at)
    if not found:
        raise UsageError(f"--transforms: names none; there are: {', '.join(entries())}")
    return found


def _read_arguments(text: str, at: int, values: dict[str, list[str]]) -> int:
    """Reads what stands in parentheses; returns the place after them."""
    at = _gap(text, at)
    while text[at : at + 1] != ")":
        argument = _ARGUMENT.match(text, at)
        if argument is None:
            raise _syntax(text, at, 'key=value, key="value" or )')
        quoted = argument[2]
        value = argument[3] if quoted is None else quoted
        values.setdefault(argument[1], []).append(value)
        at = _gap(text, argument.end())
        if text[at : at + 1] == ",":
            at = _gap(text, at + 1)
        elif text[at : at + 1] != ")":
            raise _syntax(text, at, ", or )")
    return at + 1


def _gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at


def _syntax(text: str, at: int, wanted: str) -> UsageError:
    found = repr(text[at : at + 20]) if at < len(text) else "the end"
    return UsageError(f"--transforms: found {found}, accepted: {wanted}")


def _check_name(name: str) -> None:
    if name in entries():
        return
    if name in _NOT_DONE:
        raise UsageError(f"--transforms: {name} is not supported: {_NOT_DONE[name]}")
    near = nearest_names(name, entries(), 1)
    hint = f" (do you mean {near[0]}?)" if near else ""
    raise UsageError(
        f"--transforms: there is no {name!r}{hint}; there are: {', '.join(entries())}"
    )


def _check_keys(name: str, values: Iterable[str]) -> None:
    keys = entries()[name].keys
    for key in values:
        if key not in keys:
            raise UsageError(
                f"--transforms: {name} does not take {key!r}; it takes: "
                f"{', '.join(keys)}"
            )


def apply(graph: WorkGraph, transforms: Sequence[Arguments]) -> None:
    """Applies rewrites one after the other.

    Raises:
        TransformError: one failed, and does not ignore errors.
    """
    for arguments in transforms:
        ignore = arguments.flag(IGNORE_ERRORS)
        try:
            entries()[arguments.name].run(graph, arguments)
            graph.check()
        except TransformError as error:
            message = f"{arguments.name}: {error}"
            if not ignore:
                raise TransformError(
                    f"--transforms: {message}; {arguments.name}({IGNORE_ERRORS}=true) "
                    "goes on"
                ) from error
            _LOG.warning("%s", message)


def transform_file(
    source: Path,
    target: Path,
    inputs: Sequence[str],
    outputs: Sequence[str],
    transforms: Sequence[Arguments],
) -> tuple[int, int]:
    """Writes the rewritten copy of a graph; the nodes before and after.

    Args:
        source, target: binary, or text if the name ends in ``.pbtxt``. The target is
            written whole or not at all, and may be the source.
        inputs, outputs: names of tensors.
        transforms: applied in order.

    Raises:
        MaceError: the file is damaged, a name is unknown, a rewrite failed, or the
            target cannot be written.
    """
    proto = parse_graph(source, "--in_graph", whole=True)
    before = len(proto.node)
    graph = WorkGraph(proto, inputs, outputs)
    apply(graph, transforms)
    result = graph.to_proto()
    if is_text(target):
        data = text_format.MessageToString(result).encode()
    else:
        data = _serialized(result)
    with atomic_write(target) as stream:
        stream.write(data)
    return before, len(result.node)


def _serialized(graph: object) -> bytes:
    try:
        data: bytes = graph.SerializeToString(deterministic=True)  # type: ignore[attr-defined]
    except ValueError as error:
        raise TransformError(f"the graph cannot be written: {error}") from error
    return data
