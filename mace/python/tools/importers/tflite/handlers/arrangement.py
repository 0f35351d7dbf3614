# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that move, select, find, place, make and reduce elements."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import STATIC_HINT
from mace.python.tools.importers.tf_operators.handlers.arrangement import gathered
from mace.python.tools.importers.tflite.context import HANDLERS, Context, of_tensorflow
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# Of the places of an update; more would be a table larger than the model.
_MOST_PLACES = 1 << 22
_INT64 = 7  # of ONNX
_MODES = ("REFLECT", "SYMMETRIC")
_OF_TENSORFLOW = of_tensorflow(
    *("ArgMax", "ArgMin", "BatchToSpaceND", "BroadcastArgs", "BroadcastTo"),
    *("Bucketize", "Cumsum", "DepthToSpace", "ExpandDims", "Fill", "MatrixDiag"),
    *("MatrixSetDiag", "Mean", "OneHot", "Pack", "Pad", "RandomStandardNormal"),
    *("RandomUniform", "Range", "Rank", "ResizeBilinear", "ResizeNearestNeighbor"),
    *("ReverseSequence", "ReverseV2", "ScatterNd", "SegmentSum", "Select", "SelectV2"),
    *("Shape", "Slice", "SpaceToBatchND", "SpaceToDepth", "SplitV", "Squeeze", "Sum"),
    *("Tile", "Transpose", "Unique", "UnsortedSegmentMax", "UnsortedSegmentMin"),
    *("UnsortedSegmentProd", "UnsortedSegmentSum", "Where", "ZerosLike"),
    PADV2="PadV2",
    REDUCE_ALL="All",
    REDUCE_ANY="Any",
    REDUCE_MAX="Max",
    REDUCE_MIN="Min",
    REDUCE_PROD="Prod",
    TOPK_V2="TopKV2",
)


@HANDLERS.register(*_OF_TENSORFLOW)
def as_in_tensorflow(context: Context) -> None:
    """Operators that mean the same as TensorFlow's."""
    context.apply(_OF_TENSORFLOW[context.operator.type])


@HANDLERS.register("RESHAPE")
def reshape(context: Context) -> None:
    """To the shape of input 1, or of the options in old files."""
    if context.optional(1) is not None:
        context.apply("Reshape")
        return
    shape = list(context.node.ints("new_shape"))
    # Old files say so that the result is a scalar.
    shape = [] if shape == [0] else shape
    attrs = {"shape": shape, "allow_zero": True}
    context.emit("Reshape", [context.input(0)], **attrs)


@HANDLERS.register("CONCATENATION")
def concatenation(context: Context) -> None:
    """Joins along an axis."""
    if len(context.inputs) == 1:
        context.pass_on(context.input(0))
        return
    context.emit("Concat", context.inputs, axis=context.node.integer("axis"))


@HANDLERS.register("SPLIT", "UNPACK")
def parts(context: Context) -> None:
    """Equal parts along an axis; UNPACK removes it."""
    is_split = context.operator.type == "SPLIT"
    count = context.node.integer("num_split" if is_split else "num")
    if count != len(context.tensors):
        name = "num_splits" if is_split else "num"
        raise UnsupportedNodeError(
            f"{name} is {count}, with {len(context.tensors)} parts"
        )
    context.apply("Split" if is_split else "Unpack")


@HANDLERS.register("MIRROR_PAD")
def mirror_pad(context: Context) -> None:
    """Adds mirrored elements around the tensor."""
    mode = context.node.integer("mode")
    if not 0 <= mode < len(_MODES):
        raise UnsupportedNodeError(f"mode is {mode}")
    context.apply("MirrorPad", mode=_MODES[mode])


@HANDLERS.register("STRIDED_SLICE")
def strided_slice(context: Context) -> None:
    """begin, end, strides and five masks."""
    if context.node.flag("offset"):
        raise UnsupportedNodeError("end is relative to begin (offset)")
    context.apply("StridedSlice")


