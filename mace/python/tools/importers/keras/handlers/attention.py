# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, with masks of steps and of pairs of steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context, has_variables
from mace.python.tools.importers.keras.handlers.dense import product
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.importers.standard.apply import apply_operator
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# What Keras gives scores that do not count: where products and softmax are one
# function, in the layer Softmax, and in the layer Attention, which adds it.
_NEVER = -0.7 * float(np.finfo(np.float32).max)
FEW = -1e9
_BOOL = DataType.BOOL


def both_allow(context: Context, first: Value | None, second: Value) -> Value:
    """The pairs that two masks leave."""
    if first is None:
        return second
    (both,) = apply_operator(context.builder, "And", [first, second], context.name)
    return both


def as_bools(context: Context, mask: Value) -> Value:
    """A mask as conditions."""
    if mask.dtype is _BOOL:
        return mask
    return context.step("Cast", [mask], "allowed", to="BOOL")


def near_pairs(context: Context, query: Value, value: Value) -> Value | None:
    """[1, queries, values]: those that a causal mask and a window leave."""
    layer = context.layer
    shape = (1, context.length(query, 1), context.length(value, 1))
    rows, columns = np.indices(shape[1:])
    near = np.ones(shape[1:], bool)
    if context.keywords.get("use_causal_mask"):
        near &= rows >= columns
    if layer.has("sliding_window"):
        near &= np.abs(rows - columns) < layer.integer("sliding_window")
    return None if near.all() else context.constant(near[None], "near")


@dataclass(frozen=True)
class _Heads:
    """Attributes:
    queries, values: the number of heads.
    size, width: of a head of queries and keys, and of values.
    """

    queries: int
    values: int
    size: int
    width: int


@HANDLERS.register("MultiHeadAttention")
def multi_head(context: Context) -> None:
    """Attention of several heads, over the axis behind that of the batch."""
    layer = context.layer
    if layer.config.get("attention_axes") not in (None, [1], (1,)):
        raise UnsupportedNodeError(f"attention_axes {layer.config['attention_axes']}")
    heads, size = layer.integer("num_heads"), layer.integer("key_dim")
    _attend(context, _Heads(heads, heads, size, layer.integer("value_dim", size)))


@HANDLERS.register("GroupedQueryAttention")
def grouped(context: Context) -> None:
    """Attention in which several heads of queries share one of keys and values."""
    layer = context.layer
    queries, values = (
        layer.integer(f"num_{kind}_heads") for kind in ("query", "key_value")
    )
    size = layer.integer("head_dim")
    if values < 1 or queries % values:
        raise UnsupportedNodeError(f"{queries} heads share {values}")
    _attend(context, _Heads(queries, values, size, size))


def operands(context: Context) -> tuple[Value, Value, Value]:
    """Query, value and key."""
    context.no_keywords("training")
    given = [*context.inputs]
    query = given.pop(0) if given else context.keyword("query")
    value = given.pop(0) if given else context.keyword("value")
    key = given.pop(0) if given else context.keyword("key")
    if query is None or value is None or given:
        raise UnsupportedNodeError("it is called without query or value, or with masks")
    key = value if key is None else key
    if any(context.rank(x) != 3 for x in (query, value, key)):
        raise UnsupportedNodeError("query, key and value need three dimensions")
    return query, value, key


def _allowed(context: Context, query: Value, value: Value, key: Value) -> Value | None:
    """The pairs of steps that count, to be broadcast to the scores; None: all."""
    context.no_keywords("query_mask", "mask")
    found = near_pairs(context, query, value)
    own_key = key if context.keyword("key") or len(context.inputs) > 2 else None
    for tensor, name in ((query, ""), (value, "value_mask"), (own_key, "key_mask")):
        mask = context.keyword(name) if name else None
        if mask is None and tensor is not None:
            mask = context.mask_of(tensor)
        if mask is not None:
            axis = 2 if tensor is query and not name else 1
            steps = context.step(
                "ExpandDims", [as_bools(context, mask)], "counted", axes=[axis]
            )
            found = both_allow(context, found, steps)
    if found is not None:
        found = context.step("ExpandDims", [found], "of_heads", axes=[1])
    given = context.keyword("attention_mask")
    if given is None:
        return found
    given = as_bools(context, given)
    missing = 4 - context.rank(given)
    if missing > 0:
        axes = list(range(missing)) if missing > 1 else [1]
        given = context.step("ExpandDims", [given], "pairs", axes=axes)
    return both_allow(context, found, given)


