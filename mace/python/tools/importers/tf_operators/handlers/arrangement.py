# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that move, slice and join tensors."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value


@HANDLERS.register("Reshape")
def reshape(context: Context) -> None:
    """Reshapes to a known shape, or to one computed from shapes at run time."""
    shape = context.input(1)
    if shape.is_constant:
        # In TensorFlow, 0 means an empty dimension, not a copied one.
        context.emit(
            "Reshape",
            [context.input(0)],
            shape=context.ints(1, "shape"),
            allow_zero=True,
        )
    else:
        context.emit("Reshape", [context.input(0), shape], allow_zero=True)


@HANDLERS.register("Squeeze")
def squeeze(context: Context) -> None:
    """Drops dimensions of length 1."""
    axes = context.node.ints("squeeze_dims") or context.node.ints("axis")
    context.emit("Squeeze", [context.input(0)], axes=axes)


@HANDLERS.register("ExpandDims")
def expand_dims(context: Context) -> None:
    """Adds a dimension of length 1."""
    context.emit("ExpandDims", [context.input(0)], axes=context.ints(1, "axis"))


@HANDLERS.register("Transpose")
def transpose(context: Context) -> None:
    """Permutes the axes."""
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
        context.results[0] = context.builder.alias(values[0], context.output_name())
        return
    context.emit("Concat", values, axis=axis[0])


@HANDLERS.register("Pack")
def pack(context: Context) -> None:
    """Joins along a new axis."""
    context.emit("Stack", context.inputs, axis=context.node.integer("axis"))


@HANDLERS.register("Unpack")
def unpack(context: Context) -> None:
    """Splits along an axis, which is removed."""
    axis = context.node.integer("axis")
    count = context.node.integer("num")
    if count == 1:
        _squeezed(context, 0, context.input(0), axis)
        return
    parts = _split(context, context.input(0), axis, [1] * count)
    for index, part in enumerate(parts):
        _squeezed(context, index, part, axis)


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


def _split_node(context: Context, value: int, axis: int, sizes: list[int]) -> None:
    count = len(sizes) or context.node.integer("num_split", 1)
    if count == 1:
        context.results[0] = context.builder.alias(
            context.input(value), context.output_name()
        )
        return
    parts = context.builder.op(
        "Split",
        [context.input(value)],
        [context.output_name(i) for i in range(count)],
        {"axis": axis, "sizes": sizes},
        context.node.name,
    )
    context.results.update(enumerate(parts))


def _split(context: Context, value: Value, axis: int, sizes: list[int]) -> list[Value]:
    names = [
        context.builder.graph.unique_name(f"{context.node.name}/part_{i}")
        for i in range(len(sizes))
    ]
    return context.builder.op(
        "Split",
        [value],
        names,
        {"axis": axis, "sizes": sizes},
        context.node.name,
        source=False,
    )


def _squeezed(context: Context, index: int, value: Value, axis: int) -> None:
    context.results[index] = context.builder.one(
        "Squeeze", [value], context.output_name(index), {"axes": [axis]}
    )


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
    ends = [
        np.iinfo(np.int32).max if size == -1 else begin + size
        for begin, size in zip(begins, sizes)
    ]
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
    masks = {
        name: context.node.integer(name)
        for name in (
            "begin_mask",
            "end_mask",
            "ellipsis_mask",
            "new_axis_mask",
            "shrink_axis_mask",
        )
    }
    cut = _Slices(context.rank(0))
    for i, (begin, end, stride) in enumerate(zip(begins, ends, strides)):
        bit = 1 << i
        if masks["ellipsis_mask"] & bit:
            later = [
                j
                for j in range(i + 1, len(begins))
                if not masks["new_axis_mask"] & (1 << j)
            ]
            cut.skip_to(cut.rank - len(later))
        elif masks["new_axis_mask"] & bit:
            cut.new_axes.append(cut.axis + len(cut.new_axes) - len(cut.shrunk))
        elif masks["shrink_axis_mask"] & bit:
            last = begin + 1 if begin != -1 else np.iinfo(np.int32).max
            cut.add(begin, last, 1, shrink=True)
        else:
            low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
            if masks["begin_mask"] & bit:
                begin = 0 if stride > 0 else high
            if masks["end_mask"] & bit:
                end = high if stride > 0 else low
            cut.add(begin, end, stride, shrink=False)
    if not cut.axes and not cut.new_axes:
        context.results[0] = context.builder.alias(
            context.input(0), context.output_name()
        )
        return
    attrs = {
        "axes": cut.axes,
        "begins": cut.begins,
        "ends": cut.ends,
        "strides": cut.strides,
        "shrink_axes": cut.shrunk,
    }
    if not cut.new_axes:
        context.emit("StridedSlice", [context.input(0)], **attrs)
        return
    value = context.input(0)
    if cut.axes:
        value = context.step("StridedSlice", [value], "slice", **attrs)
    context.emit("ExpandDims", [value], axes=cut.new_axes)


