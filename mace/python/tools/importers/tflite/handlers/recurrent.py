# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers that get all steps at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import ACTIVATIONS, HANDLERS, Context
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

# The gates, in the order of the schema.
_INPUT, _FORGET, _CELL, _OUTPUT = range(4)
# Added to a variance.
_EPSILON = 1e-8


@dataclass(frozen=True)
class _Places:
    """Where the inputs of a direction are.

    Attributes:
        weights, recurrence, biases: the first of each, in the order input, forget,
            cell, output.
        hidden, memory: the states; -1: there is none.
        peepholes: the first of input, forget and output.
        projection: its weights, and the bias behind.
        norms: the first factor of layer normalisation; -1: there is none.
    """

    weights: int
    recurrence: int
    biases: int
    hidden: int
    memory: int = -1
    peepholes: int = -1
    projection: int = -1
    norms: int = -1
    reverse: bool = False


UNIDIRECTIONAL_LSTM = _Places(1, 5, 12, 18, 19, 9, 16, 20)
# Weights, recurrence, bias and parameters of Recurrent.
_Weights = tuple[Value, Value, "Value | None", "Value | None"]
# By the numbers of the schema.
_FUNCTIONS: dict[int, tuple[str, float]] = {
    0: ("AFFINE", 1.0),
    1: ("RELU", 0.0),
    4: ("TANH", 0.0),
}
_FORWARD_LSTM = _Places(1, 5, 12, 35, 36, 9, 16)
_BACKWARD_LSTM = _Places(18, 22, 29, 37, 38, 26, 33, reverse=True)
_UNIDIRECTIONAL_RNN = _Places(1, 2, 3, 4)
_BACKWARD_RNN = _Places(5, 6, 7, 8, reverse=True)
# The steps of layers that become operators of their own.
_MOST_STEPS = 1024


def activated(context: Context, x: Value, number: int) -> Value:
    """The activation with a number of the schema.

    Raises:
        UnsupportedNodeError: it is another one.
    """
    if number not in ACTIVATIONS:
        raise UnsupportedNodeError(f"activation {number} of a recurrent layer")
    attrs = ACTIVATIONS[number]
    return context.step("Activation", [x], **attrs) if attrs else x


class LstmCell:
    """The constants of a layer, and what a step computes with them."""

    def __init__(self, context: Context, places: _Places) -> None:
        self._context = context
        self._places = places
        self._coupled = context.optional(places.weights) is None
        self._gates = [_FORGET, _CELL, _OUTPUT]
        if not self._coupled:
            self._gates.insert(0, _INPUT)
        parts = [
            np.concatenate([self._array(places.weights + g) for g in self._gates]),
            np.concatenate([self._array(places.recurrence + g) for g in self._gates]),
        ]
        self.units = parts[0].shape[0] // len(self._gates)
        self._matrix = context.constant(np.concatenate(parts, axis=1), "weights")
        self._norms = (
            {g: places.norms + g for g in self._gates}
            if places.norms >= 0 and self._is_given(places.norms + _FORGET)
            else {}
        )
        biases = [self._array(places.biases + g) for g in self._gates]
        if self._norms:
            # The bias follows the normalisation.
            biases = [np.zeros_like(bias) for bias in biases]
        self._bias = context.constant(np.concatenate(biases), "bias")
        self._number = context.node.integer("function")
        activated(context, context.input(0), self._number)  # refuses unknown ones

    def step(self, x: Value, h: Value, c: Value) -> tuple[Value, Value]:
        """The next states.

        Args:
            x: [batch, features]
            h: the last output, [batch, outputs]
            c: the memory, [batch, units]
        """
        context, eltwise = self._context, self._context.eltwise
        joined = context.step("Concat", [x, h], axis=1)
        sums = context.step("FullyConnected", [joined, self._matrix, self._bias])
        forget = _sigmoid(context, self._gate(sums, _FORGET, c))
        if self._coupled:
            given = eltwise("SUB", 1, forget)
        else:
            given = _sigmoid(context, self._gate(sums, _INPUT, c))
        new = activated(context, self._gate(sums, _CELL, None), self._number)
        c = eltwise("ADD", eltwise("MUL", forget, c), eltwise("MUL", given, new))
        c = self._limited(c, "cell_clip")
        gate = _sigmoid(context, self._gate(sums, _OUTPUT, c))
        shown = activated(context, c, self._number)
        return self._projected(eltwise("MUL", gate, shown)), c

    def _projected(self, h: Value) -> Value:
        place = self._places.projection
        if place < 0 or not self._is_given(place):
            return h
        inputs = [h, self._constant(place)]
        if self._is_given(place + 1):
            inputs.append(self._constant(place + 1))
        h = self._context.step("FullyConnected", inputs)
        return self._limited(h, "proj_clip")

    def _gate(self, sums: Value, gate: int, c: Value | None) -> Value:
        at = self._gates.index(gate) * self.units
        eltwise = self._context.eltwise
        x = self._context.cut(sums, 1, at, at + self.units)
        # Of input, forget and output; that of the output is the third one.
        place = self._places.peepholes + (2 if gate == _OUTPUT else gate)
        if c is not None and self._places.peepholes >= 0 and self._is_given(place):
            x = eltwise("ADD", x, eltwise("MUL", c, self._constant(place)))
        if not self._norms:
            return x
        x = eltwise("MUL", self._normalised(x), self._constant(self._norms[gate]))
        return eltwise("ADD", x, self._constant(self._places.biases + gate))

    def _normalised(self, x: Value) -> Value:
        step, eltwise = self._context.step, self._context.eltwise
        over = {"axes": [1], "keep_dims": True, "mode": "MEAN"}
        apart = eltwise("SUB", x, step("Reduce", [x], **over))
        variance = step("Reduce", [eltwise("SQUARE", apart)], **over)
        scale = eltwise("RSQRT", eltwise("ADD", variance, _EPSILON))
        return eltwise("MUL", apart, scale)

    def _limited(self, x: Value, name: str) -> Value:
        limit = self._context.node.number(name)
        if not limit > 0:
            return x
        eltwise = self._context.eltwise
        return eltwise("MIN", eltwise("MAX", x, -limit), limit)

    def _constant(self, place: int) -> Value:
        return self._context.constant(self._array(place), "weight")

    def _is_given(self, place: int) -> bool:
        return self._context.optional(place) is not None

    def _array(self, place: int) -> Array:
        return self._context.values(place, "a weight")


