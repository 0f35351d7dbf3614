# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms and parts of complex numbers.

A tensor of complex numbers has one axis more here, of length 2, for the real and the
imaginary part. Others get the two parts as tensors of their own; see `complex_parts`.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.apply import apply_operator
from mace.python.tools.importers.tflite.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value


@HANDLERS.register("RFFT2D")
def rfft2d(context: Context) -> None:
    """Along the last two axes; the last one has only the first half of the results."""
    x, rank = context.input(0), context.rank(0)
    lengths = context.ints(1, "fft_length")
    shape = context.static_shape(x)
    if len(lengths) != 2 or rank < 2 or min(lengths) < 1:
        raise UnsupportedNodeError(f"fft_length is {lengths} for {rank} dimensions")
    x = context.step("ExpandDims", [x], "numbers", axes=[rank])
    x = _transformed(context, x, rank - 1, lengths[1], True)
    if (shape[-2], lengths[0]) != (1, 1):
        x = _transformed(context, x, rank - 2, lengths[0], False)
    context.pass_on(x)


def _transformed(
    context: Context, x: Value, axis: int, length: int, onesided: bool
) -> Value:
    numbers = (
        context.constant(np.array(number, np.int32), name)
        for number, name in ((length, "length"), (axis, "axis"))
    )
    (found,) = apply_operator(
        context.builder,
        "DFT",
        [x, *numbers],
        context.node.name,
        onesided=int(onesided),
    )
    return found


@HANDLERS.register("REAL", "IMAG")
def part(context: Context) -> None:
    """One of the two numbers."""
    context.pass_on(context.input(int(context.operator.type == "IMAG")))


@HANDLERS.register("COMPLEX_ABS")
def absolute(context: Context) -> None:
    """The distance from 0."""
    squares = [
        context.step("Eltwise", [context.input(index)], "square", mode="SQUARE")
        for index in range(2)
    ]
    total = context.step("Eltwise", squares, "total", mode="ADD")
    context.emit("Eltwise", [total], mode="SQRT")
