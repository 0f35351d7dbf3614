# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context, has_variables
from mace.python.tools.importers.keras.handlers.dense import product
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.ir.graph import Value

# What Keras adds to scores that do not count.
_NEVER = -1e9
_MASKS = (
    *("attention_mask", "query_mask", "value_mask", "key_mask", "mask", "training"),
    "return_attention_scores",
)


@HANDLERS.register("MultiHeadAttention")
def multi_head(context: Context) -> None:
    """Attention of several heads, over the axis behind that of the batch."""
    layer = context.layer
    context.refuse_mask()
    context.no_keywords(*_MASKS)
    given = [*context.inputs]
    query = given.pop(0) if given else context.keyword("query")
    value = given.pop(0) if given else context.keyword("value")
    key = given.pop(0) if given else context.keyword("key")
    if query is None or value is None or given:
        raise UnsupportedNodeError("it is called without query or value, or with masks")
    key = value if key is None else key
    if any(context.rank(x) != 3 for x in (query, value, key)):
        raise UnsupportedNodeError("query, key and value need three dimensions")
    if layer.config.get("attention_axes") not in (None, [1], (1,)):
        raise UnsupportedNodeError(f"attention_axes {layer.config['attention_axes']}")
    heads = layer.integer("num_heads")
    size = layer.integer("key_dim")
    width = layer.integer("value_dim", size)
    has_bias = layer.flag("use_bias", True)
    step = 2 if has_bias else 1

    def projected(x: Value, index: int, part: int, name: str) -> Value:
        kernel = context.variable(index, [None, heads, part])
        bias = context.variable(index + 1, [heads, part]) if has_bias else None
        y = product(
            context,
            context.as_floats(x),
            kernel.reshape(kernel.shape[0], -1),
            None if bias is None else bias.reshape(-1),
            name,
        )
        # The heads become part of the batch.
        dims = context.shape(x)
        batch, steps = (d if isinstance(d, int) else None for d in dims[:2])
        if steps is None:
            raise UnsupportedNodeError(
                f"the number of steps of {x.name} is not known before the run",
                "give fixed input_shapes",
            )
        shape = [-1 if batch is None else batch, steps, heads, part]
        y = context.step("Reshape", [y], f"{name}_heads", shape=shape)
        return context.step("Transpose", [y], f"{name}_turned", perm=[0, 2, 1, 3])

    q = projected(query, 0, size, "query")
    k = projected(key, step, size, "key")
    v = projected(value, 2 * step, width, "value")
    factor = context.scalar(1 / np.sqrt(size), "factor")
    q = context.step("Eltwise", [q, factor], "scaled", mode="MUL")
    scores = context.step("MatMul", [q, k], "scores", transpose_b=True)
    if context.keywords.get("use_causal_mask"):
        scores = _causal(context, scores)
    weights = context.step("Softmax", [scores], "weights", axis=-1)
    y = context.step("MatMul", [weights, v], "mixed")
    y = context.step("Transpose", [y], "back", perm=[0, 2, 1, 3])
    dims = context.shape(y)
    batch = dims[0] if isinstance(dims[0], int) else -1
    y = context.step("Reshape", [y], "joined", shape=[batch, dims[1], heads * width])
    kernel = context.variable(3 * step)
    if kernel.shape[:2] != (heads, width) or kernel.ndim != 3:
        raise UnsupportedNodeError("output_shape has several dimensions")
    bias = context.variable(3 * step + 1, kernel.shape[2:]) if has_bias else None
    kernel = kernel.reshape(heads * width, kernel.shape[2])
    context.give(product(context, y, kernel, bias, "output"))


@has_variables("MultiHeadAttention")
def _heads_variables(layer: Layer) -> list[tuple[str, bool]]:
    count = 2 if layer.flag("use_bias", True) else 1
    parts = ("query_dense", "key_dense", "value_dense", "output_dense")
    return [(f"{part}/vars/{i}", True) for part in parts for i in range(count)]


def _causal(context: Context, scores: Value) -> Value:
    """Steps do not look at later ones."""
    rows, columns = context.shape(scores)[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise UnsupportedNodeError(
            "the number of steps is not known before the run", "give fixed input_shapes"
        )
    never = np.triu(np.full((rows, columns), _NEVER, np.float32), 1)
    mask = context.constant(never, "causal")
    return context.step("Eltwise", [scores, mask], "masked", mode="ADD")


def _parts(context: Context) -> tuple[Value, Value, Value]:
    """Query, key and value of the simple layers."""
    context.refuse_mask()
    context.no_keywords(*_MASKS)
    values = [context.as_floats(value) for value in context.inputs]
    if not 2 <= len(values) <= 3:
        raise UnsupportedNodeError(f"{len(values)} inputs")
    if any(context.rank(value) != 3 for value in values):
        raise UnsupportedNodeError("query, key and value need three dimensions")
    return values[0], values[-1], values[1]


def _mixed(context: Context, scores: Value, value: Value) -> None:
    if context.keywords.get("use_causal_mask"):
        scores = _causal(context, scores)
    weights = context.step("Softmax", [scores], "weights", axis=-1)
    context.emit("MatMul", [weights, value])


@HANDLERS.register("Attention")
def attention(context: Context) -> None:
    """Scores by products."""
    layer = context.layer
    if layer.text("score_mode", "dot") != "dot":
        raise UnsupportedNodeError(f"score_mode is {layer.config['score_mode']!r}")
    query, key, value = _parts(context)
    scores = context.step("MatMul", [query, key], "scores", transpose_b=True)
    if layer.flag("use_scale"):
        scale = context.constant(context.variable(0), "scale")
        scores = context.step("Eltwise", [scores, scale], "scaled", mode="MUL")
    _mixed(context, scores, value)


@HANDLERS.register("AdditiveAttention")
def additive(context: Context) -> None:
    """Scores by sums: sum of scale * tanh(query + key)."""
    query, key, value = _parts(context)
    rows = context.step("ExpandDims", [query], "rows", axes=[2])
    columns = context.step("ExpandDims", [key], "columns", axes=[1])
    total = context.step("Eltwise", [rows, columns], "sum", mode="ADD")
    total = context.step("Activation", [total], "tanh", activation="TANH")
    if context.layer.flag("use_scale", True):
        scale = context.constant(context.variable(0, [None]), "scale")
        total = context.step("Eltwise", [total, scale], "scaled", mode="MUL")
    scores = context.step(
        "Reduce", [total], "scores", mode="SUM", axes=[3], keep_dims=False
    )
    _mixed(context, scores, value)


@has_variables("Attention", "AdditiveAttention")
def _scale_variables(layer: Layer) -> list[tuple[str, bool]]:
    default = layer.kind == "AdditiveAttention"
    return [("vars/0", True)] if layer.flag("use_scale", default) else []
