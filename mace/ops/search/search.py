# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for ArgMax, TopK, Unique and NonZero."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import Dim, product_of
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside
from mace.python.tools.ir.op_rules.movement import sink_along_axis
from mace.python.tools.ir.shapes import Shape, format_shape, normalize_axis, static


class ArgMax(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is None:
            return [OutputType(DataType.INT32, None)]
        axis = normalize_axis(op.attr("axis"), len(x.shape))
        if x.shape[axis] == 0:
            raise ValueError(f"axis {axis} of {format_shape(x.shape)} has length 0")
        return [OutputType(DataType.INT32, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = inputs[0], op.attr("axis")
        find = np.argmax if op.attr("mode") == "MAX" else np.argmin
        if not op.attr("last"):
            return [np.asarray(find(x, axis, keepdims=True))]
        from_behind = find(np.flip(x, axis), axis, keepdims=True)
        return [np.asarray(x.shape[axis] - 1 - from_behind)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside(op, axes)


class TopK(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, k = op.input(0), _wanted(op)
        shape: Shape | None = None
        if x.shape is not None:
            axis = normalize_axis(op.attr("axis"), len(x.shape))
            length = x.shape[axis]
            if isinstance(length, int) and isinstance(k, int) and k > length:
                raise ValueError(f"k is {k}, but axis {axis} has length {length}")
            shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
        return [OutputType(x.dtype, shape), OutputType(DataType.INT32, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = np.asarray(inputs[0]), op.attr("axis")
        if op.attr("largest"):
            # Stable from behind, then reversed: lower positions come first.
            order = np.argsort(np.flip(x, axis), axis, kind="stable")
            order = x.shape[axis] - 1 - np.flip(order, axis)
        else:
            order = np.argsort(x, axis, kind="stable")
        k = op.attr("k") if len(inputs) < 2 else int(np.asarray(inputs[1]).item())
        order = np.take(order, np.arange(k), axis)
        return [np.take_along_axis(x, order, axis), order]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside(op, axes)


def _wanted(op: Op) -> Dim:
    """How many elements are wanted; None if nothing is known of it."""
    count = op.get_input(1)
    if count is None:
        k: int = op.attr("k")
        return k
    shape = static(count.shape)
    if shape is not None and math.prod(shape) != 1:
        raise ValueError(f"the count has the shape {list(shape)}")
    if count.is_constant:
        return int(count.numpy().item())
    dim: Dim = None if count.dims is None else count.dims.reshape(-1)[0]
    return dim


class Unique(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape == ():
            raise ValueError("the input has no dimensions")
        rows = None if x.shape is None else (x.shape[0],)
        return [
            OutputType(x.dtype, x.shape),
            *[OutputType(DataType.INT32, rows)] * 3,
            OutputType(DataType.INT32, (1,)),
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0])
        rows = x.reshape(len(x), x.size // max(len(x), 1))
        firsts: dict[tuple[Any, ...], int] = {}
        # NaN is made equal to itself, and above infinity.
        keys = [tuple((v != v, 0 if v != v else v) for v in row) for row in rows]
        for index, key in enumerate(keys):
            firsts.setdefault(key, index)
        order = sorted(firsts) if op.attr("sorted") else list(firsts)
        places = {key: place for place, key in enumerate(order)}
        inverse = np.array([places[key] for key in keys], np.int32)
        indices = np.zeros(len(x), np.int32)
        indices[: len(order)] = [firsts[key] for key in order]
        values = np.zeros_like(x)
        values[: len(order)] = x[indices[: len(order)]]
        counts = np.bincount(inverse, minlength=len(x)).astype(np.int32)
        return [values, indices, inverse, counts, np.array([len(order)], np.int32)]


class NonZero(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        shape = op.input(0).shape
        if shape == ():
            raise ValueError("the input has no dimensions")
        positions = None if shape is None else (len(shape), product_of(shape))
        return [
            OutputType(DataType.INT32, positions),
            OutputType(DataType.INT32, (1,)),
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0])
        found = np.array(np.nonzero(x), np.int32)
        positions = np.zeros((x.ndim, x.size), np.int32)
        positions[:, : found.shape[1]] = found
        return [positions, np.array([found.shape[1]], np.int32)]
