# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Reduce."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir import dims
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
)
from mace.python.tools.ir.op_rules.axes import of_first, without
from mace.python.tools.ir.op_rules.base import int32_of
from mace.python.tools.ir.op_rules.movement import without_axes
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import requantized, scale_of, zero_of
from mace.python.tools.ir.shapes import Dim, normalize_axis, product

_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "MEAN": np.mean,
    "SUM": np.sum,
    "MAX": functools.partial(np.max, initial=-np.inf),
    "MIN": functools.partial(np.min, initial=np.inf),
    "PROD": np.prod,
    "SUM_SQUARE": lambda x, **kw: np.sum(np.square(x), **kw),
    "L2": lambda x, **kw: np.sqrt(np.sum(np.square(x), **kw)),
}
_LIMITS = np.iinfo(np.int32)
_OF_INTEGERS: dict[str, Callable[..., Array]] = {
    "SUM": np.sum,
    "MAX": functools.partial(np.max, initial=_LIMITS.min),
    "MIN": functools.partial(np.min, initial=_LIMITS.max),
    "PROD": np.prod,
    "SUM_SQUARE": lambda x, **kw: np.sum(np.square(x), **kw),
}
_OF_DIMENSIONS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "SUM": dims.add,
    "PROD": dims.multiply,
    "MAX": dims.maximum,
    "MIN": dims.minimum,
}

# Of quantized numbers: so that sums of them do not exceed int32, and groups of adjacent
# axes that can be reduced.
_MOST_ELEMENTS = (2**31 - 1) // 255
_MOST_GROUPS = 2


class Reduce(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if op.attr("mode") in ("MEAN", "L2") and x.dtype is DataType.INT32:
            raise ValueError(f"mode {op.attr('mode')} does not support int32")
        if x.shape is None:
            return [OutputType(x.dtype, None)]
        rank = len(x.shape)
        given = [normalize_axis(axis, rank) for axis in op.attr("axes")]
        axes = set(given) or {*range(rank)}
        if len(set(given)) != len(given):
            raise ValueError(f"axes {list(op.attr('axes'))} repeat")
        keep = op.attr("keep_dims")
        left: list[Dim] = []
        for axis, dim in enumerate(x.shape):
            if axis not in axes:
                left.append(dim)
            elif keep:
                left.append(1)
        return [OutputType(x.dtype, tuple(left))]

    def can_exceed(self, op: Op) -> bool:
        return op.output.dtype is DataType.INT32 and op.attr("mode") not in (
            "MAX",
            "MIN",
        )

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        axes = tuple(op.attr("axes") or range(inputs[0].ndim))
        keep = op.attr("keep_dims")
        if op.output.dtype is DataType.INT32:
            # Python's integers have no limit.
            function = _OF_INTEGERS[op.attr("mode")]
            exact = function(inputs[0].astype(object), axis=axes, keepdims=keep)
            return [int32_of(op, exact)]
        function = _FUNCTIONS[op.attr("mode")]
        return [function(inputs[0].astype(np.float64), axis=axes, keepdims=keep)]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        within = op.attr("mode") in ("MEAN", "MAX", "MIN")
        return known(op.input(0)) if within else None

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        shape = op.input(0).shape
        if op.attr("mode") not in ("MEAN", "SUM", "MAX") or shape is None:
            return None
        axes = _axes(op, len(shape))
        groups = sum(axis - 1 not in axes for axis in axes)
        elements = product(shape[axis] for axis in axes)
        fits = elements is None or elements <= _MOST_ELEMENTS
        return {} if groups <= _MOST_GROUPS and fits else None

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0], np.int64) - zero_of(op.input(0))
        axes = tuple(sorted(_axes(op, x.ndim)))
        ratio = scale_of(op.input(0)) / scale_of(op.output)
        function: Callable[..., Array] = np.sum
        if op.attr("mode") == "MAX":
            function = functools.partial(np.max, initial=_LIMITS.min)
        if op.attr("mode") == "MEAN":
            ratio = ratio / np.float32(product(x.shape[axis] for axis in axes))
        folded = function(x, axis=axes, keepdims=op.attr("keep_dims"))
        return [requantized(op, folded, np.asarray(ratio))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        axes = op.attr("axes")
        if not axes:
            # All axes are reduced, so their order does not matter.
            return SunkTranspose(perm if op.attr("keep_dims") else ())
        moved = sorted(perm[axis] for axis in axes)
        if op.attr("keep_dims"):
            return SunkTranspose(perm, {"axes": moved})
        return SunkTranspose(without_axes(perm, axes), {"axes": moved})

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        (x,) = inputs
        function = _OF_DIMENSIONS.get(op.attr("mode"))
        if x is None or function is None or x.ndim != 1 or not x.size:
            return None
        return np.asarray([functools.reduce(function, x.tolist())], object)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis, shape = of_first(axes), op.input(0).shape
        if axis is None or shape is None:
            return None
        reduced = {normalize_axis(a, len(shape)) for a in op.attr("axes")}
        if not reduced or axis in reduced:
            return None
        return axis if op.attr("keep_dims") else without(reduced, axis)


def _axes(op: Op, rank: int) -> set[int]:
    """The axes that are reduced."""
    given = op.attr("axes") or range(rank)
    return {normalize_axis(axis, rank) for axis in given}
