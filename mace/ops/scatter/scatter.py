# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Scatter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import NARROW_TYPES, WIDE_TYPES, OpRules, OutputType
from mace.python.tools.ir.op_rules.base import int32_of
from mace.python.tools.ir.shapes import Dim, Shape, format_shape, normalize_axis

_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "SET": lambda old, new: new,
    "ADD": np.add,
    "MUL": np.multiply,
    "MIN": np.minimum,
    "MAX": np.maximum,
}


class Scatter(OpRules):
    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        chooses = attrs.get("mode") == "SET"
        return WIDE_TYPES if chooses and dtype in NARROW_TYPES else ()

    def infer(self, op: Op) -> list[OutputType]:
        data, indices, updates = (op.input(i) for i in range(3))
        if data.dtype is not updates.dtype:
            raise ValueError(
                f"data of {data.dtype.value}, updates of {updates.dtype.value}"
            )
        whole = data.dtype in (DataType.FLOAT32, DataType.INT32)
        if op.attr("mode") != "SET" and not whole:
            raise ValueError(f"mode {op.attr('mode')} of {data.dtype.value}")
        known = data.shape is not None and updates.shape is not None
        if known and indices.shape is not None:
            assert data.shape is not None and updates.shape is not None
            if op.attr("form") == "SLICES":
                dims = _check_slices(data.shape, indices.shape, updates.shape)
            else:
                dims = _check_elements(op, data.shape, indices.shape, updates.shape)
            if indices.is_constant:
                _check_positions(indices.numpy(), dims)
        return [OutputType(data.dtype, data.shape)]

    def can_exceed(self, op: Op) -> bool:
        return op.output.dtype is DataType.INT32 and op.attr("mode") in ("ADD", "MUL")

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        data, indices, updates = (np.array(x) for x in inputs)
        if self.can_exceed(op):
            # Python's integers have no limit.
            wide = [data.astype(object), indices, updates.astype(object)]
            return [int32_of(op, self._combined(op, *wide))]
        return [self._combined(op, data, indices, updates)]

    def _combined(self, op: Op, data: Array, indices: Array, updates: Array) -> Array:
        combine = _COMBINE[op.attr("mode")]
        if op.attr("form") == "SLICES":
            for at in np.ndindex(indices.shape[:-1]):
                place = tuple(indices[at])
                data[place] = combine(data[place], updates[at])
            return data
        axis = op.attr("axis") % data.ndim
        for at in np.ndindex(indices.shape):
            place = (*at[:axis], indices[at], *at[axis + 1 :])
            data[place] = combine(data[place], updates[at])
        return data


def _differ(a: Dim, b: Dim) -> bool:
    return isinstance(a, int) and isinstance(b, int) and a != b


def _check_slices(data: Shape, indices: Shape, updates: Shape) -> Shape:
    """The axes that indices give positions along."""
    if not indices:
        raise ValueError("the indices have no dimension")
    axes = indices[-1]
    if not isinstance(axes, int):
        return ()
    if axes > len(data):
        raise ValueError(f"positions along {axes} axes of {len(data)} dimensions")
    wanted = (*indices[:-1], *data[axes:])
    if len(wanted) != len(updates) or any(map(_differ, wanted, updates)):
        raise ValueError(
            f"updates of shape {format_shape(updates)}, not {format_shape(wanted)}"
        )
    return data[:axes]


def _check_elements(op: Op, data: Shape, indices: Shape, updates: Shape) -> Shape:
    """The axis that indices give positions along."""
    axis = normalize_axis(op.attr("axis"), len(data))
    if len(indices) != len(data):
        raise ValueError(
            f"the indices have {len(indices)} dimensions, the data {len(data)}"
        )
    if len(indices) != len(updates) or any(map(_differ, indices, updates)):
        raise ValueError(
            f"updates of shape {format_shape(updates)}, indices of "
            f"{format_shape(indices)}"
        )
    for i, (own, wanted) in enumerate(zip(data, indices)):
        known = isinstance(own, int) and isinstance(wanted, int)
        if i != axis and known and wanted > own:  # type: ignore[operator]
            raise ValueError(
                f"dimension {i} of the indices is {wanted}, that of data only {own}"
            )
    return (data[axis],)


def _check_positions(indices: Array, dims: Shape) -> None:
    for axis, dim in enumerate(dims):
        along = indices[..., axis] if len(dims) > 1 else indices
        if isinstance(dim, int) and along.size:
            for index in (int(along.min()), int(along.max())):
                if not -dim <= index < dim:
                    raise ValueError(f"index {index} is outside a length of {dim}")
