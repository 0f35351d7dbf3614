# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements spread over larger tensors, rows by their keys, and the bits of bytes."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType


@HANDLERS.register("DILATE")
def dilate(context: Context) -> None:
    """A number between the elements along each axis."""
    x, steps = context.input(0), context.ints(1, "dilations")
    filler = np.asarray(context.values(2, "the padding value"))
    dims = list(context.static_shape(x))
    if len(steps) != len(dims) or min(steps, default=1) < 1 or filler.size != 1:
        raise UnsupportedNodeError(f"dilations of {steps} for {len(dims)} dimensions")
    number = context.constant(filler.reshape(()).astype(x.dtype.numpy), "filler")
    for axis, step in enumerate(steps):
        if step == 1:
            continue
        # Further elements behind each one, of which the last ones are left out.
        length, dims[axis] = dims[axis], (dims[axis] - 1) * step + 1
        x = context.step("ExpandDims", [x], "elements", axes=[axis + 1])
        pads = np.zeros((2, len(dims) + 1), np.int32)
        pads[1, axis + 1] = step - 1
        ends = context.constant(pads.reshape(-1), "pads")
        x = context.standard.op("Pad", x, ends, number)
        whole = [*dims[:axis], length * step, *dims[axis + 1 :]]
        x = context.step("Reshape", [x], "dilated", shape=whole)
        x = context.cut(x, axis, 0, dims[axis])
    context.pass_on(x)


# Of the places of an update; more would be a table larger than the model.
_MOST_PLACES = 1 << 22


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
        values = context.step("Reshape", [values], "one", shape=[1])
        if places[0] != 1:
            ones = context.constant(np.ones(places[0], values.dtype.numpy), "ones")
            values = context.eltwise("MUL", values, ones)
    full = np.full(shape, default.reshape(()), values.dtype.numpy)
    data = context.constant(full, "default")
    context.emit("Scatter", [data, indices, values], mode="SET")


@HANDLERS.register("HASHTABLE_LOOKUP")
def hashtable_lookup(context: Context) -> None:
    """Rows by their keys, zeros where there is no such key, and which were hits.

    Every question is compared with every key, which needs no order of the keys.
    """
    wanted, keys, rows = (context.input(at) for at in range(3))
    if {wanted.dtype, keys.dtype} != {DataType.INT32}:
        raise UnsupportedNodeError(
            f"keys of {wanted.dtype.value} and {keys.dtype.value}; int32 is supported"
        )
    if context.rank(0) != 1 or context.rank(1) != 1 or context.rank(2) < 1:
        raise UnsupportedNodeError("lookups and keys must have one dimension")
    of = context.standard.op
    columns = context.step("ExpandDims", [wanted], "columns", axes=[1])
    equal = context.cast(context.eltwise("EQUAL", columns, keys), DataType.INT32)
    place = of("ArgMax", equal, axis=1, keepdims=0)
    found = of("ReduceMax", equal, np.array([1]), keepdims=0)
    after = list(range(1, context.rank(2)))
    hit = context.cast(found, DataType.BOOL)
    if after:
        hit = context.step("ExpandDims", [hit], "hit", axes=after)
    picked = context.step("Gather", [rows, place], "picked", axis=0)
    zero = context.constant(np.zeros((), rows.dtype.numpy), "zero")
    context.pass_on(of("Where", hit, picked, zero))
    context.pass_on(context.cast(found, DataType.UINT8), 1)


@HANDLERS.register("BITCAST")
def bitcast(context: Context) -> None:
    """The bits of integers as other integers of 8 bits, or of the same type."""
    x, kept = context.input(0), context.tensors[0].dtype
    if x.dtype is kept.narrowed and not x.dtype.is_float:
        context.pass_on(x)
        return
    pair = {x.dtype, kept}
    if pair != {DataType.INT8, DataType.UINT8}:
        raise UnsupportedNodeError(
            f"reads the bits of {x.dtype.value} as {kept.value}",
            "compute it in the application",
        )
    wide = context.cast(x, DataType.INT32)
    # The upper half of one type is the negative one of the other.
    if kept is DataType.UINT8:
        other = context.eltwise("ADD", wide, 256)
        turned = context.eltwise("LESS", wide, 0)
    else:
        other = context.eltwise("SUB", wide, 256)
        turned = context.eltwise("GREATER_EQUAL", wide, 128)
    found = context.step("Where", [turned, other, wide], "bits")
    context.emit("Cast", [found], to=kept.name)