def _attend(context: Context, heads: _Heads) -> None:
    layer = context.layer
    query, value, key = operands(context)
    has_bias = layer.flag("use_bias", True)
    step = 2 if has_bias else 1
    gated = layer.flag("use_gate")

    def kernel_of(x: Value, index: int, count: int, part: int, name: str) -> Value:
        """[batch, steps, heads, part]."""
        kernel = context.variable(index, [None, count, part])
        bias = context.variable(index + 1, [count, part]) if has_bias else None
        y = product(
            context,
            context.as_floats(x),
            kernel.reshape(kernel.shape[0], -1),
            None if bias is None else bias.reshape(-1),
            name,
        )
        shape = [context.batch(x), context.length(x, 1), count, part]
        return context.step("Reshape", [y], f"{name}_heads", shape=shape)

    def projected(x: Value, index: int, count: int, part: int, name: str) -> Value:
        # The heads become part of the batch.
        y = kernel_of(x, index, count, part, name)
        y = context.step("Transpose", [y], f"{name}_turned", perm=[0, 2, 1, 3])
        return _repeated(context, y, heads.queries // count)

    at = [place * step for place in ((0, 1, 3, 4) if gated else (0, 1, 2, 3))]
    q = projected(query, at[0], heads.queries, heads.size, "query")
    k = projected(key, at[1], heads.values, heads.size, "key")
    v = projected(value, at[2], heads.values, heads.width, "value")
    q = context.eltwise("MUL", q, 1 / np.sqrt(heads.size))
    scores = context.step("MatMul", [q, k], "scores", transpose_b=True)
    allowed = _allowed(context, query, value, key)
    shows = context.keywords.get("return_attention_scores") is True
    weights = _weights_of(
        context, scores, allowed, layer.number("dropout", 0.0) > 0 or shows
    )
    y = context.step("MatMul", [weights, v], "mixed")
    y = context.step("Transpose", [y], "back", perm=[0, 2, 1, 3])
    if gated:
        gate = kernel_of(query, 2 * step, heads.queries, heads.width, "gate")
        gate = context.step("Activation", [gate], "open", activation="SIGMOID")
        y = context.eltwise("MUL", y, gate)
    shape = [context.batch(y), context.shape(y)[1], heads.queries * heads.width]
    y = context.step("Reshape", [y], "joined", shape=shape)
    kernel = context.variable(at[3])
    if kernel.shape[:2] != (heads.queries, heads.width) or kernel.ndim != 3:
        raise UnsupportedNodeError("output_shape has several dimensions")
    bias = context.variable(at[3] + 1, kernel.shape[2:]) if has_bias else None
    kernel = kernel.reshape(heads.queries * heads.width, kernel.shape[2])
    own = context.mask_of(query)
    if own is not None and layer.kind == "MultiHeadAttention":
        context.gives_mask = own
    context.give(product(context, y, kernel, bias, "output"))
    if shows:
        context.give(weights, 1)


def _repeated(context: Context, x: Value, times: int) -> Value:
    """[batch, heads, steps, size] with each head several times."""
    if times == 1:
        return x
    count = context.shape(x)[1]
    assert isinstance(count, int)
    check_made(count, times)
    places = context.constant(np.repeat(np.arange(count, dtype=np.int32), times))
    return context.step("Gather", [x, places], "repeated", axis=1)


def _weights_of(
    context: Context, scores: Value, allowed: Value | None, zeroed: bool
) -> Value:
    """The softmax of scores; with `zeroed`, rows in which no pair counts are 0."""
    if allowed is not None:
        never = context.scalar(FEW if zeroed else _NEVER, "never")
        scores = context.step("Where", [allowed, scores, never], "masked")
    weights = context.step("Softmax", [scores], "weights", axis=-1)
    if allowed is None or not zeroed:
        return weights
    nothing = context.scalar(0.0, "nothing")
    return context.step("Where", [allowed, weights, nothing], "counted_weights")


@has_variables("MultiHeadAttention", "GroupedQueryAttention")
def _heads_variables(layer: Layer) -> list[tuple[str, bool]]:
    count = 2 if layer.flag("use_bias", True) else 1
    gate = ["_gate_dense"] if layer.flag("use_gate") else []
    parts = ("query_dense", "key_dense", *gate, "value_dense", "output_dense")
    return [(f"{part}/vars/{i}", True) for part in parts for i in range(count)]
