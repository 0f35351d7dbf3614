# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Recurrent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import Shape, compatible, format_shape, product

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_Function = Callable[[Array], Array]


class Recurrent(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, weights = op.input(0), op.input(1)
        mode, count = op.attr("mode"), len(op.outputs)
        _check_ports(op)
        shape = weights.shape
        if shape is None or len(shape) != 2 or not isinstance(shape[1], int):
            raise ValueError("the weights must have 2 dimensions")
        units, gates = shape[1], _GATES[mode]
        if units == 0:
            raise ValueError("the weights have no elements")
        directions = 1 if op.get_input(2) is None else 2
        _check(op, 1, "weights", (gates * units, units))
        _check(op, 2, "reverse_weights", (gates * units, units))
        wide = 3 * units if mode == "LSTM" else units
        _check(op, 3, "params", (directions, wide))
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
        _check(op, 4, "initial_hidden", state)
        _check(op, 5, "initial_memory", state)
        _check(op, 6, "lengths", (batch,))
        shapes = [output, *[state] * (count - 1)]
        return [OutputType(x.dtype, shape) for shape in shapes]

    def macs(self, op: Op) -> int | None:
        # Each number of the input gets the product of a row of weights.
        numbers = product(op.input(0).shape or (None,))
        units = product((op.input(1).shape or (None,))[-1:])
        return None if numbers is None or units is None else numbers * units

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        given = [*inputs, *[None] * 7][:7]
        x, w, w_reverse, params, hidden, memory = (
            None if i is None else np.asarray(i, np.float64) for i in given[:6]
        )
        assert x is not None and w is not None
        weights = [w] if w_reverse is None else [w, w_reverse]
        first = op.attr("batch_first")
        if first:
            x = x.swapaxes(0, 1)
        steps, batch = x.shape[:2]
        units, count = w.shape[1], len(weights)
        zeros = np.zeros((count, batch, units))
        h, c = (
            zeros if s is None else s.swapaxes(0, 1) if first else s
            for s in (hidden, memory)
        )
        lengths = np.full(batch, steps) if given[6] is None else np.asarray(given[6])
        if lengths.size and not 0 <= lengths.min() <= lengths.max() <= steps:
            raise ValueError(f"a length is not within [0, {steps}]")
        if op.attr("forget_unread"):
            h, c = (np.where(lengths[:, None] > 0, state, 0.0) for state in (h, c))
        x = x.reshape(steps, batch, count, len(w))
        results = [
            _direction(
                _Cell(op, weights[d], None if params is None else params[d]),
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


def _check_ports(op: Op) -> None:
    mode = op.attr("mode")
    if op.get_input(2) is not None and op.attr("reverse"):
        raise ValueError("has reverse_weights and the attribute reverse")
    with_params = mode == "LSTM" or (mode == "GRU" and op.attr("reset_after"))
    if op.get_input(3) is not None and not with_params:
        raise ValueError("has params, which belong to LSTM and to GRU with reset_after")
    if op.get_input(5) is not None and mode != "LSTM":
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

    def __init__(self, op: Op, weights: Array, params: Array | None) -> None:
        self._mode: str = op.attr("mode")
        self._units = weights.shape[1]
        self._weights = weights.reshape(-1, self._units, self._units)
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

    def step(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        """The next h and c."""
        x = x.reshape(len(x), len(self._weights), self._units).swapaxes(0, 1)
        w = [weights.T for weights in self._weights]
        if self._mode == "RNN":
            return self._cell(x[0] + h @ w[0]), c
        if self._mode == "GRU":
            z, r = (self._gate(x[i] + h @ w[i]) for i in (0, 1))
            if self._reset_after:
                bias = 0.0 if self._params is None else self._params
                n = self._cell(x[2] + r * (h @ w[2] + bias))
            else:
                n = self._cell(x[2] + (r * h) @ w[2])
            return (1 - z) * n + z * h, c
        p = np.zeros((3, self._units))
        if self._params is not None:
            p = self._params.reshape(3, -1)
        i = self._gate(x[0] + h @ w[0] + p[0] * c)
        f = 1 - i if self._couple else self._gate(x[2] + h @ w[2] + p[2] * c)
        c = f * c + i * self._cell(x[3] + h @ w[3])
        o = self._gate(x[1] + h @ w[1] + p[1] * c)
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
        new_h, new_c = cell.step(x[at, rows], h, c)
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
