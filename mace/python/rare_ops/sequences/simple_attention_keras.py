# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention without heads: its scores are products, or sums."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context, count_variables
from mace.python.tools.importers.keras.handlers.attention import (
    FEW,
    as_bools,
    both_allow,
    near_pairs,
    operands,
)
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.graph import Value


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
