# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that compute one step of a recurrent layer, whose state the next run
continues.

The importer gives each such state a further output: its value after the step
(`Operator.states`).
"""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.importers.tflite.handlers.recurrent import (
    UNIDIRECTIONAL_LSTM,
    LstmCell,
    activated,
)
from mace.python.tools.ir.graph import Value

_BASIC = 1


@HANDLERS.register("RNN")
def rnn(context: Context) -> None:
    """The activation of W x + R h + b, which is the next h."""
    x, h = context.input(0), context.input(4)
    weights, recurrence, bias = (
        context.constant(context.values(place, "the weights"), "weights")
        for place in (1, 2, 3)
    )
    of_input = context.step("FullyConnected", [x, weights, bias], "of_input")
    of_state = context.step("FullyConnected", [h, recurrence], "of_state")
    total = context.eltwise("ADD", of_input, of_state)
    result = activated(context, total, context.node.integer("function"))
    context.pass_on(result)
    _keep(context, 4, result)


@HANDLERS.register("SVDF")
def svdf(context: Context) -> None:
    """A filter along the features of a step, then one along the last steps."""
    x, state = context.input(0), context.input(4)
    features, times = (
        context.values(place, what)
        for place, what in ((1, "the weights of features"), (2, "the weights of time"))
    )
    rank = context.node.integer("rank")
    filters, memory = times.shape
    if features.shape[0] != filters or rank < 1 or filters % rank:
        raise UnsupportedNodeError(
            f"{features.shape[0]} filters of features, {filters} of time, rank {rank}"
        )
    weights = context.constant(features, "features")
    new = context.step("FullyConnected", [x, weights], "new")
    batch = context.static_shape(new)[0]
    steps = context.step("Reshape", [state], "steps", shape=[batch, filters, memory])
    new = context.step("Reshape", [new], "newest", shape=[batch, filters, 1])
    kept = [context.cut(steps, 2, 1, memory)] if memory > 1 else []
    steps = context.step("Concat", [*kept, new], "after", axis=2)
    products = context.eltwise("MUL", steps, context.constant(times, "times"))
    shape = [batch, filters // rank, rank * memory]
    products = context.step("Reshape", [products], "of_units", shape=shape)
    attrs = {"mode": "SUM", "axes": [2], "keep_dims": False}
    total = context.step("Reduce", [products], "sums", **attrs)
    if context.optional(3) is not None:
        bias = context.constant(context.values(3, "the bias"), "bias")
        total = context.eltwise("ADD", total, bias)
    context.pass_on(activated(context, total, context.node.integer("function")))
    after = context.step("Reshape", [steps], "state", shape=[batch, filters * memory])
    _keep(context, 4, after)


@HANDLERS.register("LSTM")
def lstm(context: Context) -> None:
    """All gates, as the sequences have them; or the basic form."""
    if context.node.integer("kernel_type") == _BASIC:
        _basic_lstm(context)
        return
    places = UNIDIRECTIONAL_LSTM
    cell = LstmCell(context, places)
    h, c = context.input(places.hidden), context.input(places.memory)
    h, c = cell.step(context.input(0), h, c)
    context.pass_on(h)
    _keep(context, places.hidden, h)
    _keep(context, places.memory, c)


def _basic_lstm(context: Context) -> None:
    """One matrix for all gates, in the order input, cell, forget, output."""
    x, h, c = (context.input(place) for place in (0, 1, 4))
    weights, bias = (
        context.constant(context.values(place, "the weights"), "weights")
        for place in (2, 3)
    )
    joined = context.step("Concat", [x, h], "joined", axis=context.rank(0) - 1)
    rows = joined
    depth = (joined.shape or (0,))[-1]
    if context.rank(0) != 2:
        rows = context.step("Reshape", [joined], "rows", shape=[-1, depth])
    gates = context.step("FullyConnected", [rows, weights, bias], "gates")
    units = (c.shape or (0,))[-1]
    if not isinstance(units, int) or weights.shape != (4 * units, depth):
        raise UnsupportedNodeError(
            f"weights of {list(weights.shape or ())} for {units} units and {depth} "
            "inputs"
        )

    def gate(index: int, activation: str) -> Value:
        part = context.cut(gates, 1, index * units, (index + 1) * units)
        part = context.step("Activation", [part], "gate", activation=activation)
        if context.rank(4) == 2:
            return part
        shape = [*context.static_shape(c)[:-1], units]
        return context.step("Reshape", [part], "gate", shape=shape)

    eltwise = context.eltwise
    new = eltwise("MUL", gate(0, "SIGMOID"), gate(1, "TANH"))
    c = eltwise("ADD", eltwise("MUL", gate(2, "SIGMOID"), c), new)
    shown = context.step("Activation", [c], "shown", activation="TANH")
    h = eltwise("MUL", gate(3, "SIGMOID"), shown)
    if context.rank(0) != 2:
        shape = [*context.static_shape(c)[:-1], 4 * units]
        gates = context.step("Reshape", [gates], "gates", shape=shape)
    for index, value in enumerate((h, c, joined, gates)):
        if index < len(context.tensors):
            context.pass_on(value, index)
    _keep(context, 1, h)
    _keep(context, 4, c)


def _keep(context: Context, place: int, value: Value) -> None:
    """Makes a value the state of the next run."""
    index = context.operator.states.get(place)
    if index is not None:
        context.pass_on(value, index)
