# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN: each layer as one operator of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


@dataclass(frozen=True)
class _Kind:
    """How ONNX has a layer.

    Attributes:
        type: the operator.
        gates: PyTorch's numbers of ONNX's gates, in ONNX's order.
        activation: '' for the default.
    """

    type: str
    gates: tuple[int, ...]
    activation: str = ""


_KINDS = {
    "gru": _Kind("GRU", (1, 0, 2)),
    "lstm": _Kind("LSTM", (0, 3, 1, 2)),
    "rnn_relu": _Kind("RNN", (0,), "Relu"),
    "rnn_tanh": _Kind("RNN", (0,)),
}


@HANDLERS.register(*(f"aten.{name}" for name in _KINDS))
def _recurrent(c: Context) -> None:
    if c.has("data"):
        raise UnsupportedNodeError(
            "a packed sequence", "pass padded sequences of one length"
        )
    kind = _KINDS[c.operator]
    x = c.value("input")
    if c.flag("train") and c.number("dropout", 0) != 0:
        raise UnsupportedNodeError("train is True", "export after model.eval()")
    c.raw("dropout")
    first = c.flag("batch_first")
    if c.rank(x) != 3:
        raise UnsupportedNodeError("a sequence without a batch")
    states = c.values("hx") if kind.type == "LSTM" else [c.value("hx")]
    layers, biases = c.integer("num_layers"), c.flag("has_biases")
    directions = 2 if c.flag("bidirectional") else 1
    parameters = c.values("params")
    each = len(parameters) // max(layers * directions, 1)
    usual = 4 if biases else 2
    # An LSTM with proj_size has one matrix more.
    if each not in (usual, usual + 1) or len(parameters) != each * layers * directions:
        raise UnsupportedNodeError(f"{each} parameters for each layer")
    sequence = c.transpose(x, [1, 0, 2]) if first else x
    finals: list[list[Value]] = [[] for _ in states]
    for layer in range(layers):
        begin = layer * directions
        own = [
            parameters[(begin + d) * each : (begin + d + 1) * each]
            for d in range(directions)
        ]
        initial = [
            state if layers == 1 else c.slice(state, 0, begin, begin + directions)
            for state in states
        ]
        make = _layer if each == usual else _projected_layer
        sequence, *last = make(c, kind, sequence, own, initial)
        for known, value in zip(finals, last):
            known.append(value)
    if first:
        sequence = c.transpose(sequence, [1, 0, 2])
    c.give(
        sequence,
        *(c.concat(values, 0) for values in finals),
    )


def _layer(
    c: Context,
    kind: _Kind,
    x: Value,
    parameters: Sequence[Sequence[Value]],
    initial: Sequence[Value],
) -> list[Value]:
    def gates(number: int) -> Array:
        """A parameter of all directions, with its gates in ONNX's order."""
        found = []
        for own in parameters:
            if not own[number].is_constant:
                raise UnsupportedNodeError("weights that are computed at run time")
            parts = np.split(own[number].numpy(), len(kind.gates))
            found.append(np.concatenate([parts[gate] for gate in kind.gates]))
        return np.stack(found)

    weights, recurrence = gates(0), gates(1)
    directions, rows, units = recurrence.shape
    del rows
    bias = None
    if len(parameters[0]) == 4:
        bias = c.constant(np.concatenate([gates(2), gates(3)], axis=1))
    if any(c.rank(state) != 3 for state in initial):
        raise UnsupportedNodeError("a sequence without a batch")
    inputs = [x, c.constant(weights), c.constant(recurrence), bias, None, *initial]
    names = [kind.activation] * directions if kind.activation else None
    y, *last = c.op_all(
        kind.type,
        inputs,
        1 + len(initial),
        hidden_size=int(units),
        direction="bidirectional" if directions == 2 else "forward",
        linear_before_reset=1 if kind.type == "GRU" else None,
        activations=names,
    )
    # [steps, directions, batch, units]
    if directions == 1:
        y = c.squeeze(y, 1)
    else:
        turned = c.transpose(y, [0, 2, 1, 3])
        y = c.op("Reshape", turned, [0, 0, directions * int(units)])
    return [y, *last]


def _projected_layer(
    c: Context,
    kind: _Kind,
    x: Value,
    parameters: Sequence[Sequence[Value]],
    initial: Sequence[Value],
) -> list[Value]:
    """An LSTM whose output h is the product of a matrix P with its usual output m.

    Its recurrence R h is (R P) m, so it is a usual LSTM with the recurrence R P, and
    one product with P behind all steps. Its first state h is not P m for some m: it is
    a further input that is 0 in all steps but the first, with the weights R.
    """
    arrays = []
    for own in parameters:
        if not all(value.is_constant for value in own):
            raise UnsupportedNodeError("weights that are computed at run time")
        arrays.append([value.numpy() for value in own])
    h, cell = initial
    directions, size = len(arrays), arrays[0][-1].shape[0]
    units = arrays[0][-1].shape[1]
    starts = not (h.is_constant and not h.numpy().any())
    changed = []
    for d, (w, r, *biases, p) in enumerate(arrays):
        if starts:
            further = np.zeros((len(w), directions * size), w.dtype)
            further[:, d * size : (d + 1) * size] = r
            w = np.concatenate([w, further], 1)
        product = (r.astype(np.float64) @ p).astype(r.dtype)
        changed.append([c.constant(array) for array in (w, product, *biases)])
    if starts:
        steps = c.length(x, 0)
        parts = [x]
        for d in range(directions):
            before = (steps - 1) * d
            pads = np.array([before, 0, 0, steps - 1 - before, 0, 0])
            parts.append(c.op("Pad", c.slice(h, 0, d, d + 1), pads))
        x = c.op("Concat", *parts, axis=2)
    shape = c.shape(cell)
    if not isinstance(shape[1], int):
        nothing = c.op("Mul", cell, 0.0)
    else:
        nothing = c.constant(np.zeros((directions, shape[1], units), np.float32))
    m, last_m, last_cell = _layer(c, kind, x, changed, [nothing, cell])
    matrices = c.constant(np.stack([every[-1].T for every in arrays]))
    last = c.op("MatMul", last_m, matrices)
    if directions == 1:
        return [c.op("MatMul", m, c.squeeze(matrices, 0)), last, last_cell]
    both = np.zeros((directions * units, directions * size), np.float32)
    for d, every in enumerate(arrays):
        rows = slice(d * units, (d + 1) * units)
        both[rows, d * size : (d + 1) * size] = every[-1].T
    return [c.op("MatMul", m, c.constant(both)), last, last_cell]


@HANDLERS.register(
    "aten.lstm_cell", "aten.gru_cell", "aten.rnn_tanh_cell", "aten.rnn_relu_cell"
)
def _cell(c: Context) -> None:
    kind = _KINDS[c.operator.removesuffix("_cell")]
    x = c.unsqueeze(c.value("input"), 0)
    states = c.values("hx") if kind.type == "LSTM" else [c.value("hx")]
    names = ["w_ih", "w_hh", *(name for name in ("b_ih", "b_hh") if c.has(name))]
    parameters = [c.value(name) for name in names]
    initial = [c.unsqueeze(state, 0) for state in states]
    _, *last = _layer(c, kind, x, [parameters], initial)
    c.give(*(c.squeeze(state, 0) for state in last))
