# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kaldi's LSTM: its non-linearity, and the layer that kaldi-onnx makes of a loop.

The loop of a DynamicLSTM is unrolled. The state of a step is that of `delay` frames
before, so as many steps are computed at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mace.python.rare_ops.kaldi.kaldi_onnx import (
    affine,
    columns,
    features,
    math_of,
    rows,
    vector,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_MOST_STEPS = 1000


@HANDLERS.register("kaldi.LstmNonlinear")
def _lstm_nonlinear(node: Node) -> None:
    """[4 gates, memory] to [memory, output]; with 3 factors of gates behind."""
    x, params = node.input(0), node.constant(1, "the parameters")
    units = params.shape[-1] if params.ndim == 2 else 0
    size = features(node, x)
    if params.shape != (3, units) or units == 0 or size - 5 * units not in (0, 3):
        raise UnsupportedNodeError(
            f"parameters of shape {list(params.shape)} for {size} features"
        )
    gates = columns(node, x, 0, 4 * units)
    memory = columns(node, x, 4 * units, 5 * units)
    factors = None
    if size > 5 * units:
        factors = [columns(node, x, 5 * units + i, 5 * units + i + 1) for i in range(3)]
    c, m = _cell(node, gates, memory, _peepholes(node, params), factors)
    axis = len(node.shape(x)) - 1
    node.emit("Concat", [c, m], {"axis": axis})


def _cell(
    node: Node,
    gates: Value,
    memory: Value,
    peepholes: list[Value],
    factors: list[Value] | None = None,
) -> tuple[Value, Value]:
    """Memory and output of a step; the gates are input, forget, cell and output."""
    units = features(node, memory)
    parts = [columns(node, gates, i * units, (i + 1) * units) for i in range(4)]

    def gate(index: int, part: Value, state: Value) -> Value:
        seen = math_of(node, "MUL", state, peepholes[index])
        y = _function(node, "SIGMOID", math_of(node, "ADD", part, seen))
        return y if factors is None else math_of(node, "MUL", y, factors[index])

    kept = math_of(node, "MUL", gate(1, parts[1], memory), memory)
    fresh = _function(node, "TANH", parts[2])
    fresh = math_of(node, "MUL", gate(0, parts[0], memory), fresh)
    c = math_of(node, "ADD", kept, fresh)
    return c, math_of(node, "MUL", gate(2, parts[3], c), _function(node, "TANH", c))


def _peepholes(node: Node, params: Array) -> list[Value]:
    return [node.literal(row) for row in params]


def _function(node: Node, name: str, x: Value) -> Value:
    return node.make("Activation", [x], {"activation": name})


@dataclass(frozen=True)
class _Weights:
    """Of a layer.

    Attributes:
        first, first_bias: of features and state, to the gates.
        params: peepholes.
        second, second_bias: of a step's output, to that of the layer.
    """

    first: Array
    params: Array
    second: Array
    first_bias: Value | None
    second_bias: Value | None


@dataclass(frozen=True)
class _Loop:
    """Attributes:
    delays: in steps, of output and memory.
    scale: of states.
    offset, size: the part of a step's output that is its state.
    """

    delays: tuple[int, int]
    scale: float
    offset: int
    size: int

    @property
    def width(self) -> int:
        """Steps that can be computed at once."""
        return math.gcd(*self.delays)


@HANDLERS.register("kaldi.DynamicLSTM")
def _dynamic_lstm(node: Node) -> None:
    weights, states = _inputs(node)
    x, loop = node.input(0), _loop(node)
    size, units = features(node, x, 3), weights.params.shape[-1]
    frames = node.shape(x)[-2]
    if not isinstance(frames, int) or len(node.shape(x)) != 3:
        raise UnsupportedNodeError("the number of frames is not known")
    if (
        weights.params.shape != (3, units)
        or weights.first.shape != (4 * units, size + loop.size)
        or weights.second.ndim != 2
        or weights.second.shape[1] != units
        or loop.offset + loop.size > len(weights.second)
        or node.integer("prev_cell_dim", units) != units
    ):
        raise UnsupportedNodeError(
            f"weights of shapes {list(weights.first.shape)}, "
            f"{list(weights.params.shape)} and {list(weights.second.shape)} for "
            f"{size} features and a state of {loop.size}"
        )
    order = node.integers("forward_indexes", list(range(frames)))
    if not 0 < len(order) <= _MOST_STEPS:
        raise UnsupportedNodeError(
            f"{len(order)} steps; at most {_MOST_STEPS} are supported"
        )
    # The products of all features at once.
    of_features = node.literal(weights.first[:, :size])
    products = affine(node, rows(node, x, order), of_features, weights.first_bias)
    outputs, kept = _run(node, loop, weights, products, states)
    axis = len(node.shape(x)) - 2
    node.set_output(0, _concat(node, outputs, axis))
    for index, name in ((1, "out_cache_indexes"), (2, "cell_cache_indexes")):
        if node.is_used(index):
            state = _concat(node, kept[index - 1], axis)
            node.set_output(index, rows(node, state, _places(node, name, order)))


def _inputs(node: Node) -> tuple[_Weights, list[Value] | None]:
    """The weights, and states of the last call if the layer reads them."""
    first = 3 if node.output_count == 3 else 1
    states = [node.input(1), node.input(2)] if first == 3 else None
    arrays = [
        node.constant(first + index, what)
        for index, what in enumerate(("the weights", "the parameters", "the weights"))
    ]
    index = first + 3
    biases: list[Value | None] = []
    for name in ("bias_a", "bias_b"):
        given = node.flag(name, False)
        biases.append(vector(node, index, "the bias") if given else None)
        index += given
    return _Weights(arrays[0], arrays[1], arrays[2], biases[0], biases[1]), states


def _loop(node: Node) -> _Loop:
    each = node.integer("subsample_factor", 1)
    delays = [-node.integer(f"prev_{name}_delay", 0) for name in ("out", "cell")]
    size = node.integer("prev_out_dim", 0)
    offset = node.integer("prev_out_offset", 0)
    if each < 1 or min(delays) < 1 or any(delay % each for delay in delays):
        raise UnsupportedNodeError(
            f"delays of {[-d for d in delays]} frames, of which one in {each} is "
            "computed"
        )
    if size < 1 or offset < 0:
        raise UnsupportedNodeError(f"prev_out_dim {size}, prev_out_offset {offset}")
    scale = node.real("scale", 1.0)
    return _Loop((delays[0] // each, delays[1] // each), scale, offset, size)


def _run(
    node: Node,
    loop: _Loop,
    weights: _Weights,
    products: Value,
    given: list[Value] | None,
) -> tuple[list[Value], tuple[list[Value], list[Value]]]:
    """Outputs, and both states, of groups of `loop.width` steps; the last may be
    smaller.
    """
    batch, steps, _ = node.static_shape(products)
    units, width = weights.params.shape[1], loop.width
    of_state = node.literal(weights.first[:, weights.first.shape[1] - loop.size :])
    second, peepholes = node.literal(weights.second), _peepholes(node, weights.params)
    outputs: list[Value] = []
    kept: tuple[list[Value], list[Value]] = ([], [])
    for begin in range(0, steps, width):
        count = min(width, steps - begin)
        before = []
        for index, length in enumerate((loop.size, units)):
            delay = loop.delays[index]
            if begin >= delay:
                state = kept[index][(begin - delay) // width]
                before.append(_steps(node, state, 0, count))
            elif given is None:
                before.append(_zeros(node, batch, count, length))
            else:
                _check_state(node, given[index], delay, length)
                before.append(_steps(node, given[index], begin, begin + count))
        own = _steps(node, products, begin, begin + count)
        gates = affine(node, before[0], of_state, None, own)
        c, m = _cell(node, gates, before[1], peepholes)
        y = affine(node, m, second, weights.second_bias)
        outputs.append(y)
        recurrent = columns(node, y, loop.offset, loop.offset + loop.size)
        for states, state in zip(kept, (recurrent, c)):
            factor = node.scalar(loop.scale, state)
            states.append(
                state if loop.scale == 1 else math_of(node, "MUL", state, factor)
            )
    return outputs, kept


def _check_state(node: Node, state: Value, delay: int, length: int) -> None:
    shape = node.static_shape(state)
    if len(shape) != 3 or shape[1:] != (delay, length):
        raise UnsupportedNodeError(
            f"a state of shape {list(shape)}; [batch, {delay}, {length}] is needed"
        )


def _zeros(node: Node, batch: int, count: int, length: int) -> Value:
    return node.literal(np.zeros((batch, count, length), np.float32))


def _steps(node: Node, x: Value, begin: int, end: int) -> Value:
    length = node.shape(x)[1]
    if (begin, end) == (0, length):
        return x
    attrs = {"axes": [1], "begins": [begin], "ends": [end], "strides": [1]}
    return node.make("StridedSlice", [x], attrs)


def _concat(node: Node, values: list[Value], axis: int) -> Value:
    return (
        values[0] if len(values) == 1 else node.make("Concat", values, {"axis": axis})
    )


def _places(node: Node, name: str, order: list[int]) -> list[int]:
    """The steps that compute the frames of the next call's state."""
    frames = node.integers(name, [])
    if not frames or not set(frames) <= set(order):
        raise UnsupportedNodeError(f"{name} {frames[:20]} of frames {order[:20]}")
    return [order.index(frame) for frame in frames]
