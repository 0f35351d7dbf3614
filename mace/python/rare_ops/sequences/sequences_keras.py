# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers whose products are convolutions, and attention without heads, whose
scores are products or sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    count_variables,
    with_bias,
)
from mace.python.tools.importers.keras.handlers.attention import (
    FEW,
    as_bools,
    both_allow,
    near_pairs,
    operands,
)
from mace.python.tools.importers.keras.handlers.convolution import (
    image_kernel,
    window_attrs,
)
from mace.python.tools.importers.keras.handlers.functions import (
    activation_name,
    function,
)
from mace.python.tools.importers.keras.handlers.recurrent import (
    operands as recurrent_operands,
)
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.graph import Value

# Each step of a ConvLSTM is about 12 operators.
_MOST_STEPS = 1024


@HANDLERS.register("ConvLSTM1D", "ConvLSTM2D")
def conv_lstm(context: Context) -> None:
    """The convolutions of all inputs as one, then the steps."""
    layer, dims = context.layer, int(context.layer.kind[-2])
    context.refuse_mask()
    x, states = recurrent_operands(context, 2)
    context.check_rank(x, dims + 3)
    lead = [1] if dims == 1 else []
    batch, steps, *size, channels = context.fixed(x)
    if not 0 < steps <= _MOST_STEPS:
        raise UnsupportedNodeError(f"{steps} steps; up to {_MOST_STEPS} are unrolled")
    shape = [batch * steps, *lead, *size, channels]
    images = context.step("Reshape", [x], "images", shape=shape)
    # [4 * filters, height, width, channels]
    kernel, recurrence = (
        np.moveaxis(image_kernel(context, index, dims), 3, 0) for index in (0, 1)
    )
    bias = None
    if layer.flag("use_bias", True):
        bias = context.constant(context.variable(2, [kernel.shape[0]]), "bias")
    filters = context.constant(kernel, "filter")
    attrs = window_attrs(layer, kernel.shape[1:3], dims)
    products = context.step("Conv2D", [images, filters, bias], "products", **attrs)
    shape = [batch, steps, *context.fixed(products)[1:]]
    products = context.step("Reshape", [products], "sequence", shape=shape)
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
    cell = _ConvCell(context, context.constant(recurrence, "recurrence"))
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
    context.give_all([y, *final] if layer.flag("return_state") else [y])


class _ConvCell:
    """One step. The gates are input, forget, memory and output."""

    def __init__(self, context: Context, recurrence: Value) -> None:
        self._context = context
        self._recurrence = recurrence
        self._gate = activation_name(context.layer, "recurrent_activation")
        self._own = activation_name(context.layer)

    def step(
        self, gates: Value, h: Value | None, memory: Value | None
    ) -> tuple[Value, Value]:
        """The next states; None stands for zeros."""
        context = self._context
        if h is not None:
            more = context.step(
                "Conv2D", [h, self._recurrence], "recurrent", padding="SAME"
            )
            gates = context.eltwise("ADD", gates, more)
        count = context.fixed(gates)[-1] // 4
        names = ["in", "forget", "new", "out"]
        i, f, c, o = context.steps("Split", [gates], names, axis=3, sizes=[count] * 4)
        i, f, o = (function(context, gate, self._gate) for gate in (i, f, o))
        c = context.eltwise("MUL", i, function(context, c, self._own))
        if memory is not None:
            c = context.eltwise("ADD", context.eltwise("MUL", f, memory), c)
        return context.eltwise("MUL", o, function(context, c, self._own)), c


count_variables("ConvLSTM1D", "ConvLSTM2D", count=with_bias(2), folder="cell/vars")


def _masks(context: Context) -> list[Value | None]:
    """Those of the query and of the value."""
    given = context.keywords.get("mask")
    if given is None:
        return [context.mask_of(value) for value in context.inputs[:2]]
    if not isinstance(given, Sequence) or len(given) < 2:
        raise UnsupportedNodeError("mask is no list of masks")
    return [item if isinstance(item, Value) else None for item in given[:2]]


def _mixed(context: Context, scores: Value, value: Value) -> None:
    own, of_value = _masks(context)
    allowed = near_pairs(context, context.inputs[0], context.inputs[1])
    if of_value is not None:
        mask = as_bools(context, of_value)
        mask = context.step("ExpandDims", [mask], "counted", axes=[1])
        allowed = both_allow(context, allowed, mask)
    if allowed is not None:
        less = context.eltwise("ADD", scores, FEW)
        scores = context.step("Where", [allowed, scores, less], "masked")
    weights = context.step("Softmax", [scores], "weights", axis=-1)
    y = context.step("MatMul", [weights, value], "mixed")
    if own is not None:
        mask = as_bools(context, own)
        rows = context.step("ExpandDims", [mask], "rows", axes=[2])
        y = context.step("Where", [rows, y, context.scalar(0.0)], "kept")
        context.gives_mask = own
    context.give(y)
    if context.keywords.get("return_attention_scores") is True:
        context.give(weights, 1)


def _summed(context: Context, query: Value, key: Value, scale: Value | None) -> Value:
    """The sums of scale * tanh(query + key)."""
    rows = context.step("ExpandDims", [query], "rows", axes=[2])
    columns = context.step("ExpandDims", [key], "columns", axes=[1])
    total = context.eltwise("ADD", rows, columns)
    total = context.step("Activation", [total], "tanh", activation="TANH")
    if scale is not None:
        total = context.eltwise("MUL", total, scale)
    return context.reduce("SUM", total, [3], False)


@HANDLERS.register("Attention")
def attention(context: Context) -> None:
    """Scores by products, or by sums."""
    layer = context.layer
    query, value, key = map(context.as_floats, operands(context))
    mode = layer.text("score_mode", "dot")
    scale = None
    if layer.flag("use_scale"):
        scale = context.constant(context.variable(0), "scale")
    if mode == "dot":
        scores = context.step("MatMul", [query, key], "scores", transpose_b=True)
        if scale is not None:
            scores = context.eltwise("MUL", scores, scale)
    elif mode == "concat":
        if scale is not None:
            query, key = (context.eltwise("MUL", x, scale) for x in (query, key))
        scores = _summed(context, query, key, None)
        weight = context.variable(1 if scale is not None else 0)
        scores = context.eltwise("MUL", scores, weight)
    else:
        raise UnsupportedNodeError(f"score_mode is {mode!r}")
    _mixed(context, scores, value)


@HANDLERS.register("AdditiveAttention")
def additive(context: Context) -> None:
    """Scores by sums."""
    query, value, key = map(context.as_floats, operands(context))
    scale = None
    if context.layer.flag("use_scale", True):
        scale = context.constant(context.variable(0, [None]), "scale")
    _mixed(context, _summed(context, query, key, scale), value)


def _scales(layer: Layer) -> int:
    is_sum = layer.kind == "AdditiveAttention"
    joins = not is_sum and layer.text("score_mode", "dot") == "concat"
    return layer.flag("use_scale", is_sum) + joins


count_variables("Attention", "AdditiveAttention", count=_scales)
