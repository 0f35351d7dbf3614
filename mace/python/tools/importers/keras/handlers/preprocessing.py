# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that encode numbers as categories."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

# Numbers with which each element is compared.
_MOST_COMPARED = 4096


def _compared(context: Context, x: Value, numbers: Array, mode: str) -> Value:
    """[..., numbers]: each element compared with each number."""
    if numbers.size > _MOST_COMPARED:
        raise UnsupportedNodeError(f"{numbers.size} categories")
    wide = context.step("ExpandDims", [x], "wide", axes=[context.rank(x)])
    known = context.constant(numbers.astype(x.dtype.numpy), "categories")
    return context.step("Eltwise", [wide, known], "compared", mode=mode)


def _encoded(
    context: Context, indices: Value, depth: int, weights: Value | None = None
) -> None:
    """Indices as the configuration says: themselves, or 0 and 1 for each category."""
    layer = context.layer
    if layer.flag("sparse"):
        raise UnsupportedNodeError("sparse is set", "MACE has dense tensors only")
    mode = layer.text("output_mode", "int")
    if mode == "int":
        context.give(indices)
        return
    if mode not in ("one_hot", "multi_hot", "count"):
        raise UnsupportedNodeError(f"output_mode is {mode!r}")
    rank = context.rank(indices)
    if mode == "one_hot" and rank > 1 and context.shape(indices)[-1] == 1:
        indices = context.step("Squeeze", [indices], "samples", axes=[rank - 1])
    hits = _compared(context, indices, np.arange(depth), "EQUAL")
    ones = context.step("Cast", [hits], "ones", to="FLOAT32")
    if mode == "one_hot":
        context.give(ones)
        return
    if weights is not None:
        wide = context.step("ExpandDims", [weights], "weights", axes=[rank])
        ones = context.step("Eltwise", [ones, wide], "weighted", mode="MUL")
    axis = 1 if rank > 1 else 0
    kind = "SUM" if mode == "count" else "MAX"
    context.emit("Reduce", [ones], mode=kind, axes=[axis], keep_dims=False)


def _integers(context: Context, x: Value) -> Value:
    if x.dtype is DataType.INT32:
        return x
    return context.step("Cast", [x], "integers", to="INT32")


@HANDLERS.register("CategoryEncoding")
def category_encoding(context: Context) -> None:
    """Of whole numbers below a limit."""
    weights = context.keyword("count_weights")
    if weights is None and len(context.inputs) > 1:
        weights = context.input(1)
    if weights is not None:
        weights = context.as_floats(weights)
    depth = context.layer.integer("num_tokens")
    _encoded(context, _integers(context, context.input()), depth, weights)


@HANDLERS.register("Discretization")
def discretization(context: Context) -> None:
    """How many of the boundaries are not above a number."""
    bounds = context.layer.config.get("bin_boundaries")
    if not isinstance(bounds, list):
        raise UnsupportedNodeError("it has no bin_boundaries", "call adapt first")
    x = context.floats()
    reached = _compared(context, x, np.asarray(bounds, np.float64), "GREATER_EQUAL")
    ones = context.step("Cast", [reached], "reached", to="FLOAT32")
    axis = context.rank(ones) - 1
    count = context.step(
        "Reduce", [ones], "count", mode="SUM", axes=[axis], keep_dims=False
    )
    _encoded(context, _integers(context, count), len(bounds) + 1)


@HANDLERS.register("IntegerLookup")
def integer_lookup(context: Context) -> None:
    """The place of a number in a vocabulary."""
    layer = context.layer
    words = layer.config.get("vocabulary")
    if not isinstance(words, list) or not all(isinstance(w, int) for w in words):
        raise UnsupportedNodeError(
            "its vocabulary is not in the configuration",
            "give vocabulary=[...] where the layer is made",
        )
    unknown = layer.integer("num_oov_indices", 1)
    if layer.flag("invert") or unknown != 1:
        raise UnsupportedNodeError(f"invert, or num_oov_indices {unknown}")
    is_index = layer.text("output_mode", "int") == "int"
    mask = layer.config.get("mask_token") if is_index else None
    first = unknown + (mask is not None)
    words = [word for word in words if word != mask]
    x = _integers(context, context.input())
    hits = _compared(context, x, np.asarray(words, np.int64), "EQUAL")
    ones = context.step("Cast", [hits], "hits", to="FLOAT32")
    # At most one is a hit; others have the number in front of the first.
    more = context.constant(np.arange(1, len(words) + 1).astype(np.float32), "numbers")
    found = context.step("Eltwise", [ones, more], "numbered", mode="MUL")
    axis = context.rank(ones) - 1
    place = context.step(
        "Reduce", [found], "place", mode="SUM", axes=[axis], keep_dims=False
    )
    start = context.scalar(first - 1.0, "first")
    place = context.step("Eltwise", [place, start], "index", mode="ADD")
    index = _integers(context, place)
    if mask is not None:
        number, zero = (
            context.constant(np.asarray(value, np.int32)) for value in (mask, 0)
        )
        masked = context.step("Eltwise", [x, number], "masked", mode="EQUAL")
        index = context.step("Where", [masked, zero, index], "indices")
    _encoded(context, index, len(words) + first)
