# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, and what makes real numbers of complex ones.

A tensor of complex numbers has one axis more here, of length 2, for the real and the
imaginary part. Others get the two parts as tensors of their own; see `complex_parts` of
the importer.
"""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context


@HANDLERS.register("RFFT2D")
def rfft2d(context: Context) -> None:
    """Along the last two axes; the last one has only the first half of the results."""
    x, rank = context.input(0), context.rank(0)
    lengths = context.ints(1, "fft_length")
    shape = context.static_shape(x)
    if len(lengths) != 2 or rank < 2 or min(lengths) < 1:
        raise UnsupportedNodeError(f"fft_length is {lengths} for {rank} dimensions")
    ops = context.standard
    x = ops.op("DFT", ops.unsqueeze(x, rank), lengths[1], rank - 1, onesided=1)
    if (shape[-2], lengths[0]) != (1, 1):
        x = ops.op("DFT", x, lengths[0], rank - 2, onesided=0)
    context.pass_on(x)


@HANDLERS.register("REAL", "IMAG")
def part(context: Context) -> None:
    """One of the two numbers."""
    context.pass_on(context.input(int(context.operator.type == "IMAG")))


@HANDLERS.register("COMPLEX_ABS")
def absolute(context: Context) -> None:
    """The distance from 0."""
    squares = [context.eltwise("SQUARE", context.input(index)) for index in range(2)]
    context.emit_eltwise("SQRT", context.eltwise("ADD", *squares))
