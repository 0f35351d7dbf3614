# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers that get all steps at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.importers.tflite.handlers.lstm_cell import (
    UNIDIRECTIONAL,
    LstmCell,
    Places,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

# By the numbers of the schema.
_FUNCTIONS: dict[int, tuple[str, float]] = {
    0: ("AFFINE", 1.0),
    1: ("RELU", 0.0),
    4: ("TANH", 0.0),
}


_FORWARD_LSTM = Places(1, 5, 12, 35, 36, 9, 16)
_BACKWARD_LSTM = Places(18, 22, 29, 37, 38, 26, 33, reverse=True)
_UNIDIRECTIONAL_RNN = Places(1, 2, 3, 4)
_BACKWARD_RNN = Places(5, 6, 7, 8, reverse=True)
# The steps of layers that become operators of their own.
_MOST_STEPS = 1024
_INPUT, _FORGET, _CELL, _OUTPUT = range(4)


@HANDLERS.register("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_lstm(context: Context) -> None:
    """One direction, from the first step on."""
    if context.node.flag("diagonal_recurrent_tensors"):
        raise UnsupportedNodeError("the weights of the state are diagonals")
    context.pass_on(_layer(context, UNIDIRECTIONAL))


@HANDLERS.register("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(context: Context) -> None:
    """Both directions."""
    _both(context, _FORWARD_LSTM, _BACKWARD_LSTM, range(39, 48))


@HANDLERS.register("UNIDIRECTIONAL_SEQUENCE_RNN")
def unidirectional_rnn(context: Context) -> None:
    """One direction, from the first step on."""
    context.pass_on(_layer(context, _UNIDIRECTIONAL_RNN))


@HANDLERS.register("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(context: Context) -> None:
    """Both directions."""
    _both(context, _UNIDIRECTIONAL_RNN, _BACKWARD_RNN, range(9, 12))


def _both(context: Context, forward: Places, backward: Places, second: range) -> None:
    if any(context.optional(index) is not None for index in second):
        raise UnsupportedNodeError("a second input")
    results = [_layer(context, direction) for direction in (forward, backward)]
    if context.node.flag("merge_outputs"):
        context.emit("Concat", results, axis=2)
        return
    for index, value in enumerate(results):
        context.pass_on(value, index)


def _layer(context: Context, places: Places) -> Value:
    """The outputs of all steps of a direction."""
    x, major = context.input(0), context.node.flag("time_major")
    if x.shape is None or len(x.shape) != 3:
        raise UnsupportedNodeError("the input must have 3 dimensions")
    attrs = {**_functions(context, places), "batch_first": not major}
    attrs["reverse"] = places.reverse
    if places.memory >= 0 and _needs_steps(context, places, x.shape[0 if major else 1]):
        return _step_by_step(context, places)
    if places.memory < 0:
        inputs = _rnn(context, places)
        outputs = 2
    else:
        inputs = _lstm(context, places)
        attrs["mode"] = "LSTM"
        outputs = 3
    weights, recurrence, bias, params = inputs
    products = context.step(
        "FullyConnected",
        [x, weights, bias],
        "backward" if places.reverse else "forward",
    )
    axis = 0 if major else 1
    states = [_state(context, place, axis) for place in (places.hidden, places.memory)]
    name = f"{context.node.name}/{'backward' if places.reverse else 'forward'}"
    unique = context.builder.graph.unique_name
    values = context.builder.op(
        "Recurrent",
        [products, recurrence, None, params, *states],
        [unique(f"{name}/{index}") for index in range(outputs)],
        attrs,
        source=False,
    )
    return context.step("Squeeze", [values[0]], "outputs", axes=[1 if major else 2])


def _functions(context: Context, places: Places) -> dict[str, Any]:
    number = context.node.integer("function")
    if number not in _FUNCTIONS:
        raise UnsupportedNodeError(f"activation {number} of a recurrent layer")
    name, alpha = _FUNCTIONS[number]
    roles = ("cell",) if places.memory < 0 else ("cell", "output")
    attrs: dict[str, Any] = {f"{role}_activation": name for role in roles}
    return {**attrs, **{f"{role}_alpha": alpha for role in roles}}


def _needs_steps(context: Context, places: Places, steps: object) -> bool:
    """Whether a layer does more than MACE's operator for all steps: a projection, layer
    normalisation, a limit that the memory could reach, states in integers.
    """
    if any(tensor.quantization for tensor in context.tensors):
        return True
    extra = (places.projection, places.norms + 1 if places.norms >= 0 else -1)
    if any(place >= 0 and context.optional(place) is not None for place in extra):
        return True
    clip = context.node.number("cell_clip")
    # Each step adds at most 1 to a memory, if its function is tanh.
    given = context.optional(places.memory) is not None
    bounded = context.node.integer("function") == 4 and not given
    return clip > 0 and not (bounded and isinstance(steps, int) and steps <= clip)


def _step_by_step(context: Context, places: Places) -> Value:
    """The outputs of all steps, each of which has operators of its own."""
    x, major = context.input(0), context.node.flag("time_major")
    shape = context.static_shape(x)
    axis = 0 if major else 1
    steps, batch = shape[axis], shape[1 - axis]
    if not 1 <= steps <= _MOST_STEPS:
        raise UnsupportedNodeError(f"{steps} steps; at most {_MOST_STEPS} work here")
    cell = LstmCell(context, places)
    size = (context.tensors[0].shape or (0,))[-1]
    if context.node.flag("merge_outputs"):
        size //= 2
    h, c = (
        context.optional(place)
        or context.constant(np.zeros((batch, width), np.float32), "zeros")
        for place, width in ((places.hidden, size), (places.memory, cell.units))
    )
    found: list[Value] = []
    order = range(steps)
    for step in reversed(order) if places.reverse else order:
        cut = {"axes": [axis], "begins": [step], "ends": [step + 1], "strides": [1]}
        part = context.step("StridedSlice", [x], "x", **cut, shrink_axes=[axis])
        h, c = cell.step(part, h, c)
        found.append(h)
        h, c = (
            context.rounded(value, place)
            for value, place in ((h, places.hidden), (c, places.memory))
        )
    if places.reverse:
        found.reverse()
    return context.step("Stack", found, "outputs", axis=axis)


def _state(context: Context, place: int, axis: int) -> Value | None:
    state = context.optional(place) if place >= 0 else None
    if state is None:
        return None
    return context.step("ExpandDims", [state], "state", axes=[axis])


def _rnn(
    context: Context, places: Places
) -> tuple[Value, Value, Value | None, Value | None]:
    arrays = [
        context.values(place, "the weights")
        for place in (places.weights, places.recurrence)
    ]
    weights, recurrence = (context.constant(a, "weights") for a in arrays)
    if context.optional(places.biases) is None:
        return weights, recurrence, None, None
    bias = context.values(places.biases, "the bias")
    return weights, recurrence, context.constant(bias, "bias"), None


def _lstm(
    context: Context, places: Places
) -> tuple[Value, Value, Value | None, Value | None]:
    """In the order of Recurrent: input, output, forget, cell."""
    order = (_INPUT, _OUTPUT, _FORGET, _CELL)
    coupled = context.optional(places.weights) is None

    def gate(first: int, index: int, what: str) -> Array:
        if coupled and index == _INPUT:
            # 1 - sigmoid(forget), which is sigmoid(-forget).
            return -context.values(first + _FORGET, what)
        return context.values(first + index, what)

    weights, recurrence = (
        context.constant(
            np.concatenate([gate(first, index, "the weights") for index in order]),
            "weights",
        )
        for first in (places.weights, places.recurrence)
    )
    bias = np.concatenate([gate(places.biases, index, "a bias") for index in order])
    params = None
    if context.optional(places.peepholes + 1) is not None:
        # Of input, forget and output; Recurrent: input, output, forget.
        found = [gate(places.peepholes, index, "peepholes") for index in (_INPUT, 1)]
        output = context.values(places.peepholes + 2, "peepholes")
        both = np.concatenate([found[0], output, found[1]])
        params = context.constant(both[None], "peepholes")
    return weights, recurrence, context.constant(bias, "bias"), params
