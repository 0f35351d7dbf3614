# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How many nodes a graph becomes at least, before any of it is imported.

Loops in loops multiply: a few hundred bytes can stand for more nodes than there is
memory for. The number of steps is mostly a constant of the file, so that such a file is
refused at once, not when the budget is used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

import onnx
from mace.python.tools.importers.onnx.inner_graphs import graphs_of, reads
from onnx import numpy_helper

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
