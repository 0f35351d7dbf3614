# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors, and attention."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


@HANDLERS.register("aten.linear")
def _linear(c: Context) -> None:
    x, weight, bias = c.value("input"), c.value("weight"), c.optional("bias")
    if c.rank(x) == 2 and c.rank(weight) == 2:
        c.give(c.op("Gemm", x, weight, bias, transB=1))
        return
    turned = c.transpose(weight, [1, 0]) if c.rank(weight) == 2 else weight
    result = c.op("MatMul", x, turned)
    c.give(result if bias is None else c.op("Add", result, bias))


@HANDLERS.register(
    "aten.mm", "aten.bmm", "aten.matmul", "aten.mv", "aten.dot", "aten.vdot"
)
def _matmul(c: Context) -> None:
    a = c.value("self")
    b = c.value(next(n for n in ("mat2", "other", "vec", "tensor") if c.has(n)))
    c.give(c.op("MatMul", a, b))


@HANDLERS.register("aten.addmm", "aten.baddbmm", "aten.addmv")
def _addmm(c: Context) -> None:
    names = ("batch1", "batch2") if c.has("batch1") else ("mat1", "mat2")
    names = ("mat", "vec") if c.has("mat") else names
    a, b = c.value(names[0]), c.value(names[1])
    bias, alpha, beta = c.value("self"), c.number("alpha", 1), c.number("beta", 1)
    if c.rank(a) == 2 and c.rank(b) == 2:
        c.give(c.op("Gemm", a, b, bias, alpha=alpha, beta=beta))
        return
    product = _scaled(c, c.op("MatMul", a, b), alpha)
    c.give(product if beta == 0 else c.op("Add", product, _scaled(c, bias, beta)))


def _scaled(c: Context, value: Value, factor: float) -> Value:
    return value if factor == 1 else c.op("Mul", value, factor)


@HANDLERS.register("aten.einsum")
def _einsum(c: Context) -> None:
    c.give(c.op("Einsum", *c.values("tensors"), equation=c.text("equation", "")))


@HANDLERS.register("aten.outer")
def _outer(c: Context) -> None:
    a, b = c.value("self"), c.value("vec2")
    c.give(c.op("Mul", c.unsqueeze(a, 1), c.unsqueeze(b, 0)))


@HANDLERS.register(
    "aten.scaled_dot_product_attention",
    "aten._scaled_dot_product_flash_attention_for_cpu",
)
def _attention(c: Context) -> None:
    q, k, v = (c.value(name) for name in ("query", "key", "value"))
    if c.number("dropout_p", 0) != 0:
        raise UnsupportedNodeError("dropout_p is not 0", "export after model.eval()")
    mask = None
    for name in ("attn_mask", "attn_bias"):
        mask = mask or c.optional(name)
    if c.flag("enable_gqa"):
        k, v = (_repeated_heads(c, q, value) for value in (k, v))
    rank = c.rank(q)
    depth = c.length(q, rank - 1)
    scale = c.number("scale", 1 / math.sqrt(depth))
    order = [*range(rank - 2), rank - 1, rank - 2]
    scores = c.op("MatMul", _scaled(c, q, scale), c.transpose(k, order))
    if c.flag("is_causal"):
        scores = _causal(c, scores, c.shape(q)[-2], c.shape(k)[-2])
    if mask is not None and mask.dtype is DataType.BOOL:
        mask = c.op("Where", mask, 0.0, -np.inf)
    if mask is not None:
        scores = c.op("Add", scores, mask)
    result = c.op("MatMul", c.op("Softmax", scores, axis=-1), v)
    if mask is not None:
        result = _without_keys(c, result, mask)
    c.give(result, *[None] * (c.outputs - 1))


def _without_keys(c: Context, result: Value, mask: Value) -> Value:
    """The result with zeros for queries to which the mask leaves no key, of which the
    softmax is NaN. The pass `fuse_attention` knows this form.
    """
    if mask.is_constant and not np.isneginf(mask.numpy()).all(-1).any():
        return result
    largest = c.op("ReduceMax", mask, [-1], keepdims=1)
    nothing = c.op("Equal", largest, -np.inf)
    return c.op("Where", nothing, 0.0, result)


def _causal(c: Context, scores: Value, rows: Dim, columns: Dim) -> Value:
    """Scores, with minus infinity for keys behind a query."""
    if isinstance(rows, int) and isinstance(columns, int):
        causal = np.triu(np.full((rows, columns), -np.inf, np.float32), 1)
        return c.op("Add", scores, c.constant(causal))
    shape = c.op("Shape", scores)
    places = []
    for axis in (c.rank(scores) - 2, c.rank(scores) - 1):
        end = c.op("Gather", shape, c.constant(np.array(axis)), axis=0)
        places.append(c.positions(end))
    seen = c.op("LessOrEqual", places[1], c.unsqueeze(places[0], 1))
    return c.op("Where", seen, scores, -np.inf)


def _repeated_heads(c: Context, q: Value, value: Value) -> Value:
    """Keys or values that several queries share, once for each."""
    heads, own = c.length(q, -3), c.length(value, -3)
    if heads == own:
        return value
    shape = c.static_shape(value)
    wide = c.unsqueeze(value, len(shape) - 2)
    target = [*shape[:-2], heads // own, *shape[-2:]]
    return c.reshape(c.op("Expand", wide, target), [*shape[:-3], heads, *shape[-2:]])
