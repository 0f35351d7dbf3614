# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for TopK."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside
from mace.python.tools.ir.op_rules.movement import sink_along_axis
from mace.python.tools.ir.shapes import Shape, normalize_axis, static


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
