# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Equalises the ranges of channels across layers.

If a layer is followed by another one, with ReLU or nothing between, then dividing a
channel of the first by a positive number and multiplying the weights of the second for
that channel by the same number changes no result. The numbers are those for which both
layers' weights for a channel have the same largest absolute value (Nagel et al., 2019,
"Data-Free Quantization Through Weight Equalization and Bias Correction", section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from mace.python.tools.ir import DataFormat, Graph, Op
from mace.python.tools.ir.constant import scaled
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.passes.manager import run_last_passes
from mace.python.tools.quantize.insert import Plan, QuantizeOptions, insert
from mace.python.tools.quantize.ranges import Range

# Chains of layers settle in a few rounds.
_ROUNDS = 20
_SETTLED = 1e-3
# A channel is scaled by at most this factor at once, and a channel without weights not
# at all: its number would be 0 or infinite.
_MOST = 1e4


def equalise(graph: Graph) -> int:
    """Rescales the channels between layers; returns how many pairs of layers.

    What the graph computes stays the same up to rounding.

    Args:
        graph: in floats, after the passes.
    """
    pairs = list(_pairs(graph))
    for _ in range(_ROUNDS):
        if not pairs or max(_equalise(graph, *pair) for pair in pairs) < _SETTLED:
            break
    return len(pairs)


def _pairs(graph: Graph) -> Iterator[tuple[Op, Op]]:
    for first in graph.ops:
        second = None if _output_axis(first) is None else _only_reader(graph, first)
        if second is None or first.attr("activation") not in ("NONE", "RELU"):
            continue
        axis, channels = _input_axis(second), first.output.shape
        weights = second.input(1).shape if axis is not None else None
        if not channels or not weights or axis is None or first.get_input(3):
            continue
        if channels[-1] == weights[axis]:
            yield first, second


def _only_reader(graph: Graph, op: Op) -> Op | None:
    if op.output in graph.outputs or len(op.output.uses) != 1:
        return None
    ((reader, port),) = op.output.uses
    return reader if port == 0 else None


def _output_axis(op: Op) -> int | None:
    """The axis of a layer's weights that is that of its outputs."""
    weights = op.get_input(1)
    if weights is None or not weights.is_constant or not weights.dtype.is_float:
        return None
    if op.get_input(2) is not None and not op.input(2).is_constant:
        return None
    if op.type in ("Conv2D", "FullyConnected"):
        return 0
    return 2 if _is_depthwise(op) else None


def _input_axis(op: Op) -> int | None:
    """The axis of a layer's weights that is that of its inputs' channels."""
    weights = op.get_input(1)
    if weights is None or not weights.is_constant or not weights.dtype.is_float:
        return None
    if op.type == "Conv2D":
        return 3 if op.attr("groups") == 1 else None
    if op.type == "FullyConnected":
        return 1
    return 2 if _is_depthwise(op) else None


def _is_depthwise(op: Op) -> bool:
    """With one output for each input."""
    shape = op.input(1).shape if op.type == "DepthwiseConv2d" else None
    return shape is not None and shape[3] == 1


def _equalise(graph: Graph, first: Op, second: Op) -> float:
    """Rescales once; returns the largest change of a factor from 1."""
    out, into = _output_axis(first), _input_axis(second)
    assert out is not None and into is not None
    before = _largest(first.input(1).numpy(), out)
    after = _largest(second.input(1).numpy(), into)
    known = (before > 0) & (after > 0)
    factors = np.ones(before.shape)
    factors[known] = np.sqrt(before[known] / after[known])
    factors = np.clip(factors, 1 / _MOST, _MOST)
    _rescale(graph, first, 1, 1 / factors, out)
    if first.get_input(2) is not None:
        _rescale(graph, first, 2, 1 / factors, 0)
    _rescale(graph, second, 1, factors, into)
    return float(np.abs(factors - 1).max(initial=0))


def _largest(weights: Array, axis: int) -> Array:
    others = tuple(i for i in range(weights.ndim) if i != axis)
    return np.asarray(np.abs(weights).max(axis=others), np.float64)


def _rescale(graph: Graph, op: Op, port: int, factors: Array, axis: int) -> None:
    value = op.input(port)
    assert value.constant is not None
    constant = scaled(value.constant, factors, axis)
    op.set_input(port, graph.add_constant(f"{value.name}/equal", constant))
    if not value.uses:
        graph.remove_value(value)


def add_shadows(
    graph: Graph,
    ranges: Mapping[str, Range],
    options: QuantizeOptions,
    plan: Plan,
    means: Mapping[str, Array] | None = None,
) -> dict[str, str]:
    """Adds to a graph in floats a quantized twin of each operator that is to be
    quantized. What the twin makes differs from what the operator makes by the error of
    this operator alone.

    Args:
        ranges, options, plan, means: as in `insert`.

    Returns:
        By the name of the operator's result, the name of the twin's, an output of the
        graph. Without operators that choose among the elements of their input, and
        without those whose result the model's own file rounds.
    """
    twins: list[str] = []
    shadows: dict[str, str] = {}
    known = dict(ranges)
    chosen = set(plan.quantized)
    for op in graph.ops:
        result = op.output
        if op.name not in chosen or rules_of(op.type).keeps_range(op):
            continue
        if result.name not in ranges:
            continue
        name = graph.unique_name(f"{result.name}/shadow")
        made = graph.add_value(name, result.dtype, result.shape)
        twin = graph.add_op(op.type, op.inputs, [made], op.attrs, name)
        twin.subgraph = op.subgraph
        twins.append(twin.name)
        shadows[result.name] = name
        known[name] = ranges[result.name]
    insert(graph, known, options, twins, means)
    # Both are compared. As outputs, the passes keep them in floats.
    for name in (*shadows, *shadows.values()):
        if graph.values[name] not in graph.outputs:
            graph.outputs.append(graph.values[name])
            graph.formats[name] = DataFormat.NONE
    graph.sort()
    run_last_passes(graph)
    return shadows
