# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that find, place and reduce elements, and random numbers."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context, of_tensorflow
from mace.python.tools.ir.dtypes import DataType

_OF_TENSORFLOW = of_tensorflow(
    *("ArgMax", "ArgMin", "Bucketize", "Cumsum", "MatrixDiag", "MatrixSetDiag"),
    *("Mean", "RandomStandardNormal", "RandomUniform", "ReverseSequence"),
    *("ScatterNd", "SegmentSum", "Sum", "Unique", "UnsortedSegmentMax"),
    *("UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum", "Where"),
    REDUCE_ALL="All",
    REDUCE_ANY="Any",
    REDUCE_MAX="Max",
    REDUCE_MIN="Min",
    REDUCE_PROD="Prod",
    TOPK_V2="TopKV2",
)
# Of the places of an update; more would be a table larger than the model.
_MOST_PLACES = 1 << 22
_INT64 = 7  # of ONNX


@HANDLERS.register(*_OF_TENSORFLOW)
def as_in_tensorflow(context: Context) -> None:
    """Operators that mean the same as TensorFlow's."""
    context.apply(_OF_TENSORFLOW[context.operator.type])


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
