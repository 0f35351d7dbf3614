# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Gather, GatherElements, GatherNd, Scatter and OneHot."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    NARROW_TYPES,
    WIDE_TYPES,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
)
from mace.python.tools.ir.op_rules.base import int32_of
from mace.python.tools.ir.op_rules.movement import MovementRules, without_axes
from mace.python.tools.ir.shapes import (
    Dim,
    Shape,
    compatible,
    format_shape,
    normalize_axis,
)


class _ByIndices(MovementRules):
    """Elements of the input 0 where those of the input 1 say."""

    keeps_elements = True

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        params, indices = inputs
        if params is None or indices is None:
            return None
        if not all(isinstance(index, int) for index in indices.flat):
            return None
        return self._moved(op, [params], [indices.astype(np.int64)])


class Gather(_ByIndices):
    def infer(self, op: Op) -> list[OutputType]:
        params, indices = op.input(0), op.input(1)
        if params.shape is None or indices.shape is None:
            return [OutputType(params.dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(params.shape))
        length = params.shape[axis]
        if indices.is_constant and isinstance(length, int):
            _check_indices(indices.numpy(), length)
        before, after = params.shape[:axis], params.shape[axis + 1 :]
        return [OutputType(params.dtype, (*before, *indices.shape, *after))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.take(inputs[0], inputs[1], op.attr("axis"))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        rank = op.input(1).rank
        if rank not in (0, 1):
            return None
        axis = op.attr("axis")
        output = perm if rank == 1 else without_axes(perm, [axis])
        return SunkTranspose(output, {"axis": perm[axis]})

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        if len(axes) != 1:
            return None
        ((port, moved),) = axes.items()
        data, indices = op.input(0).shape, op.input(1).shape
        if data is None or indices is None:
            return None
        axis = normalize_axis(op.attr("axis"), len(data))
        if port == 1:
            return axis + moved
        if moved == axis:
            return None
        return moved + (len(indices) - 1 if moved > axis else 0)


class GatherElements(_ByIndices):
    def infer(self, op: Op) -> list[OutputType]:
        params, indices = op.input(0), op.input(1)
        if params.shape is not None and indices.shape is not None:
            axis = normalize_axis(op.attr("axis"), len(params.shape))
            _check_shape(params.shape, indices.shape, axis)
            length = params.shape[axis]
            if indices.is_constant and isinstance(length, int):
                _check_indices(indices.numpy(), length)
        return [OutputType(params.dtype, indices.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        params, indices = np.asarray(inputs[0]), np.asarray(inputs[1])
        axis = op.attr("axis") % params.ndim
        # Other axes may be longer than those of the indices.
        kept = tuple(
            slice(None) if i == axis else slice(dim)
            for i, dim in enumerate(indices.shape)
        )
        return [np.take_along_axis(params[kept], indices, axis)]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        # Indices have the axes of the output.
        return axes[1] if set(axes) == {1} else None


def _check_shape(params: Sequence[Dim], indices: Sequence[Dim], axis: int) -> None:
    if len(params) != len(indices):
        raise ValueError(
            f"the indices have {len(indices)} dimensions, params {len(params)}"
        )
    for i, (own, wanted) in enumerate(zip(params, indices)):
        known = isinstance(own, int) and isinstance(wanted, int)
        if i != axis and known and wanted > own:  # type: ignore[operator]
            raise ValueError(
                f"dimension {i} of the indices is {wanted}, that of params only {own}"
            )


def _check_indices(indices: Array, length: int) -> None:
    for index in indices.reshape(-1).tolist():
        if not -length <= index < length:
            raise ValueError(f"index {index} is outside a length of {length}")


class GatherNd(_ByIndices):
    def infer(self, op: Op) -> list[OutputType]:
        params, indices = op.input(0), op.input(1)
        if params.shape is None or indices.shape is None:
            return [OutputType(params.dtype, None)]
        batch = op.attr("batch_dims")
        if len(indices.shape) <= batch or len(params.shape) < batch:
            raise ValueError(
                f"params of {len(params.shape)} dimensions and indices of "
                f"{len(indices.shape)} have no {batch} batch dimensions"
            )
        for own, other in zip(params.shape[:batch], indices.shape[:batch]):
            if isinstance(own, int) and isinstance(other, int) and own != other:
                raise ValueError(f"batch dimensions of {own} and {other}")
        axes = indices.shape[-1]
        if not isinstance(axes, int):
            return [OutputType(params.dtype, None)]
        if batch + axes > len(params.shape):
            raise ValueError(
                f"indices along {axes} axes for params of {len(params.shape)} "
                f"dimensions, {batch} of which are batch dimensions"
            )
        if indices.is_constant:
            along = params.shape[batch : batch + axes]
            _check_positions(indices.numpy(), along)
        shape = (*indices.shape[:-1], *params.shape[batch + axes :])
        return [OutputType(params.dtype, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        params, indices = np.asarray(inputs[0]), np.asarray(inputs[1])
        batch = op.attr("batch_dims")
        shape = (*indices.shape[:-1], *params.shape[batch + indices.shape[-1] :])
        outer = math.prod(params.shape[:batch])
        flat = params.reshape((outer, *params.shape[batch:]))
        count = math.prod(indices.shape[batch:-1])
        positions = indices.reshape((outer, count, indices.shape[-1]))
        rows = np.broadcast_to(np.arange(outer)[:, None], (outer, count))
        place = (rows, *np.moveaxis(positions, -1, 0))
        return [flat[place].reshape(shape)]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        shape = op.input(1).shape
        if set(axes) != {1} or shape is None:
            return None
        return axes[1] if op.attr("batch_dims") <= axes[1] < len(shape) - 1 else None


def _check_positions(indices: Array, dims: Shape) -> None:
    """Refuses constant positions outside of their axes."""
    for axis, dim in enumerate(dims):
        along = indices[..., axis] if len(dims) > 1 else indices
        if isinstance(dim, int) and along.size:
            _check_indices(np.asarray([along.min(), along.max()]), dim)


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


class OneHot(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        indices, values = op.input(0), op.input(1)
        if not compatible(values.shape, (2,)):
            found = format_shape(values.shape)
            raise ValueError(f"the values must be [2], not {found}")
        if indices.shape is None:
            return [OutputType(values.dtype, None)]
        axis = normalize_axis(op.attr("axis"), len(indices.shape) + 1)
        dims = list(indices.shape)
        dims.insert(axis, op.attr("depth"))
        return [OutputType(values.dtype, tuple(dims))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        indices, (off, on) = np.asarray(inputs[0]), inputs[1]
        depth, axis = op.attr("depth"), op.attr("axis")
        if op.attr("wrap"):
            indices = np.where(indices < 0, indices + depth, indices)
        rank = indices.ndim + 1
        places = np.arange(depth).reshape(
            [-1 if i == axis % rank else 1 for i in range(rank)]
        )
        met = np.expand_dims(indices, axis) == places
        return [np.where(met, on, off).astype(np.asarray(inputs[1]).dtype)]
