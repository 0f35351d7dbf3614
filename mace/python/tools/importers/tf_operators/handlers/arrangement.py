# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that move, slice, join and copy tensors, and those about their shapes."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.shapes import END, static

_MOST_COPIES = 10_000
_FIRST = np.iinfo(np.int32).min


@HANDLERS.register("Reshape")
def reshape(context: Context) -> None:
    """Reshapes to a known shape, or to one computed from shapes at run time."""
    x, shape = context.input(0), context.input(1)
    # In TensorFlow, 0 means an empty dimension, not a copied one.
    if shape.is_constant:
        sizes = context.ints(1, "shape")
        context.emit("Reshape", [x], shape=sizes, allow_zero=True)
    else:
        context.emit("Reshape", [x, shape], allow_zero=True)


@HANDLERS.register("Squeeze")
def squeeze(context: Context) -> None:
    """Drops dimensions of length 1."""
    axes = context.node.ints("squeeze_dims") or context.node.ints("axis")
    context.emit("Squeeze", [context.input(0)], axes=axes)


@HANDLERS.register("ExpandDims")
def expand_dims(context: Context) -> None:
    """Adds a dimension of length 1."""
    context.emit("ExpandDims", [context.input(0)], axes=context.ints(1, "axis"))


@HANDLERS.register("Transpose", "ConjugateTranspose")
def transpose(context: Context) -> None:
    """Permutes the axes; of floats, the conjugate is the same."""
    context.emit("Transpose", [context.input(0)], perm=context.ints(1, "perm"))


@HANDLERS.register("ConcatV2", "Concat")
def concat(context: Context) -> None:
    """Joins along an axis, which is the last input (ConcatV2) or the first."""
    if context.node.op == "Concat":
        axis, values = context.ints(0, "axis"), context.inputs[1:]
    else:
        axis = context.ints(len(context.inputs) - 1, "axis")
        values = context.inputs[:-1]
    if len(values) == 1:
        context.pass_on(values[0])
        return
    context.emit("Concat", values, axis=axis[0])


@HANDLERS.register("Pack")
def pack(context: Context) -> None:
    """Joins along a new axis."""
    context.emit("Stack", context.inputs, axis=context.node.integer("axis"))


@HANDLERS.register("Unpack")
def unpack(context: Context) -> None:
    """Splits along an axis, which is removed."""
    x, axis = context.input(0), context.node.integer("axis")
    count = context.node.integer("num")
    unique = context.builder.graph.unique_name
    names = [unique(f"{context.node.name}/part_{i}") for i in range(count)]
    parts = [x]
    if count != 1:
        attrs = {"axis": axis, "sizes": [1] * count}
        parts = context.builder.op("Split", [x], names, attrs, source=False)
    for index, part in enumerate(parts):
        context.results[index] = context.builder.one(
            "Squeeze", [part], context.output_name(index), {"axes": [axis]}
        )


@HANDLERS.register("Split")
def split(context: Context) -> None:
    """Splits into equal parts; the axis is input 0."""
    _split_node(context, 1, context.ints(0, "axis")[0], [])


@HANDLERS.register("SplitV")
def split_v(context: Context) -> None:
    """Splits into parts of given sizes, one of which may be -1."""
    axis = context.ints(2, "axis")[0]
    sizes = context.ints(1, "size_splits")
    if -1 in sizes:
        shape = context.input(0).shape
        length = shape[axis] if shape is not None else None
        if not isinstance(length, int):
            raise UnsupportedNodeError("size -1 of a dimension that is not known")
        rest = length - sum(size for size in sizes if size >= 0)
        sizes = [rest if size == -1 else size for size in sizes]
    _split_node(context, 0, axis, sizes)


def _split_node(context: Context, place: int, axis: int, sizes: list[int]) -> None:
    value, count = context.input(place), len(sizes)
    count = count or context.node.integer("num_split", 1)
    if count == 1:
        context.pass_on(value)
        return
    names = [context.output_name(i) for i in range(count)]
    attrs = {"axis": axis, "sizes": sizes}
    parts = context.builder.op("Split", [value], names, attrs, context.node.name)
    context.results.update(enumerate(parts))


