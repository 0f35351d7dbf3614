# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of operators that move elements without computing on them."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.infer import INFERENCE, OutputType
from mace.python.tools.ir.shapes import (
    Dim,
    Shape,
    compatible,
    format_shape,
    normalize_axis,
    permute,
    product,
)


@INFERENCE.register("Reshape")
def _reshape(op: Op) -> list[OutputType]:
    x, shape_value = op.input(0), op.get_input(1)
    if shape_value is None:
        wanted = op.attr("shape")
    elif shape_value.is_constant:
        wanted = shape_value.numpy().reshape(-1).tolist()
    else:
        rank = shape_value.shape[0] if shape_value.shape else None
        known = isinstance(rank, int)
        return [OutputType(x.dtype, (None,) * int(rank or 0) if known else None)]
    return [OutputType(x.dtype, reshaped(x.shape, wanted, op.attr("allow_zero")))]


def reshaped(shape: Shape | None, wanted: Sequence[int], allow_zero: bool) -> Shape:
    """The shape that Reshape makes of `shape`."""
    result: list[Dim] = []
    for axis, dim in enumerate(wanted):
        if dim == 0 and not allow_zero:
            if shape is not None and axis >= len(shape):
                raise ValueError(f"shape {list(wanted)} copies no dimension")
            result.append(None if shape is None else shape[axis])
        else:
            result.append(dim)
    if list(wanted).count(-1) > 1:
        raise ValueError(f"shape {list(wanted)} has more than one -1")
    total = None if shape is None else product(shape)
    if -1 in wanted:
        hole = list(wanted).index(-1)
        result[hole] = _inferred(shape, result, hole, total)
    elif total is not None and product(result) not in (None, total):
        raise ValueError(f"{total} elements do not fill {list(wanted)}")
    return tuple(result)


def _inferred(
    shape: Shape | None, result: Sequence[Dim], hole: int, total: int | None
) -> Dim:
    rest = [dim for axis, dim in enumerate(result) if axis != hole]
    if shape is None:
        return None
    # Symbols and unknowns copied from the input cancel against it.
    own = list(shape)
    for dim in [d for d in rest if isinstance(d, str)]:
        if dim in own:
            own.remove(dim)
            rest.remove(dim)
    above, below = product(own), product(rest)
    if below is None:
        return None
    if above is None:
        open_dims = [d for d in own if not isinstance(d, int)]
        known = product(d for d in own if isinstance(d, int))
        return open_dims[0] if len(open_dims) == 1 and known == below else None
    if below == 0:
        return 0
    if above % below:
        raise ValueError(f"{total or above} elements are no multiple of {below}")
    return above // below


@INFERENCE.register("Transpose")
def _transpose(op: Op) -> list[OutputType]:
    x, perm = op.input(0), op.attr("perm")
    if sorted(perm) != list(range(len(perm))):
        raise ValueError(f"perm {list(perm)} is no permutation")
    if x.shape is None:
        return [OutputType(x.dtype, (None,) * len(perm))]
    if len(perm) != len(x.shape):
        raise ValueError(f"perm {list(perm)} does not fit the rank")
    return [OutputType(x.dtype, permute(x.shape, perm))]


@INFERENCE.register("ExpandDims")
def _expand_dims(op: Op) -> list[OutputType]:
    x, axes = op.input(0), op.attr("axes")
    if x.shape is None:
        return [OutputType(x.dtype, None)]
    rank = len(x.shape) + len(axes)
    ones = {normalize_axis(axis, rank) for axis in axes}
    if len(ones) != len(axes):
        raise ValueError(f"axes {list(axes)} repeat")
    rest = iter(x.shape)
    shape = tuple(1 if i in ones else next(rest) for i in range(rank))
    return [OutputType(x.dtype, shape)]


@INFERENCE.register("Squeeze")
def _squeeze(op: Op) -> list[OutputType]:
    x, axes = op.input(0), op.attr("axes")
    if x.shape is None:
        return [OutputType(x.dtype, None)]
    if not axes:
        if any(not isinstance(dim, int) for dim in x.shape):
            return [OutputType(x.dtype, None)]
        return [OutputType(x.dtype, tuple(d for d in x.shape if d != 1))]
    gone = {normalize_axis(axis, len(x.shape)) for axis in axes}
    for axis in gone:
        if isinstance(x.shape[axis], int) and x.shape[axis] != 1:
            raise ValueError(f"axis {axis} is not 1")
    kept = tuple(d for i, d in enumerate(x.shape) if i not in gone)
    return [OutputType(x.dtype, kept)]


@INFERENCE.register("Concat")
def _concat(op: Op) -> list[OutputType]:
    values = _all_inputs(op)
    shapes = [v.shape for v in values]
    known = [s for s in shapes if s is not None]
    if len(known) != len(shapes):
        return [OutputType(values[0].dtype, None)]
    _check_types(values)
    axis = normalize_axis(op.attr("axis"), len(known[0]))
    result = list(known[0])
    for shape in known[1:]:
        rest = (*shape[:axis], result[axis], *shape[axis + 1 :])
        if not compatible(rest, tuple(result)):
            raise ValueError(f"{format_shape(shape)} does not fit the first")
        for i, dim in enumerate(shape):
            if i == axis:
                a = result[i]
                both = isinstance(a, int) and isinstance(dim, int)
                result[i] = a + dim if both else None  # type: ignore[operator]
            elif not isinstance(result[i], int):
                result[i] = dim
    return [OutputType(values[0].dtype, tuple(result))]