def _sigmoid(context: Context, x: Value) -> Value:
    """The activation of gates."""
    return context.step("Activation", [x], activation="SIGMOID")


@HANDLERS.register("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_lstm(context: Context) -> None:
    """One direction, from the first step on."""
    if context.node.flag("diagonal_recurrent_tensors"):
        raise UnsupportedNodeError("the weights of the state are diagonals")
    context.pass_on(_layer(context, UNIDIRECTIONAL_LSTM))


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


def _both(context: Context, forward: _Places, backward: _Places, second: range) -> None:
    if any(context.optional(index) is not None for index in second):
        raise UnsupportedNodeError("a second input")
    results = [_layer(context, direction) for direction in (forward, backward)]
    if context.node.flag("merge_outputs"):
        context.emit("Concat", results, axis=2)
        return
    for index, value in enumerate(results):
        context.pass_on(value, index)


def _layer(context: Context, places: _Places) -> Value:
    """The outputs of all steps of a direction."""
    x, major = context.input(0), context.node.flag("time_major")
    if x.shape is None or len(x.shape) != 3:
        raise UnsupportedNodeError("the input must have 3 dimensions")
    axis, is_lstm = 0 if major else 1, places.memory >= 0
    attrs = {**_functions(context, places), "batch_first": not major}
    attrs["reverse"] = places.reverse
    if is_lstm and _needs_steps(context, places, x.shape[axis]):
        return _step_by_step(context, places)
    if is_lstm:
        weights, recurrence, bias, params = _lstm(context, places)
        attrs["mode"] = "LSTM"
    else:
        weights, recurrence, bias, params = _rnn(context, places)
    direction = "backward" if places.reverse else "forward"
    products = context.step("FullyConnected", [x, weights, bias], direction)
    states = [_state(context, place, axis) for place in (places.hidden, places.memory)]
    unique = context.builder.graph.unique_name
    name = f"{context.node.name}/{direction}"
    names = [unique(f"{name}/{index}") for index in range(3 if is_lstm else 2)]
    inputs = [products, recurrence, None, params, *states]
    values = context.builder.op("Recurrent", inputs, names, attrs, source=False)
    return context.step("Squeeze", [values[0]], "outputs", axes=[axis + 1])


def _functions(context: Context, places: _Places) -> dict[str, Any]:
    number = context.node.integer("function")
    if number not in _FUNCTIONS:
        raise UnsupportedNodeError(f"activation {number} of a recurrent layer")
    name, alpha = _FUNCTIONS[number]
    roles = ("cell",) if places.memory < 0 else ("cell", "output")
    attrs: dict[str, Any] = {f"{role}_activation": name for role in roles}
    return {**attrs, **{f"{role}_alpha": alpha for role in roles}}


def _needs_steps(context: Context, places: _Places, steps: object) -> bool:
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


def _step_by_step(context: Context, places: _Places) -> Value:
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
        h, c = cell.step(context.cut(x, axis, step, step + 1, shrink=True), h, c)
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


def _rnn(context: Context, places: _Places) -> _Weights:
    arrays = [
        context.values(place, "the weights")
        for place in (places.weights, places.recurrence)
    ]
    weights, recurrence = (context.constant(a, "weights") for a in arrays)
    if context.optional(places.biases) is None:
        return weights, recurrence, None, None
    bias = context.values(places.biases, "the bias")
    return weights, recurrence, context.constant(bias, "bias"), None


def _lstm(context: Context, places: _Places) -> _Weights:
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