@HANDLERS.register("ReverseV2")
def reverse(context: Context) -> None:
    """Reverses the elements along some axes."""
    rank = context.rank(0)
    axes = sorted(axis % rank for axis in context.ints(1, "axis"))
    if not axes:
        context.results[0] = context.builder.alias(
            context.input(0), context.output_name()
        )
        return
    context.emit(
        "StridedSlice",
        [context.input(0)],
        axes=axes,
        begins=[-1] * len(axes),
        ends=[np.iinfo(np.int32).min] * len(axes),
        strides=[-1] * len(axes),
    )


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


@HANDLERS.register("Shape")
def shape(context: Context) -> None:
    """The dimensions, known at conversion if the input's are."""
    context.emit("Shape", [context.input(0)])


@HANDLERS.register("Size", "Rank")
def size(context: Context) -> None:
    """Numbers computed from a shape, which must be known."""
    dims = context.input(0).shape
    if dims is None or not all(isinstance(dim, int) for dim in dims):
        raise UnsupportedNodeError("shape of the input is not known")
    known = [dim for dim in dims if isinstance(dim, int)]
    number = len(known) if context.node.op == "Rank" else int(np.prod(known))
    context.results[0] = context.builder.constant(
        context.output_name(), np.array(number, np.int32)
    )


@HANDLERS.register("Gather", "GatherV2")
def gather(context: Context) -> None:
    """Selects slices by index along an axis."""
    v2 = context.node.op == "GatherV2"
    axis = context.ints(2, "axis")[0] if v2 else 0
    batch_dims = context.node.integer("batch_dims")
    if batch_dims:
        batch_dims += context.rank(1) if batch_dims < 0 else 0
        axis += context.rank(0) if axis < 0 else 0
        if axis != batch_dims:
            raise UnsupportedNodeError(f"batch_dims is {batch_dims}, axis {axis}")
        rank = context.rank(1)
        places = context.step("ExpandDims", [context.input(1)], "places", axes=[rank])
        context.emit("GatherNd", [context.input(0), places], batch_dims=batch_dims)
        return
    context.emit("Gather", [context.input(0), context.input(1)], axis=axis)


@HANDLERS.register("Mean", "Sum", "Max", "Min", "Prod")
def reduce(context: Context) -> None:
    """Reduces the axes that input 1 names."""
    axes = context.ints(1, "reduction_indices")
    if not axes:  # TensorFlow's empty list folds nothing
        context.results[0] = context.builder.alias(
            context.input(0), context.output_name()
        )
        return
    context.emit(
        "Reduce",
        [context.input(0)],
        mode=context.node.op.upper(),
        axes=axes,
        keep_dims=context.node.flag("keep_dims") or context.node.flag("keepdims"),
    )


@HANDLERS.register("ArgMax", "ArgMin")
def arg(context: Context) -> None:
    """The index of the extreme along an axis, which is removed; 64 bits become 32."""
    axis = context.ints(1, "dimension")[0]
    axis += context.rank(0) if axis < 0 else 0
    mode = "MAX" if context.node.op == "ArgMax" else "MIN"
    where = context.step("ArgMax", [context.input(0)], "where", mode=mode, axis=axis)
    context.emit("Squeeze", [where], axes=[axis])
