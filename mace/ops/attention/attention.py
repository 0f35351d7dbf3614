# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import Emitter, OpRules, OutputType
from mace.python.tools.ir.shapes import Dim, Shape, format_shape, same_dim


class Attention(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        mask = op.inputs[3] if len(op.inputs) > 3 else None
        shapes = [_heads_first(op, op.input(i)) for i in range(3)]
        query, key, value = shapes
        fit = (
            _fit(query[0], key[0])
            and _fit(query[0], value[0])
            and _fit(key[1], value[1])
            and _fit(key[2], value[2])
            and _fit(query[3], key[3])
            and all(dim != 0 for dim in (query[1], *key[1:], value[3]))
        )
        heads, groups = query[1], key[1]
        if isinstance(heads, int) and isinstance(groups, int) and groups:
            fit = fit and heads % groups == 0
        given = None if mask is None else mask.shape
        if given is not None:
            wanted = (*query[:3], key[2])
            fit = fit and len(given) == 4 and _fit(given[3], wanted[3])
            fit = fit and all(d == 1 or _fit(d, w) for d, w in zip(given, wanted[:3]))
        if not fit:
            raise ValueError(
                "query, key, value and mask of shapes "
                f"{', '.join(format_shape(v.shape) for v in op.inputs if v)}; they "
                "must be [B, H, M, D], [B, G, N, D], [B, G, N, E] and [B, H, M, N]"
            )
        shape = _turned(op, (*query[:3], value[3]))
        return [OutputType(DataType.FLOAT32, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        query, key, value, mask = (*inputs, None)[:4]
        turn = op.attr("tokens_first")
        query, key, value = (
            np.asarray(x, np.float64).transpose(0, 2, 1, 3) if turn else np.float64(x)
            for x in (query, key, value)
        )
        shared = query.shape[1] // key.shape[1]
        key, value = (np.repeat(x, shared, 1) for x in (key, value))
        scores = query @ key.swapaxes(2, 3) * np.float64(np.float32(op.attr("scale")))
        if mask is not None:
            scores = scores + mask
        m, n = scores.shape[2:]
        taken = np.ones((m, n), bool)
        if op.attr("causal") != "NONE":
            offset = n - m if op.attr("causal") == "BOTTOM_RIGHT" else 0
            taken = np.arange(n)[None, :] <= np.arange(m)[:, None] + offset
            scores = np.where(taken, scores, -np.inf)
        best = scores.max(3, keepdims=True, initial=-np.inf)
        with np.errstate(invalid="ignore", over="ignore"):
            weights = np.exp(scores - np.where(best == -np.inf, 0, best))
            total = weights.sum(3, keepdims=True)
            weights = weights / np.where(total == 0, 1, total)
            if not op.attr("zero_without_keys"):
                masked = (total == 0) & taken.any(1, keepdims=True)
                weights = np.where(masked, np.nan, weights)
            result = weights @ value
        return [result.transpose(0, 2, 1, 3) if turn else result]

    def expand(self, op: Op, emit: Emitter) -> Value:
        """The scores as a whole, their softmax, and the product with the values."""
        query, key, value = (op.input(i) for i in range(3))
        if op.attr("tokens_first"):
            query, key, value = (
                emit("Transpose", [x], _SWAPPED) for x in (query, key, value)
            )
        heads, groups = _dim(query, 1), _dim(key, 1)
        shared = heads != groups and isinstance(heads, int) and isinstance(groups, int)
        # Queries rather than scores: they are fewer, and half floats have less range.
        scale = emit.constant(np.float32(op.attr("scale")))
        rows = emit("Eltwise", [query, scale], {"mode": "MUL"})
        if shared:
            # All queries of heads that share keys, one after the other.
            rows = emit("Reshape", [rows], {"shape": [0, groups, -1, 0]})
        scores = emit("MatMul", [rows, key], {"transpose_b": True})
        if shared:
            scores = emit("Reshape", [scores], {"shape": [0, heads, -1, 0]})
        causal = op.attr("causal")
        if causal != "NONE":
            scores = _causal(emit, scores, query, key, causal)
        unmasked: Value | None = scores
        mask = op.get_input(3)
        if mask is not None:
            scores = emit("Eltwise", [scores, mask], {"mode": "ADD"})
        weights = emit("Softmax", [scores], {"axis": -1})
        if shared:
            weights = emit("Reshape", [weights], {"shape": [0, groups, -1, 0]})
        result = emit("MatMul", [weights, value], {})
        if shared:
            result = emit("Reshape", [result], {"shape": [0, heads, -1, 0]})
        if op.attr("zero_without_keys"):
            unmasked = scores
        elif causal != "BOTTOM_RIGHT":
            unmasked = None
        if unmasked is not None and _may_lack_keys(op, query, key):
            result = _zeroed(emit, result, unmasked)
        if op.attr("tokens_first"):
            result = emit("Transpose", [result], _SWAPPED)
        return result

    def macs(self, op: Op) -> int | None:
        query, key, value = (_heads_first(op, op.input(i)) for i in range(3))
        dims = [*query, key[2], value[3]]
        if not all(isinstance(dim, int) for dim in dims):
            return None
        b, h, m, d, n, e = (int(dim) for dim in dims if isinstance(dim, int))
        return b * h * m * n * (d + e)


def _heads_first(op: Op, value: Value) -> Shape:
    shape = value.shape
    if shape is None:
        return (None,) * 4
    if len(shape) != 4:
        raise ValueError(
            f"{value.name} has the shape {format_shape(shape)}, not 4 dims"
        )
    return _turned(op, shape)


def _turned(op: Op, shape: Shape) -> Shape:
    if not op.attr("tokens_first"):
        return shape
    return (shape[0], shape[2], shape[1], shape[3])


def _fit(a: Dim, b: Dim) -> bool:
    return not (isinstance(a, int) and isinstance(b, int)) or same_dim(a, b)


_SWAPPED = {"perm": [0, 2, 1, 3]}


def _dim(value: Value, axis: int) -> Dim:
    return (value.shape or (None,) * 4)[axis]


def _causal(
    emit: Emitter, scores: Value, query: Value, key: Value, causal: str
) -> Value:
    """The scores of keys that a query takes, and -infinity for the others."""
    m, n = _dim(query, 2), _dim(key, 2)
    if isinstance(m, int) and isinstance(n, int):
        offset = n - m if causal == "BOTTOM_RIGHT" else 0
        taken = np.tri(m, n, offset, dtype=bool)
        left_out = emit.constant(np.where(taken, 0, -np.inf).astype(np.float32))
        return emit("Eltwise", [scores, left_out], {"mode": "ADD"})
    rows, columns = _length(emit, query), _length(emit, key)
    last = _numbers(emit, rows)
    if causal == "BOTTOM_RIGHT":
        more = emit("Eltwise", [columns, rows], {"mode": "SUB"})
        last = emit("Eltwise", [last, more], {"mode": "ADD"})
    last = emit("Reshape", [last], {"shape": [-1, 1]})
    inputs = [_numbers(emit, columns), last]
    taken_then = emit("Eltwise", inputs, {"mode": "LESS_EQUAL"})
    out = emit.constant(np.float32(-np.inf))
    return emit("Where", [taken_then, scores, out], {})


def _length(emit: Emitter, x: Value) -> Value:
    cut = {"axes": [0], "begins": [2], "ends": [3], "strides": [1]}
    return emit("StridedSlice", [emit("Shape", [x], {})], cut)


def _numbers(emit: Emitter, length: Value) -> Value:
    """0, 1, ... below a length."""
    ends = [emit.constant(np.array([end], np.int32)) for end in (0, 1)]
    return emit("Range", [ends[0], length, ends[1]], {})


def _may_lack_keys(op: Op, query: Value, key: Value) -> bool:
    """Whether a query may be without any key."""
    mask = op.get_input(3)
    if mask is not None:
        if mask.constant is None or op.attr("causal") != "NONE":
            return True
        return bool(np.isneginf(mask.numpy()).all(-1).any())
    if op.attr("causal") != "BOTTOM_RIGHT":
        return False
    m, n = _dim(query, 2), _dim(key, 2)
    return not (isinstance(m, int) and isinstance(n, int) and m <= n)


def _zeroed(emit: Emitter, result: Value, scores: Value) -> Value:
    """Zeros for queries all of whose scores are -infinity."""
    best = emit("Reduce", [scores], {"mode": "MAX", "axes": [3], "keep_dims": True})
    out = emit.constant(np.float32(-np.inf))
    nothing = emit("Eltwise", [best, out], {"mode": "EQUAL"})
    return emit("Where", [nothing, emit.constant(np.float32(0)), result], {})
