# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers whose products are convolutions, unrolled."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    has_variables,
    trainable,
)
from mace.python.tools.importers.keras.handlers.convolution import (
    channels_last,
    window_attrs,
)
from mace.python.tools.importers.keras.handlers.functions import (
    activation_name,
    function,
)
from mace.python.tools.importers.keras.handlers.recurrent import listed
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

# Each is about 12 operators.
_MOST_STEPS = 1024


@HANDLERS.register("ConvLSTM1D", "ConvLSTM2D")
def conv_lstm(context: Context) -> None:
    """The convolutions of all inputs as one, then the steps."""
    layer = context.layer
    context.no_keywords("training")
    context.refuse_mask()
    channels_last(layer)
    if layer.flag("stateful"):
        raise UnsupportedNodeError(
            "stateful is set", "make its states inputs and outputs of the model"
        )
    dims = int(layer.kind[-2])
    x, *states = [context.as_floats(value) for value in context.inputs]
    states += [
        context.as_floats(value)
        for value in listed(context.keywords.get("initial_state"))
    ]
    if len(states) not in (0, 2):
        raise UnsupportedNodeError(f"{len(states)} initial states")
    if context.rank(x) != dims + 3:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    lead = [1] if dims == 1 else []
    batch, steps, *size, channels = context.fixed(x)
    if not 0 < steps <= _MOST_STEPS:
        raise UnsupportedNodeError(f"{steps} steps; up to {_MOST_STEPS} are unrolled")
    images = context.step(
        "Reshape", [x], "images", shape=[batch * steps, *lead, *size, channels]
    )
    kernel, recurrence = (_kernel(context, index, dims) for index in (0, 1))
    bias = None
    if layer.flag("use_bias", True):
        bias = context.constant(context.variable(2, [kernel.shape[0]]), "bias")
    filters = context.constant(kernel, "filter")
    attrs = window_attrs(layer, kernel.shape[1:3], dims)
    products = context.step("Conv2D", [images, filters, bias], "products", **attrs)
    after = context.fixed(products)[1:]
    products = context.step(
        "Reshape", [products], "sequence", shape=[batch, steps, *after]
    )
    parts = [products]
    if steps > 1:
        names = [f"input{index}" for index in range(steps)]
        parts = context.steps("Split", [products], names, axis=1, sizes=[1] * steps)
    if layer.flag("go_backwards"):
        parts.reverse()
    if dims == 1:
        states = [
            context.step("ExpandDims", [state], "image", axes=[1]) for state in states
        ]
    cell = _Cell(context, context.constant(recurrence, "recurrence"))
    h, memory = states or (None, None)
    outputs = []
    for part in parts:
        gates = context.step("Squeeze", [part], "gates", axes=[1])
        h, memory = cell.step(gates, h, memory)
        outputs.append(h)
    assert h is not None and memory is not None
    final = [h, memory]
    if layer.flag("return_sequences"):
        lines = [context.step("ExpandDims", [y], "step", axes=[1]) for y in outputs]
        y = lines[0]
        if steps > 1:
            y = context.step("Concat", lines, "outputs", axis=1)
    else:
        y = context.step("Identity", [h], "last")
    if dims == 1:
        y = context.step("Squeeze", [y], "lines", axes=[context.rank(y) - 3])
        final = [context.step("Squeeze", [state], "line", axes=[1]) for state in final]
    context.give(y)
    if layer.flag("return_state"):
        for index, state in enumerate(final):
            context.give(state, index + 1)


def _kernel(context: Context, index: int, dims: int) -> Array:
    """[4 * filters, height, width, channels]."""
    kernel = context.variable(index, [None] * (dims + 2))
    if dims == 1:
        kernel = kernel[None]
    return np.moveaxis(kernel, 3, 0)


class _Cell:
    """One step. The gates are input, forget, memory and output."""

    def __init__(self, context: Context, recurrence: Value) -> None:
        self._context = context
        self._recurrence = recurrence
        self._gate = activation_name(context.layer, "recurrent_activation")
        self._own = activation_name(context.layer)

    def _eltwise(self, mode: str, a: Value, b: Value) -> Value:
        return self._context.step("Eltwise", [a, b], mode.lower(), mode=mode)

    def step(
        self, gates: Value, h: Value | None, memory: Value | None
    ) -> tuple[Value, Value]:
        """The next states; None stands for zeros."""
        context = self._context
        if h is not None:
            more = context.step(
                "Conv2D", [h, self._recurrence], "recurrent", padding="SAME"
            )
            gates = self._eltwise("ADD", gates, more)
        count = context.fixed(gates)[-1] // 4
        names = ["in", "forget", "new", "out"]
        i, f, c, o = context.steps("Split", [gates], names, axis=3, sizes=[count] * 4)
        i, f, o = (function(context, gate, self._gate) for gate in (i, f, o))
        c = self._eltwise("MUL", i, function(context, c, self._own))
        if memory is not None:
            c = self._eltwise("ADD", self._eltwise("MUL", f, memory), c)
        return self._eltwise("MUL", o, function(context, c, self._own)), c


@has_variables("ConvLSTM1D", "ConvLSTM2D")
def _variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(3 if layer.flag("use_bias", True) else 2, "cell/vars")