@HANDLERS.register("Pad", "PadV2", "MirrorPad")
def pad(context: Context) -> None:
    """Adds constant or mirrored elements around the tensor."""
    attrs: dict[str, object] = {"pads": context.ints(1, "paddings")}
    if context.node.op == "MirrorPad":
        attrs["mode"] = context.node.string("mode")
    elif context.node.op == "PadV2":
        value = np.asarray(context.values(2, "constant_values"))
        attrs["value"] = float(value.reshape(()))
    context.emit("Pad", [context.input(0)], **attrs)


@HANDLERS.register("Slice")
def slice_(context: Context) -> None:
    """Extracts a block with a given begin and size; size -1 means the rest."""
    begins, sizes = context.ints(1, "begin"), context.ints(2, "size")
    ends = [END if n == -1 else begin + n for begin, n in zip(begins, sizes)]
    context.emit(
        "StridedSlice",
        [context.input(0)],
        axes=list(range(len(begins))),
        begins=begins,
        ends=ends,
        strides=[1] * len(begins),
    )


@HANDLERS.register("StridedSlice")
def strided_slice(context: Context) -> None:
    """begin, end, strides and five masks (bit i is about entry i)."""
    begins = context.ints(1, "begin")
    ends = context.ints(2, "end")
    strides = context.ints(3, "strides")
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = (
        context.node.integer(f"{name}_mask")
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    )
    cut = _Slices(context.rank(0))
    for i, (begin, end, stride) in enumerate(zip(begins, ends, strides)):
        bit = 1 << i
        if ellipsis_mask & bit:
            later = range(i + 1, len(begins))
            cut.skip_to(cut.rank - sum(not new_axis_mask & (1 << j) for j in later))
        elif new_axis_mask & bit:
            cut.new_axes.append(cut.axis + len(cut.new_axes) - len(cut.shrunk))
        elif shrink_axis_mask & bit:
            cut.add(begin, begin + 1 if begin != -1 else END, 1, shrink=True)
        else:
            if begin_mask & bit:
                begin = 0 if stride > 0 else END
            if end_mask & bit:
                end = END if stride > 0 else _FIRST
            cut.add(begin, end, stride, shrink=False)
    x = context.input(0)
    if not cut.axes and not cut.new_axes:
        context.pass_on(x)
    elif not cut.new_axes:
        context.emit("StridedSlice", [x], **cut.attrs())
    else:
        if cut.axes:
            x = context.step("StridedSlice", [x], **cut.attrs())
        context.emit("ExpandDims", [x], axes=cut.new_axes)


@HANDLERS.register("ReverseV2", "Reverse")
def reverse(context: Context) -> None:
    """Reverses the elements along axes: a list of them, or a condition for each."""
    if context.node.op == "Reverse":
        axes = [axis for axis, flag in enumerate(context.ints(1, "dims")) if flag]
    else:
        rank = context.rank(0)
        axes = sorted(axis % rank for axis in context.ints(1, "axis"))
    if not axes:
        context.pass_on(context.input(0))
        return
    back = [-1] * len(axes)
    attrs = {"axes": axes, "begins": back, "ends": [_FIRST] * len(axes)}
    context.emit("StridedSlice", [context.input(0)], **attrs, strides=back)


class _Slices:
    """The entries of a StridedSlice, spread over the axes of its input."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.axis = 0
        self.axes: list[int] = []
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.strides: list[int] = []
        self.shrunk: list[int] = []
        self.new_axes: list[int] = []

    def skip_to(self, axis: int) -> None:
        self.axis = max(axis, self.axis)

    def add(self, begin: int, end: int, stride: int, shrink: bool) -> None:
        if self.axis >= self.rank:
            raise UnsupportedNodeError(f"more entries than the rank of {self.rank}")
        self.axes.append(self.axis)
        self.begins.append(begin)
        self.ends.append(end)
        self.strides.append(stride)
        if shrink:
            self.shrunk.append(self.axis)
        self.axis += 1

    def attrs(self) -> dict[str, list[int]]:
        """Of the operator."""
        return {
            "axes": self.axes,
            "begins": self.begins,
            "ends": self.ends,
            "strides": self.strides,
            "shrink_axes": self.shrunk,
        }


@HANDLERS.register("Shape")
def shape(context: Context) -> None:
    """The dimensions, known at conversion if the input's are."""
    context.emit("Shape", [context.input(0)])


@HANDLERS.register("ShapeN")
def shapes(context: Context) -> None:
    """The dimensions of several tensors."""
    for index, value in enumerate(context.inputs):
        name = context.output_name(index)
        context.results[index] = context.builder.one("Shape", [value], name)


