# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as categories: layers that encode what a model reads."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

# Numbers with which each element is compared.
_MOST_COMPARED = 4096


def _compared(context: Context, x: Value, numbers: Array, mode: str) -> Value:
    """[..., numbers]: each element compared with each number, as 0 and 1."""
    if numbers.size > _MOST_COMPARED:
        raise UnsupportedNodeError(f"{numbers.size} categories")
    wide = context.step("ExpandDims", [x], "wide", axes=[context.rank(x)])
    hits = context.eltwise(mode, wide, numbers)
    return context.step("Cast", [hits], "ones", to="FLOAT32")


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
    ones = _compared(context, indices, np.arange(depth), "EQUAL")
    if mode == "one_hot":
        context.give(ones)
        return
    if weights is not None:
        wide = context.step("ExpandDims", [weights], "weights", axes=[rank])
        ones = context.eltwise("MUL", ones, wide)
    kind = "SUM" if mode == "count" else "MAX"
    context.give(context.reduce(kind, ones, [1 if rank > 1 else 0], False))


def _counted(context: Context, ones: Value) -> Value:
    """The sums over the last axis."""
    return context.reduce("SUM", ones, [context.rank(ones) - 1], False)


@HANDLERS.register("CategoryEncoding")
def category_encoding(context: Context) -> None:
    """Of whole numbers below a limit."""
    weights = context.keyword("count_weights")
    if weights is None and len(context.inputs) > 1:
        weights = context.input(1)
    if weights is not None:
        weights = context.as_floats(weights)
    depth = context.layer.integer("num_tokens")
    _encoded(context, context.as_integers(context.input()), depth, weights)


@HANDLERS.register("Discretization")
def discretization(context: Context) -> None:
    """How many of the boundaries are not above a number."""
    bounds = context.layer.config.get("bin_boundaries")
    if not isinstance(bounds, list):
        raise UnsupportedNodeError("it has no bin_boundaries", "call adapt first")
    limits = np.asarray(bounds, np.float64)
    reached = _compared(context, context.floats(), limits, "GREATER_EQUAL")
    count = context.as_integers(_counted(context, reached))
    _encoded(context, count, len(bounds) + 1)


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
    x = context.as_integers(context.input())
    ones = _compared(context, x, np.asarray(words, np.int64), "EQUAL")
    # At most one is a hit; others have the number in front of the first.
    found = context.eltwise("MUL", ones, np.arange(1, len(words) + 1))
    place = context.eltwise("ADD", _counted(context, found), first - 1.0)
    index = context.as_integers(place)
    if mask is not None:
        zero = context.constant(np.asarray(0, np.int32))
        masked = context.eltwise("EQUAL", x, mask)
        index = context.step("Where", [masked, zero, index], "indices")
    _encoded(context, index, len(words) + first)
