# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on images: both layouts, numbers for each channel, regions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat, Op
from mace.python.tools.ir.op_rules.base import OpRules
from mace.python.tools.ir.shapes import (
    NCHW_TO_NHWC,
    NHWC_TO_NCHW,
    Dim,
    Shape,
)

DATA_FORMAT = "data_format"


def data_format(op: Op) -> DataFormat:
    """The data format of the rank-4 input of a layout-bound operator."""
    return DataFormat(op.attrs.get(DATA_FORMAT, "NHWC"))


def channel_axis(op: Op, rank: int) -> int:
    """Position of the channels in the input of a layout-bound operator."""
    return 1 if data_format(op) is DataFormat.NCHW else rank - 1


def spatial_axes(op: Op) -> tuple[int, int]:
    """Positions of height and width."""
    return (2, 3) if data_format(op) is DataFormat.NCHW else (1, 2)


def image_shape(op: Op, n: Dim, hw: Sequence[Dim], c: Dim) -> Shape:
    """A shape in the format of `op`."""
    if data_format(op) is DataFormat.NCHW:
        return (n, c, hw[0], hw[1])
    return (n, hw[0], hw[1], c)


def image_dims(op: Op, shape: Shape) -> tuple[Dim, tuple[Dim, Dim], Dim]:
    """Batch, height and width, channels of an image in the format of `op`.

    Raises:
        ValueError: the shape does not have four dimensions.
    """
    if len(shape) != 4:
        raise ValueError(f"needs 4 dimensions, not {len(shape)}")
    h, w = spatial_axes(op)
    return shape[0], (shape[h], shape[w]), shape[channel_axis(op, 4)]


_Rules = TypeVar("_Rules", bound=OpRules)
_Evaluate = Callable[[_Rules, Op, "Sequence[Any]"], "list[Array]"]


def evaluate_in_nhwc(function: _Evaluate[_Rules]) -> _Evaluate[_Rules]:
    """Makes an `evaluate` that is written for NHWC work for NCHW, too."""

    @functools.wraps(function)
    def wrapper(self: _Rules, op: Op, inputs: Sequence[Any]) -> list[Array]:
        if data_format(op) is DataFormat.NHWC:
            return function(self, op, inputs)
        moved = list(inputs)
        for port in self.layout_inputs:
            if port < len(moved) and moved[port] is not None:
                moved[port] = moved[port].transpose(NCHW_TO_NHWC)
        return [y.transpose(NHWC_TO_NCHW) for y in function(self, op, moved)]

    return wrapper
