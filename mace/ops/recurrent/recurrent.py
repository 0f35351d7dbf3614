# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Recurrent and DynamicQuantizeRecurrent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.matrices import dynamic_product
from mace.python.tools.ir.shapes import Shape, compatible, format_shape, product

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_Function = Callable[[Array], Array]


@dataclass(frozen=True)
class _Ports:
    """Where an operator has its inputs, behind the first two."""

    reverse_weights: int
    params: int
    initial_hidden: int
    initial_memory: int
    lengths: int


# A product of states [B, H] with the weights of a gate; only rows that are alive [B]
# count.
_Product = Callable[[Array, int, Array], Array]


class _Layer(OpRules):
    """What both operators have in common."""

    ports: ClassVar[_Ports]

    def weights_shape(self, columns: int, units: int) -> Shape:
        """Of one direction, for all its gates."""
        raise NotImplementedError

    def infer(self, op: Op) -> list[OutputType]:
        x, weights, ports = op.input(0), op.input(1), self.ports
        mode, count = op.attr("mode"), len(op.outputs)
        _check_ports(op, ports)
        shape = weights.shape
        if shape is None or len(shape) != 2:
            raise ValueError("the weights must have 2 dimensions")
        units, gates = self.units(shape), _GATES[mode]
        if units == 0:
            raise ValueError("the weights have no elements")
        directions = 1 if op.get_input(ports.reverse_weights) is None else 2
        each = self.weights_shape(gates * units, units)
        _check(op, 1, "weights", each)
        _check(op, ports.reverse_weights, "reverse_weights", each)
        self.check_scales(op, (directions, gates * units))
        wide = 3 * units if mode == "LSTM" else units
        _check(op, ports.params, "params", (directions, wide))
        if x.shape is None:
            return [OutputType(x.dtype, None)] * count
        if len(x.shape) != 3:
            raise ValueError(f"the input has {len(x.shape)} dimensions, not 3")
        columns = directions * gates * units
        _check(op, 0, "input", (*x.shape[:2], columns))
        steps, batch = x.shape[:2]
        state: Shape = (directions, batch, units)
        output: Shape = (steps, *state)
        if op.attr("batch_first"):
            batch, steps = steps, batch
            state = (batch, directions, units)
            output = (batch, steps, directions, units)
        _check(op, ports.initial_hidden, "initial_hidden", state)
        _check(op, ports.initial_memory, "initial_memory", state)
        _check(op, ports.lengths, "lengths", (batch,))
        shapes = [output, *[state] * (count - 1)]
        return [OutputType(x.dtype, shape) for shape in shapes]

    def units(self, weights: Shape) -> int:
        """Of weights with that shape."""
        raise NotImplementedError

    def check_scales(self, op: Op, expected: Shape) -> None:
        """Those of the weights."""

    def products(self, op: Op, inputs: Sequence[Any]) -> list[_Product]:
        """Of each direction."""
        raise NotImplementedError

    def macs(self, op: Op) -> int | None:
        # Each number of the input gets the product of a row of weights.
        numbers = product(op.input(0).shape or (None,))
        shape = op.input(1).shape
        if numbers is None or shape is None:
            return None
        return numbers * self.units(shape)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        given = [*inputs, *[None] * 9][:9]
        ports = self.ports
        x, params, hidden, memory = (
            None if i is None else np.asarray(i, np.float64)
            for i in (
                given[0],
                given[ports.params],
                given[ports.initial_hidden],
                given[ports.initial_memory],
            )
        )
        assert x is not None
        products = self.products(op, given)
        first = op.attr("batch_first")
        if first:
            x = x.swapaxes(0, 1)
        steps, batch = x.shape[:2]
        units, count = self.units(given[1].shape), len(products)
        zeros = np.zeros((count, batch, units))
        h, c = (
            zeros if s is None else s.swapaxes(0, 1) if first else s
            for s in (hidden, memory)
        )
        lengths = given[ports.lengths]
        lengths = np.full(batch, steps) if lengths is None else np.asarray(lengths)
        if lengths.size and not 0 <= lengths.min() <= lengths.max() <= steps:
            raise ValueError(f"a length is not within [0, {steps}]")
        if op.attr("forget_unread"):
            h, c = (np.where(lengths[:, None] > 0, state, 0.0) for state in (h, c))
        x = x.reshape(steps, batch, count, x.shape[2] // count)
        results = [
            _direction(
                _Cell(op, products[d], units, None if params is None else params[d]),
                x[:, :, d],
                (h[d], c[d]),
                lengths,
                reverse=d == 1 or op.attr("reverse"),
            )
            for d in range(count)
        ]
        output = np.stack([y for y, _, _ in results], 1)  # [T, D, B, H]
        states = [np.stack([r[i] for r in results]) for i in (1, 2)]
        if first:
            output = output.transpose(2, 0, 1, 3)
            states = [s.swapaxes(0, 1) for s in states]
        return [output, *states][: len(op.outputs)]


class Recurrent(_Layer):
    ports = _Ports(2, 3, 4, 5, 6)

    def weights_shape(self, columns: int, units: int) -> Shape:
        return (columns, units)

    def units(self, weights: Shape) -> int:
        units = weights[1]
        if not isinstance(units, int):
            raise ValueError("the weights must have 2 dimensions")
        return units

    def products(self, op: Op, inputs: Sequence[Any]) -> list[_Product]:
        return [
            _float_product(np.asarray(w, np.float64))
            for w in inputs[1:3]
            if w is not None
        ]


def _float_product(weights: Array) -> _Product:
    units = weights.shape[1]
    gates = weights.reshape(-1, units, units)
    return lambda h, gate, _alive: h @ gates[gate].T


class DynamicQuantizeRecurrent(_Layer):
    ports = _Ports(3, 4, 5, 6, 7)

    def weights_shape(self, columns: int, units: int) -> Shape:
        return (units, columns)

    def units(self, weights: Shape) -> int:
        units = weights[0]
        if not isinstance(units, int):
            raise ValueError("the weights must have 2 dimensions")
        return units

    def check_scales(self, op: Op, expected: Shape) -> None:
        _check(op, 2, "weight_scales", expected)
        _check(op, 8, "weight_zero_points", expected)

    def products(self, op: Op, inputs: Sequence[Any]) -> list[_Product]:
        whole = op.attr("range") == "TENSOR"
        weights = [inputs[i] for i in (1, 3) if inputs[i] is not None]
        zeros = inputs[8]
        return [
            _integer_product(
                w, inputs[2][d], None if zeros is None else zeros[d], whole
            )
            for d, w in enumerate(weights)
        ]


def _integer_product(
    weights: Array, scales: Array, zeros: Array | None, whole: bool
) -> _Product:
    units = weights.shape[0]

    def multiply(h: Array, gate: int, alive: Array) -> Array:
        rows = h.astype(np.float32)
        columns = slice(gate * units, (gate + 1) * units)
        return dynamic_product(
            rows,
            rows[alive].reshape(1, -1) if whole else rows,
            weights[:, columns],
            scales[columns],
            None if zeros is None else zeros[columns],
        ).astype(np.float64)

    return multiply


def _check_ports(op: Op, ports: _Ports) -> None:
    mode = op.attr("mode")
    if op.get_input(ports.reverse_weights) is not None and op.attr("reverse"):
        raise ValueError("has reverse_weights and the attribute reverse")
    with_params = mode == "LSTM" or (mode == "GRU" and op.attr("reset_after"))
    if op.get_input(ports.params) is not None and not with_params:
        raise ValueError("has params, which belong to LSTM and to GRU with reset_after")
    if op.get_input(ports.initial_memory) is not None and mode != "LSTM":
        raise ValueError("has an initial_memory, which belongs to LSTM")
    wanted = 3 if mode == "LSTM" else 2
    if len(op.outputs) != wanted:
        raise ValueError(f"has {len(op.outputs)} outputs, not {wanted}")


def _check(op: Op, port: int, name: str, expected: Shape) -> None:
    value = op.get_input(port)
    if value is not None and not compatible(value.shape, expected):
        raise ValueError(
            f"input {name!r} has the shape {format_shape(value.shape)}; "
            f"it must be {format_shape(expected)}"
        )


def _function(op: Op, name: str) -> _Function:
    function = _FUNCTIONS[op.attr(f"{name}_activation")]
    alpha, beta = (op.attr(f"{name}_{number}") for number in ("alpha", "beta"))
    return lambda x: function(x, alpha, beta)


class _Cell:
    """One step of one direction."""

    def __init__(
        self, op: Op, product: _Product, units: int, params: Array | None
    ) -> None:
        self._mode: str = op.attr("mode")
        self._units = units
        self._product = product
        self._params = params
        self._reset_after: bool = op.attr("reset_after")
        self._couple: bool = op.attr("couple_gates")
        gate, cell, self._output = (
            _function(op, name) for name in ("gate", "cell", "output")
        )
        clip = op.attr("clip")
        limit = clip if clip > 0 else np.inf
        self._gate: _Function = lambda x: gate(np.clip(x, -limit, limit))
        self._cell: _Function = lambda x: cell(np.clip(x, -limit, limit))

    def step(self, x: Array, h: Array, c: Array, alive: Array) -> tuple[Array, Array]:
        """The next h and c."""
        gates = _GATES[self._mode]
        x = x.reshape(len(x), gates, self._units).swapaxes(0, 1)

        def times(state: Array, gate: int) -> Array:
            return self._product(state, gate, alive)

        if self._mode == "RNN":
            return self._cell(x[0] + times(h, 0)), c
        if self._mode == "GRU":
            z, r = (self._gate(x[i] + times(h, i)) for i in (0, 1))
            if self._reset_after:
                bias = 0.0 if self._params is None else self._params
                n = self._cell(x[2] + r * (times(h, 2) + bias))
            else:
                n = self._cell(x[2] + times(r * h, 2))
            return (1 - z) * n + z * h, c
        p = np.zeros((3, self._units))
        if self._params is not None:
            p = self._params.reshape(3, -1)
        i = self._gate(x[0] + times(h, 0) + p[0] * c)
        f = 1 - i if self._couple else self._gate(x[2] + times(h, 2) + p[2] * c)
        c = f * c + i * self._cell(x[3] + times(h, 3))
        o = self._gate(x[1] + times(h, 1) + p[1] * c)
        return o * self._output(c), c


def _direction(
    cell: _Cell,
    x: Array,
    states: tuple[Array, Array],
    lengths: Array,
    *,
    reverse: bool,
) -> tuple[Array, Array, Array]:
    """h of all steps, and the last h and c."""
    h, c = states
    rows = np.arange(len(lengths))
    output = np.zeros((*x.shape[:2], h.shape[1]))
    for step in range(len(x)):
        alive = step < lengths
        at = np.where(alive, lengths - 1 - step if reverse else step, step)
        new_h, new_c = cell.step(x[at, rows], h, c, alive)
        h = np.where(alive[:, None], new_h, h)
        c = np.where(alive[:, None], new_c, c)
        output[at, rows] = np.where(alive[:, None], new_h, 0.0)
    return output, h, c


def _sigmoid(x: Array, _a: float, _b: float) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


# By the names of RecurrentActivation; alpha and beta follow x.
_FUNCTIONS: dict[str, Callable[[Array, float, float], Array]] = {
    "SIGMOID": _sigmoid,
    "TANH": lambda x, _a, _b: np.tanh(x),
    "RELU": lambda x, _a, _b: np.maximum(x, 0),
    "AFFINE": lambda x, a, b: a * x + b,
    "LEAKY_RELU": lambda x, a, _b: np.where(x < 0, a * x, x),
    "THRESHOLDED_RELU": lambda x, a, _b: np.where(x > a, x, 0),
    "SCALED_TANH": lambda x, a, b: a * np.tanh(b * x),
    "HARD_SIGMOID": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "ELU": lambda x, a, _b: np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x),
    "SOFTSIGN": lambda x, _a, _b: x / (1 + np.abs(x)),
    "SOFTPLUS": lambda x, _a, _b: np.logaddexp(0, x),
}