@HANDLERS.register("Size", "Rank")
def size(context: Context) -> None:
    """Numbers computed from a shape, which must be known."""
    dims = static(context.input(0).shape)
    if dims is None:
        raise UnsupportedNodeError("shape of the input is not known")
    number = len(dims) if context.node.op == "Rank" else int(np.prod(dims))
    context.give(np.array(number, np.int32))


@HANDLERS.register("Gather", "GatherV2")
def gather(context: Context) -> None:
    """Selects slices by index along an axis."""
    v2 = context.node.op == "GatherV2"
    axis = context.ints(2, "axis")[0] if v2 else 0
    gathered(context, axis, context.node.integer("batch_dims"))


def gathered(context: Context, axis: int, batch: int) -> None:
    """The same for the inputs of any operator, along an axis behind the first ones,
    in each of which other indices count.
    """
    x, indices = context.input(0), context.input(1)
    if not batch:
        context.emit("Gather", [x, indices], axis=axis)
        return
    rank = context.rank(1)
    batch += rank if batch < 0 else 0
    axis += context.rank(0) if axis < 0 else 0
    if not 0 <= batch <= min(axis, rank):
        raise UnsupportedNodeError(f"batch_dims is {batch}, axis {axis}")
    places = context.step("ExpandDims", [indices], "places", axes=[rank])
    if axis == batch:
        context.emit("GatherNd", [x, places], batch_dims=batch)
        return
    # The axis comes first behind those of the batch, and its elements back to where
    # it was.
    order = [axis if a == batch else a for a in range(context.rank(0))]
    order[batch + 1 : axis + 1] = range(batch, axis)
    x = context.step("Transpose", [x], "axis_first", perm=order)
    found = context.step("GatherNd", [x, places], "found", batch_dims=batch)
    between = list(range(rank, rank + axis - batch))
    rest = list(range(rank + axis - batch, context.rank(0) - 1 + rank - batch))
    back = [*range(batch), *between, *range(batch, rank), *rest]
    context.emit("Transpose", [found], perm=back)


@HANDLERS.register("Tile")
def tile(context: Context) -> None:
    """Copies behind each other, along each axis."""
    x, repeats, rank = context.input(0), context.ints(1, "multiples"), context.rank(0)
    if len(repeats) != rank:
        raise UnsupportedNodeError(f"{len(repeats)} multiples for {rank} dimensions")
    if any(not 1 <= times <= _MOST_COPIES for times in repeats):
        raise UnsupportedNodeError(f"multiples {repeats}; 1 to {_MOST_COPIES} work")
    for axis, times in enumerate(repeats):
        if times > 1:
            x = context.step("Concat", [x] * times, f"copies{axis}", axis=axis)
    context.pass_on(x)


@HANDLERS.register("BroadcastTo")
def broadcast_to(context: Context) -> None:
    """Multiplies by ones."""
    x, shape = context.input(0), context.ints(1, "shape")
    own = x.shape
    if own is None or len(own) > len(shape) or any(dim < 0 for dim in shape):
        raise UnsupportedNodeError(f"broadcasts {x.name} to {shape}")
    padded = [1] * (len(shape) - len(own)) + list(own)
    # Only dimensions that grow need any.
    ones = [
        new if old == 1 or not isinstance(old, int) else 1
        for old, new in zip(padded, shape)
    ]
    check_made(*ones)  # the model stores them
    is_number = x.dtype in (DataType.FLOAT32, DataType.INT32)
    factor = x if is_number else context.cast(x, DataType.INT32)
    filled = context.constant(np.broadcast_to(factor.dtype.numpy.type(1), ones), "ones")
    context.pass_on(context.cast(context.eltwise("MUL", factor, filled), x.dtype))


@HANDLERS.register("Roll")
def roll(context: Context) -> None:
    """Moves elements on along axes; the last ones become the first."""
    x, rank = context.input(0), context.rank(0)
    for step, axis in zip(context.ints(1, "shift"), context.ints(2, "axis")):
        axis %= rank
        length = context.length(x, axis)
        if length and step % length:
            start = length - step % length
            parts = [context.cut(x, axis, start, END), context.cut(x, axis, 0, start)]
            x = context.step("Concat", parts, "rolled", axis=axis)
    context.pass_on(x)
