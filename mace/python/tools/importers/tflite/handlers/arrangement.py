# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that move, slice, join and repeat tensors."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.apply import apply_operator
from mace.python.tools.importers.tflite.context import (
    HANDLERS,
    STATIC_HINT,
    Context,
)
from mace.python.tools.ir.dtypes import DataType

# Each copy becomes an operator; no real model has more than this.
_MOST_COPIES = 256
_MODES = ("REFLECT", "SYMMETRIC")

# Operators that mean the same as TensorFlow's, and have its inputs.
_OF_TENSORFLOW = {
    "EXPAND_DIMS": "ExpandDims",
    "PAD": "Pad",
    "PADV2": "PadV2",
    "REVERSE_V2": "ReverseV2",
    "SLICE": "Slice",
    "SPLIT_V": "SplitV",
    "TRANSPOSE": "Transpose",
}


@HANDLERS.register(*_OF_TENSORFLOW)
def plain(context: Context) -> None:
    """Operators without attributes."""
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


@HANDLERS.register("SQUEEZE")
def squeeze(context: Context) -> None:
    """Drops dimensions of length 1."""
    context.apply("Squeeze", squeeze_dims=context.node.ints("squeeze_dims"))


@HANDLERS.register("CONCATENATION")
def concatenation(context: Context) -> None:
    """Joins along an axis."""
    if len(context.inputs) == 1:
        context.pass_on(context.input(0))
        return
    context.emit("Concat", context.inputs, axis=context.node.integer("axis"))


@HANDLERS.register("PACK")
def pack(context: Context) -> None:
    """Joins along a new axis."""
    context.apply("Pack", axis=context.node.integer("axis"))


@HANDLERS.register("UNPACK")
def unpack(context: Context) -> None:
    """Splits along an axis, which is removed."""
    count = context.node.integer("num")
    if count != len(context.tensors):
        raise UnsupportedNodeError(f"num is {count}, with {len(context.tensors)} parts")
    context.apply("Unpack", axis=context.node.integer("axis"), num=count)


@HANDLERS.register("SPLIT")
def split(context: Context) -> None:
    """Splits into equal parts; the axis is input 0."""
    count = context.node.integer("num_splits")
    if count != len(context.tensors):
        raise UnsupportedNodeError(
            f"num_splits is {count}, with {len(context.tensors)} parts"
        )
    context.apply("Split", num_split=count)


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
    context.apply("StridedSlice", **context.operator.options)


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
        inputs = [x, ends, number]
        (x,) = apply_operator(context.builder, "Pad", inputs, context.node.name)
        whole = [*dims[:axis], length * step, *dims[axis + 1 :]]
        x = context.step("Reshape", [x], "dilated", shape=whole)
        x = context.step(
            "StridedSlice",
            [x],
            "inner",
            axes=[axis],
            begins=[0],
            ends=[dims[axis]],
            strides=[1],
        )
    context.pass_on(x)


@HANDLERS.register("TILE")
def tile(context: Context) -> None:
    """Repeats the tensor along each axis."""
    x, rank = context.input(0), context.rank(0)
    repeats = context.ints(1, "multiples")
    if len(repeats) != rank:
        raise UnsupportedNodeError(f"{len(repeats)} multiples for {rank} dimensions")
    if any(not 1 <= times <= _MOST_COPIES for times in repeats):
        raise UnsupportedNodeError(f"multiples are {repeats}; 1 to {_MOST_COPIES} work")
    for axis, times in enumerate(repeats):
        if times > 1:
            x = context.step("Concat", [x] * times, "copies", axis=axis)
    context.pass_on(x)


@HANDLERS.register("BROADCAST_TO")
def broadcast_to(context: Context) -> None:
    """Repeats dimensions of length 1; multiplying by ones does that."""
    x, wanted = context.input(0), context.ints(1, "shape")
    dims = x.shape
    if dims is None or len(dims) > len(wanted) or min(wanted, default=0) < 0:
        raise UnsupportedNodeError(f"broadcasts {x.name} to {wanted}")
    padded = (1,) * (len(wanted) - len(dims)) + tuple(dims)
    ones = [
        new if old == 1 or not isinstance(old, int) else 1
        for old, new in zip(padded, wanted)
    ]
    check_made(*ones)  # the model stores them
    kept = x.dtype
    if kept not in (DataType.FLOAT32, DataType.INT32):
        x = context.step("Cast", [x], "numbers", to="INT32")
    filled = context.constant(np.broadcast_to(x.dtype.numpy.type(1), ones), "ones")
    if x.dtype is kept:
        context.emit("Eltwise", [x, filled], mode="MUL")
        return
    wide = context.step("Eltwise", [x, filled], "repeated", mode="MUL")
    context.emit("Cast", [wide], to=kept.value.upper())


@HANDLERS.register("BROADCAST_ARGS")
def broadcast_args(context: Context) -> None:
    """The shape that two shapes broadcast to, which must be known."""
    shapes = [context.ints(i, "a shape") for i in range(2)]
    try:
        joined = np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        raise UnsupportedNodeError(f"{shapes} do not broadcast", STATIC_HINT) from None
    context.results[0] = context.builder.constant(
        context.output_name(), np.array(joined, np.int32)
    )