@HANDLERS.register("GATHER")
def gather(context: Context) -> None:
    """Selects slices by index along an axis."""
    _check_indices(context.input(1))
    gathered(context, context.node.integer("axis"), context.node.integer("batch_dims"))


@HANDLERS.register("EMBEDDING_LOOKUP")
def embedding_lookup(context: Context) -> None:
    """Selects rows; the indices are input 0."""
    _check_indices(context.input(0))
    context.emit("Gather", [context.input(1), context.input(0)], axis=0)


def _check_indices(value: Value) -> None:
    if value.dtype is not DataType.INT32:
        raise UnsupportedNodeError(f"indices of {value.dtype.value}")


@HANDLERS.register("GATHER_ND")
def gather_nd(context: Context) -> None:
    """Selects by an index for each of the first axes, which are made one axis."""
    x, indices = context.input(0), context.input(1)
    _check_indices(indices)
    dims = context.static_shape(x)
    shape = context.static_shape(indices)
    if not shape or not 1 <= shape[-1] <= len(dims):
        raise UnsupportedNodeError(
            f"indices of {list(shape)} for {len(dims)} dimensions", STATIC_HINT
        )
    count = shape[-1]
    rows = [math.prod(dims[:count]), *dims[count:]]
    flat = context.step("Reshape", [x], "rows", shape=rows)
    total: Value | None = None
    for axis in range(count):
        part = context.cut(indices, len(shape) - 1, axis, axis + 1, shrink=True)
        offset = context.eltwise("MUL", part, math.prod(dims[axis + 1 : count]))
        total = offset if total is None else context.eltwise("ADD", total, offset)
    context.emit("Gather", [flat, total], axis=0)


@HANDLERS.register("DENSIFY")
def densify(context: Context) -> None:
    """All elements of a constant that is stored without those that are 0."""
    if not context.input(0).is_constant:
        raise UnsupportedNodeError("the input is no constant")
    context.pass_on(context.input(0))


@HANDLERS.register("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(context: Context) -> None:
    """Behind the boxes that are selected are zeros."""
    version = context.operator.type[-2:]
    context.apply(f"NonMaxSuppression{version}", pad_to_max_output_size=True)


@HANDLERS.register("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(context: Context) -> None:
    """A tensor with a block of it replaced, which begins where the run says."""
    x, update, starts = (context.input(i) for i in range(3))
    whole, block = context.static_shape(x), context.static_shape(update)
    if len(whole) != len(block) or any(b > w for b, w in zip(block, whole)):
        raise UnsupportedNodeError(f"a block of {list(block)} in {list(whole)}")
    # Axes behind the last one where the block is smaller are replaced as a whole.
    smaller = [axis for axis, (b, w) in enumerate(zip(block, whole)) if b < w]
    count = smaller[-1] + 1 if smaller else 1
    if not whole:
        context.pass_on(update)
        return
    size = math.prod(block[:count]) * count
    if size > _MOST_PLACES:
        raise UnsupportedNodeError(f"a block of {list(block)} in {list(whole)}")
    grid = np.moveaxis(np.indices(block[:count], np.int32), 0, -1)
    first = context.cut(context.cast(starts, DataType.INT32), 0, 0, count)
    # The block stays inside.
    most = np.subtract(whole, block)[:count].astype(np.int32)
    first = context.eltwise("MAX", first, 0)
    first = context.eltwise("MIN", first, context.constant(most, "most"))
    places = context.eltwise("ADD", context.constant(grid, "grid"), first)
    context.emit("Scatter", [x, places, update], mode="SET")


@HANDLERS.register("MULTINOMIAL")
def multinomial(context: Context) -> None:
    """Classes, drawn by the logarithms of their chances."""
    count = context.integer(1, "the number of samples")
    attrs = {"sample_size": count, "dtype": _INT64}
    context.pass_on(context.standard.op("Multinomial", context.input(0), **attrs))
