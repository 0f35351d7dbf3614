# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One step of an LSTM in all its forms, as operators on matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import Context
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_INPUT, _FORGET, _CELL, _OUTPUT = range(4)
# By the numbers of the schema.
_ACTIVATIONS = {1: "RELU", 4: "TANH"}
_RELU6 = 3
# Added to a variance.
_EPSILON = 1e-8


@dataclass(frozen=True)
class Places:
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


UNIDIRECTIONAL = Places(1, 5, 12, 18, 19, 9, 16, 20)


def activated(context: Context, x: Value, number: int) -> Value:
    """The activation with a number of the schema.

    Raises:
        UnsupportedNodeError: it is another one.
    """
    if number == 0:
        return x
    if number == _RELU6:
        attrs = {"activation": "RELUX", "activation_limit": 6.0}
        return context.step("Activation", [x], "activated", **attrs)
    if number not in _ACTIVATIONS:
        raise UnsupportedNodeError(f"activation {number} of a recurrent layer")
    name = _ACTIVATIONS[number]
    return context.step("Activation", [x], "activated", activation=name)


class LstmCell:
    """The constants of a layer, and what a step computes with them."""

    def __init__(self, context: Context, places: Places) -> None:
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
            {g: self._array(places.norms + g) for g in self._gates}
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
        joined = self._make("Concat", [x, h], axis=1)
        sums = self._make("FullyConnected", [joined, self._matrix, self._bias])
        forget = self._sigmoid(self._gate(sums, _FORGET, c))
        if self._coupled:
            one = self._context.constant(np.ones((), np.float32), "one")
            given = self._make("Eltwise", [one, forget], mode="SUB")
        else:
            given = self._sigmoid(self._gate(sums, _INPUT, c))
        new = activated(self._context, self._gate(sums, _CELL, None), self._number)
        kept = self._make("Eltwise", [forget, c], mode="MUL")
        added = self._make("Eltwise", [given, new], mode="MUL")
        c = self._make("Eltwise", [kept, added], mode="ADD")
        c = self._limited(c, self._context.node.number("cell_clip"))
        gate = self._sigmoid(self._gate(sums, _OUTPUT, c))
        shown = activated(self._context, c, self._number)
        return self._projected(self._make("Eltwise", [gate, shown], mode="MUL")), c

    def _projected(self, h: Value) -> Value:
        place = self._places.projection
        if place < 0 or not self._is_given(place):
            return h
        inputs = [h, self._context.constant(self._array(place), "projection")]
        if self._is_given(place + 1):
            bias = self._array(place + 1)
            inputs.append(self._context.constant(bias, "projection_bias"))
        h = self._make("FullyConnected", inputs)
        return self._limited(h, self._context.node.number("proj_clip"))

    def _gate(self, sums: Value, gate: int, c: Value | None) -> Value:
        at = self._gates.index(gate) * self.units
        cut = {"axes": [1], "begins": [at], "ends": [at + self.units], "strides": [1]}
        x = self._make("StridedSlice", [sums], **cut)
        # Of input, forget and output; that of the output is the third one.
        place = self._places.peepholes + (2 if gate == _OUTPUT else gate)
        if c is not None and self._places.peepholes >= 0 and self._is_given(place):
            factor = self._context.constant(self._array(place), "peephole")
            seen = self._make("Eltwise", [c, factor], mode="MUL")
            x = self._make("Eltwise", [x, seen], mode="ADD")
        return self._normalised(x, gate) if self._norms else x

    def _normalised(self, x: Value, gate: int) -> Value:
        make, constant = self._make, self._context.constant
        over = {"axes": [1], "keep_dims": True}
        mean = make("Reduce", [x], mode="MEAN", **over)
        apart = make("Eltwise", [x, mean], mode="SUB")
        square = make("Eltwise", [apart], mode="SQUARE")
        variance = make("Reduce", [square], mode="MEAN", **over)
        least = constant(np.float32(_EPSILON).reshape(()), "epsilon")
        variance = make("Eltwise", [variance, least], mode="ADD")
        factor = make("Eltwise", [variance], mode="RSQRT")
        x = make("Eltwise", [apart, factor], mode="MUL")
        norm = constant(self._norms[gate], "factor")
        x = make("Eltwise", [x, norm], mode="MUL")
        bias = constant(self._array(self._places.biases + gate), "bias")
        return make("Eltwise", [x, bias], mode="ADD")

    def _limited(self, x: Value, limit: float) -> Value:
        if not limit > 0:
            return x
        for mode, number in (("MAX", -limit), ("MIN", limit)):
            bound = self._context.constant(np.float32(number).reshape(()), "limit")
            x = self._make("Eltwise", [x, bound], mode=mode)
        return x

    def _sigmoid(self, x: Value) -> Value:
        return self._make("Activation", [x], activation="SIGMOID")

    def _is_given(self, place: int) -> bool:
        return self._context.optional(place) is not None

    def _array(self, place: int) -> Array:
        return self._context.values(place, "a weight")

    def _make(self, op_type: str, inputs: list[Value], **attrs: object) -> Value:
        return self._context.step(op_type, inputs, "step", **attrs)
