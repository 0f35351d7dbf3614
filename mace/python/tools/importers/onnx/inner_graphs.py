# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The graphs in nodes and functions, and how many nodes they become.

Loops in loops multiply, and so do calls of functions: a few hundred bytes can stand for
more nodes than there is memory for. The number of steps is mostly a constant of the
file, so that such a file is refused at once, not when the budget is used up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
from onnx import numpy_helper

from mace.python.tools.importers.frame.budget import budget, expanded
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)


def graphs_of(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs in the attributes of a node, without those that are in these."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def reads(node: onnx.NodeProto) -> list[str]:
    """Every tensor a node reads, those of its graphs included; an input that is left
    out has the name '', which is no tensor's.
    """
    names = [name for name in node.input if name]
    for graph in graphs_of(node):
        own = {name for inner in graph.node for name in inner.output}
        own |= {value.name for value in graph.input}
        own |= {tensor.name for tensor in graph.initializer}
        names += [n for inner in graph.node for n in reads(inner) if n not in own]
        names += [value.name for value in graph.output if value.name not in own]
    return names


# Functions ---------------------------------------------------------------------------


def inline_functions(proto: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """The model, with calls of its own functions replaced by their nodes.

    Raises:
        ImportModelError: the functions contradict each other, or become too many nodes.
    """
    budget().nodes += sum(1 for _ in all_nodes(proto.graph.node))
    if not proto.functions:
        return proto
    try:
        _take_calls(proto)
        return onnx.inliner.inline_local_functions(proto)
    except (
        ImportModelError,
        RuntimeError,
        UnsupportedNodeError,
        ValueError,
        onnx.checker.ValidationError,
    ) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else "unknown"
        raise ImportModelError(
            f"{path}: its functions cannot be put in place: {reason}"
        ) from error


_Name = tuple[str, str, str]


def _take_calls(proto: onnx.ModelProto) -> None:
    """Takes the nodes of all calls from the budget before there are any: they can be
    exponential in the number of functions.
    """
    called: dict[_Name, Counter[_Name]] = {}
    for function in proto.functions:
        name = (function.domain, function.name, _overload(function))
        called[name] = Counter(map(_called, all_nodes(function.node)))
    bodies: dict[_Name, tuple[int, dict[tuple[_Name, ...], int]]] = {}
    for name, calls in called.items():
        count = sum(calls.values())
        budget().nodes += count
        known: dict[tuple[_Name, ...], int] = {
            (other,): c for other, c in calls.items() if other in called
        }
        bodies[name] = (count, known)
    nodes = map(_called, all_nodes(proto.graph.node))
    roots = [name for name in nodes if name in bodies]
    budget().add_nodes(expanded(roots, bodies.__getitem__), "they")


def _called(node: onnx.NodeProto) -> _Name:
    return node.domain, node.op_type, _overload(node)


def _overload(message: onnx.NodeProto | onnx.FunctionProto) -> str:
    return str(getattr(message, "overload", ""))  # not in older versions of onnx


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and those of the graphs in their attributes."""
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        yield node
        for graph in graphs_of(node):
            waiting += graph.node


# Least numbers of nodes --------------------------------------------------------------

_NUMBERS = (onnx.TensorProto.INT64, onnx.TensorProto.BOOL)

# The number that a tensor is; None: that is not known yet.
Number = Callable[[str], "int | None"]


def least_nodes(nodes: Iterable[onnx.NodeProto], number: Number) -> int:
    """The nodes that these become, with the steps of their loops.

    Args:
        nodes: of one graph.
        number: of the tensors that they read.
    """
    return sum(_least(node, number) for node in nodes)


def numbers_of(
    nodes: Iterable[onnx.NodeProto],
    initializers: Iterable[onnx.TensorProto],
    inputs: Iterable[str],
    outside: Number,
) -> Number:
    """The numbers of the tensors of a graph with these parts, and of those outside."""
    tensors = {tensor.name: tensor for tensor in initializers}
    own = {*inputs}
    for name in own:
        tensors.pop(name, None)  # no more than a default
    for node in nodes:
        own.update(node.output)
        if node.op_type == "Constant" and len(node.output) == 1:
            for entry in node.attribute:
                if entry.name == "value":
                    tensors[node.output[0]] = entry.t
                elif entry.name == "value_int":
                    tensors[node.output[0]] = numpy_helper.from_array(np.array(entry.i))

    def number(name: str) -> int | None:
        if name in tensors:
            return _number(tensors[name])
        return None if name in own else outside(name)

    return number


def _number(tensor: onnx.TensorProto) -> int | None:
    if tensor.data_type not in _NUMBERS or list(tensor.dims) not in ([], [1]):
        return None
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return None
    try:
        return int(numpy_helper.to_array(tensor).reshape(-1)[0])
    except (IndexError, TypeError, ValueError):
        return None  # reading it says so


def _least(node: onnx.NodeProto, number: Number) -> int:
    graphs = [(graph, _inside(graph, number)) for graph in graphs_of(node)]
    if not graphs:
        return 1
    if node.op_type == "If":
        return min(sum(_parts(*each)) for each in graphs)
    body, known = graphs[0]
    inputs, outputs = ([v.name for v in side] for side in (body.input, body.output))
    if node.op_type != "Loop" or not node.input:
        return 1
    if not stays_true(inputs, outputs, body.node, known):
        return 1
    begins = number(node.input[1]) if any(node.input[1:2]) else 1
    steps = number(node.input[0]) if begins and node.input[0] else None
    fixed, each = _parts(body, known)
    return fixed + (0 if steps is None else max(0, steps) * max(1, each))


def _inside(graph: onnx.GraphProto, outside: Number) -> Number:
    inputs = [value.name for value in graph.input]
    return numbers_of(graph.node, graph.initializer, inputs, outside)


def _parts(graph: onnx.GraphProto, number: Number) -> tuple[int, int]:
    """The nodes that do not depend on a graph's inputs, and those that do."""
    varying = {value.name for value in graph.input}
    counts = [0, 0]
    for node in graph.node:
        varies = not varying.isdisjoint(reads(node))
        counts[varies] += _least(node, number)
        if varies:
            varying.update(node.output)
    return counts[0], counts[1]


def stays_true(
    inputs: Sequence[str],
    outputs: Sequence[str],
    nodes: Iterable[onnx.NodeProto],
    number: Number,
) -> bool:
    """Whether output 0, the condition of a loop, is true after each step: it is input
    1, which was true, or a constant.

    Args:
        inputs, outputs, nodes: of the body.
        number: of the tensors in it.
    """
    copies = {
        node.output[0]: node.input[0]
        for node in nodes
        if node.op_type == "Identity" and node.input and node.output
    }
    source = outputs[0] if outputs else ""
    for _ in copies:  # copies of copies
        source = copies.get(source, source)
    constant = number(source) if source else None
    if constant is not None:
        return constant != 0
    return len(inputs) > 1 and source == inputs[1]