@INFERENCE.register("Stack")
def _stack(op: Op) -> list[OutputType]:
    values = _all_inputs(op)
    _check_types(values)
    shape = values[0].shape
    if shape is None:
        return [OutputType(values[0].dtype, None)]
    if not all(compatible(v.shape, shape) for v in values):
        raise ValueError("the shapes differ")
    axis = normalize_axis(op.attr("axis"), len(shape) + 1)
    return [OutputType(values[0].dtype, (*shape[:axis], len(values), *shape[axis:]))]


@INFERENCE.register("Split")
def _split(op: Op) -> list[OutputType]:
    x, count = op.input(0), len(op.outputs)
    if x.shape is None:
        return [OutputType(x.dtype, None)] * count
    axis = normalize_axis(op.attr("axis"), len(x.shape))
    dim, sizes = x.shape[axis], op.attr("sizes")
    parts: Sequence[Dim] = sizes
    if not sizes:
        if isinstance(dim, int) and dim % count:
            raise ValueError(f"{dim} cannot be cut into {count} equal parts")
        parts = [dim // count if isinstance(dim, int) else None] * count
    elif len(sizes) != count or (isinstance(dim, int) and sum(sizes) != dim):
        raise ValueError(f"sizes {list(sizes)} do not cut {dim} in {count}")
    return [
        OutputType(x.dtype, (*x.shape[:axis], part, *x.shape[axis + 1 :]))
        for part in parts
    ]


@INFERENCE.register("StridedSlice")
def _strided_slice(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is None:
        return [OutputType(x.dtype, None)]
    rank = len(x.shape)
    cuts = strided_slices(op, rank)
    shrink = {normalize_axis(a, rank) for a in op.attr("shrink_axes")}
    dims: list[Dim] = []
    for axis, dim in enumerate(x.shape):
        if axis in cuts:
            known = isinstance(dim, int)
            dim = len(range(*cuts[axis].indices(dim))) if known else None  # type: ignore[arg-type]
        if axis in shrink and dim not in (1, None):
            raise ValueError(f"axis {axis} has length {dim}, cannot be dropped")
        if axis not in shrink:
            dims.append(dim)
    return [OutputType(x.dtype, tuple(dims))]


def strided_slices(op: Op, rank: int) -> dict[int, slice]:
    """Python's slice for each axis that a StridedSlice cuts."""
    lists = [op.attr(n) for n in ("axes", "begins", "ends", "strides")]
    if len({len(entry) for entry in lists}) != 1:
        raise ValueError("axes, begins, ends and strides differ in length")
    cuts: dict[int, slice] = {}
    for axis, begin, end, stride in zip(*lists):
        if stride == 0:
            raise ValueError("a stride is 0")
        # Walking backwards past the first element has no index in Python;
        # the smallest 32-bit number stands for it.
        stop = None if stride < 0 and end <= -(2**31) + 1 else end
        cuts[normalize_axis(axis, rank)] = slice(begin, stop, stride)
    return cuts


@INFERENCE.register("Gather")
def _gather(op: Op) -> list[OutputType]:
    params, indices = op.input(0), op.input(1)
    if params.shape is None or indices.shape is None:
        return [OutputType(params.dtype, None)]
    axis = normalize_axis(op.attr("axis"), len(params.shape))
    _check_indices(indices, params.shape[axis])
    return [
        OutputType(
            params.dtype,
            (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :]),
        )
    ]


def _check_indices(indices: Value, size: Dim) -> None:
    if not indices.is_constant or not isinstance(size, int):
        return
    for index in indices.numpy().reshape(-1).tolist():
        if not -size <= index < size:
            raise ValueError(f"index {index} is outside a length of {size}")


@INFERENCE.register("Pad")
def _pad(op: Op) -> list[OutputType]:
    x, pads = op.input(0), op.attr("pads")
    if x.shape is None:
        return [OutputType(x.dtype, (None,) * (len(pads) // 2))]
    if len(pads) != 2 * len(x.shape):
        raise ValueError(f"{len(pads)} pads for {len(x.shape)} dimensions")
    added = [pads[2 * i] + pads[2 * i + 1] for i in range(len(x.shape))]
    return [OutputType(x.dtype, tuple(map(_longer, x.shape, added)))]


def _longer(dim: Dim, by: int) -> Dim:
    if by == 0:
        return dim
    return dim + by if isinstance(dim, int) else None


@INFERENCE.register("Shape")
def _shape(op: Op) -> list[OutputType]:
    return [OutputType(DataType.INT32, (op.input(0).rank,))]


def _all_inputs(op: Op) -> list[Value]:
    values = [value for value in op.inputs if value is not None]
    if not values or len(values) != len(op.inputs):
        raise ValueError("needs at least one input and no gaps")
    return values


def _check_types(values: Sequence[Value]) -> None:
    types = {value.dtype for value in values}
    if len(types) > 1:
        names = ", ".join(sorted(t.value for t in types))
        raise ValueError(f"element types differ: {names}")
