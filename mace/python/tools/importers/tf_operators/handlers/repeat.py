# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of tensors, and numbers that follow from shapes."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_MOST_COPIES = 10_000
# They are stored in the model.
_MOST_ONES = 1 << 24


@HANDLERS.register("Tile")
def tile(context: Context) -> None:
    """Copies behind each other, along each axis."""
    x, repeats = context.input(0), context.ints(1, "multiples")
    if len(repeats) != context.rank(0):
        raise UnsupportedNodeError(f"{len(repeats)} multiples")
    if any(not 1 <= times <= _MOST_COPIES for times in repeats):
        raise UnsupportedNodeError(f"multiples {repeats}; 1 to {_MOST_COPIES} work")
    for axis, times in enumerate(repeats):
        if times > 1:
            x = context.step("Concat", [x] * times, f"copies{axis}", axis=axis)
    context.results[0] = context.builder.alias(x, context.output_name())


@HANDLERS.register("BroadcastTo")
def broadcast_to(context: Context) -> None:
    """Multiplies by ones."""
    x, shape = context.input(0), context.ints(1, "shape")
    own = x.shape
    if own is None or len(own) > len(shape) or any(dim < 0 for dim in shape):
        raise UnsupportedNodeError(f"{x.name} as {shape}")
    padded = [1] * (len(shape) - len(own)) + list(own)
    # Only dimensions that grow need any.
    ones = [
        new if old == 1 or not isinstance(old, int) else 1
        for old, new in zip(padded, shape)
    ]
    if math.prod(ones) > _MOST_ONES:
        raise UnsupportedNodeError(f"expands {list(own)} to {shape}")
    factor = x
    if x.dtype not in (DataType.FLOAT32, DataType.INT32):
        factor = context.step("Cast", [x], "numbers", to="INT32")
    filled = context.constant(np.ones(ones, factor.dtype.numpy), "ones")
    y = context.step("Eltwise", [factor, filled], "copies", mode="MUL")
    if factor is not x:
        y = context.step("Cast", [y], "back", to=x.dtype.name)
    context.results[0] = context.builder.alias(y, context.output_name())


@HANDLERS.register("BroadcastArgs")
def broadcast_args(context: Context) -> None:
    """The shape of what two shapes broadcast to, which must be known."""
    shapes = [tuple(context.ints(i, "a shape")) for i in range(2)]
    found = np.asarray(np.broadcast_shapes(*shapes), np.int32)
    context.results[0] = context.builder.constant(context.output_name(), found)


@HANDLERS.register("ShapeN")
def shapes(context: Context) -> None:
    """The dimensions of several tensors."""
    for index, value in enumerate(context.inputs):
        name = context.output_name(index)
        context.results[index] = context.builder.one("Shape", [value], name)


@HANDLERS.register("LinSpace")
def lin_space(context: Context) -> None:
    """Numbers in equal distances, from constants."""
    start, stop = (
        float(np.asarray(context.values(i, w)).reshape(()))
        for i, w in enumerate(("start", "stop"))
    )
    (count,) = context.ints(2, "num")
    if not 1 <= count <= _MOST_ONES:
        raise UnsupportedNodeError(f"{count} numbers")
    found = np.linspace(start, stop, count).astype(np.float32)
    context.results[0] = context.builder.constant(context.output_name(), found)


@HANDLERS.register("Roll")
def roll(context: Context) -> None:
    """Moves elements on along axes; the last ones become the first."""
    x = context.input(0)
    rank = context.rank(0)
    steps, axes = context.ints(1, "shift"), context.ints(2, "axis")
    for number, (step, axis) in enumerate(zip(steps, axes)):
        axis %= rank
        length = x.shape[axis] if x.shape is not None else None
        if not isinstance(length, int):
            raise UnsupportedNodeError(
                f"the length of axis {axis} is not known", "give fixed input_shapes"
            )
        if length and step % length:
            x = _rolled(context, x, axis, length - step % length, number)
    context.results[0] = context.builder.alias(x, context.output_name())


def _rolled(context: Context, x: Value, axis: int, start: int, number: int) -> Value:
    parts = [
        context.step(
            "StridedSlice",
            [x],
            f"{name}{number}",
            axes=[axis],
            begins=[begin],
            ends=[end],
            strides=[1],
        )
        for name, begin, end in (("last", start, 2**31 - 1), ("first", 0, start))
    ]
    return context.step("Concat", parts, f"rolled{number}", axis=axis)


@HANDLERS.register("ConjugateTranspose")
def conjugate_transpose(context: Context) -> None:
    """Of floats it is the transpose."""
    context.emit("Transpose", [context.input(0)], perm=context.ints(1, "perm"))


@HANDLERS.register("Reverse")
def reverse(context: Context) -> None:
    """Reverses the axes for which a list of conditions says so."""
    x = context.input(0)
    flags = np.asarray(context.values(1, "dims")).reshape(-1)
    axes = [axis for axis, flag in enumerate(flags) if flag]
    if axes:
        x = context.step(
            "StridedSlice",
            [x],
            "reversed",
            axes=axes,
            begins=[-1] * len(axes),
            ends=[-(2**31)] * len(axes),
            strides=[-1] * len(axes),
        )
    context.results[0] = context.builder.alias(x, context.output_name())
