# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that find, place and reverse elements, as TensorFlow has them."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.handlers.segments import bucketized
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType

# Operators without attributes that mean what TensorFlow's mean.
_OF_TENSORFLOW = {
    "MATRIX_DIAG": "MatrixDiag",
    "MATRIX_SET_DIAG": "MatrixSetDiag",
    "SEGMENT_SUM": "SegmentSum",
    "UNIQUE": "Unique",
    "UNSORTED_SEGMENT_MAX": "UnsortedSegmentMax",
    "UNSORTED_SEGMENT_MIN": "UnsortedSegmentMin",
    "UNSORTED_SEGMENT_PROD": "UnsortedSegmentProd",
    "UNSORTED_SEGMENT_SUM": "UnsortedSegmentSum",
    "WHERE": "Where",
}
# Of the places of an update; more would be a table larger than the model.
_MOST_PLACES = 1 << 22


@HANDLERS.register(*_OF_TENSORFLOW)
def plain(context: Context) -> None:
    """Matrices with diagonals, parts of equal number, and what is found."""
    context.apply(_OF_TENSORFLOW[context.operator.type])


@HANDLERS.register("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(context: Context) -> None:
    """Behind the boxes that are selected are zeros."""
    version = context.operator.type[-2:]
    context.apply(f"NonMaxSuppression{version}", pad_to_max_output_size=True)


@HANDLERS.register("BUCKETIZE")
def bucketize(context: Context) -> None:
    """How many boundaries are not above a number."""
    bucketized(context, context.node.attrs["boundaries"])


@HANDLERS.register("SPARSE_TO_DENSE")
def sparse_to_dense(context: Context) -> None:
    """A tensor of one number, with others at some places."""
    indices, values = context.input(0), context.input(2)
    shape = context.ints(1, "the shape")
    default = np.asarray(context.values(3, "the default value"))
    if default.size != 1 or values.dtype not in (DataType.FLOAT32, DataType.INT32):
        raise UnsupportedNodeError(f"elements of type {values.dtype.value}")
    if not 0 <= math.prod(shape) <= _MOST_PLACES:
        raise UnsupportedNodeError(f"a result of {shape}")
    # One index is that of a vector, and several are those of one, too, unless there is
    # a row for each of them.
    places = context.static_shape(indices)
    if len(places) < 2:
        count = places[0] if places else 1
        indices = context.step("Reshape", [indices], "places", shape=[count, 1])
        places = (count, 1)
    if context.rank(2) == 0:
        attrs = {"shape": [1]}
        values = context.step("Reshape", [values], "one", **attrs)
        if places[0] != 1:
            ones = context.constant(np.ones(places[0], values.dtype.numpy), "ones")
            values = context.step("Eltwise", [values, ones], "all", mode="MUL")
    full = np.full(shape, default.reshape(()), values.dtype.numpy)
    data = context.constant(full, "default")
    context.emit("Scatter", [data, indices, values], mode="SET")


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
    if starts.dtype is not DataType.INT32:
        starts = context.step("Cast", [starts], "starts", to="INT32")
    first = context.step(
        "StridedSlice",
        [starts],
        "first",
        axes=[0],
        begins=[0],
        ends=[count],
        strides=[1],
    )
    # The block stays inside.
    most = np.subtract(whole, block)[:count].astype(np.int32)
    for mode, bound in (("MAX", np.zeros(count, np.int32)), ("MIN", most)):
        first = context.step(
            "Eltwise", [first, context.constant(bound, "bound")], "inside", mode=mode
        )
    places = context.step(
        "Eltwise", [context.constant(grid, "grid"), first], "places", mode="ADD"
    )
    context.emit("Scatter", [x, places, update], mode="SET")


@HANDLERS.register("TOPK_V2")
def top_k(context: Context) -> None:
    """The largest elements of the last axis, and their places."""
    context.apply("TopKV2")


@HANDLERS.register("SCATTER_ND")
def scatter_nd(context: Context) -> None:
    """Sums of updates in a tensor of zeros."""
    context.apply("ScatterNd")


@HANDLERS.register("REVERSE_SEQUENCE")
def reverse_sequence(context: Context) -> None:
    """Reverses the first elements of each sequence."""
    context.apply(
        "ReverseSequence",
        seq_dim=context.node.integer("seq_dim"),
        batch_dim=context.node.integer("batch_dim"),
    )
