# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on images: both layouts, numbers for each channel, regions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat, Op
from mace.python.tools.ir.op_rules.base import OpRules, OutputType
from mace.python.tools.ir.shapes import (
    NCHW_TO_NHWC,
    NHWC_TO_NCHW,
    Dim,
    Shape,
    compatible,
    format_shape,
    product,
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


def infer_by_channel(op: Op) -> list[OutputType]:
    """The type of an operator whose inputs 1 and 2 have one number per channel."""
    x = op.input(0)
    if x.shape is not None:
        if not x.shape:
            raise ValueError("a scalar has no channels")
        channels = x.shape[channel_axis(op, len(x.shape))]
        for port in (1, 2):
            if not compatible(op.input(port).shape, (channels,)):
                raise ValueError(f"input {port} must be [{channels}]")
    return [OutputType(x.dtype, x.shape)]


def affine(op: Op, x: Array, scale: Array, offset: Array) -> Array:
    """x * scale + offset by channel."""
    after = (1,) * (x.ndim - 1 - channel_axis(op, x.ndim))
    return np.asarray(x * scale.reshape(-1, *after) + offset.reshape(-1, *after))


def count_regions(op: Op) -> int | None:
    """How many regions there are; None: that is not known.

    Raises:
        ValueError: regions are not [..., 4], or images are not as many.
    """
    regions, images = op.input(1), op.get_input(2)
    count: int | None = None
    if regions.shape is not None:
        if not regions.shape or not compatible(regions.shape[-1:], (4,)):
            raise ValueError(
                f"regions have the shape {format_shape(regions.shape)}; it must "
                "be [..., 4]"
            )
        count = product(regions.shape[:-1])
    if images is not None and images.shape is not None:
        found = product(images.shape)
        if None not in (found, count) and found != count:
            raise ValueError(
                f"images have the shape {format_shape(images.shape)}, but there "
                f"are {count} regions"
            )
    return count


def region_images(inputs: Sequence[Any]) -> Iterator[tuple[int, Array, Array]]:
    """Index, image [H, W, C] and the four numbers of each region.

    Args:
        inputs: images [N, H, W, C], regions, and the index of the image of each, if
            they are not all of the first one. Those of images that do not exist are
            left out.
    """
    x, regions = np.asarray(inputs[0]), np.reshape(inputs[1], (-1, 4))
    images = np.zeros(len(regions), np.int64)
    if len(inputs) > 2 and inputs[2] is not None:
        images = np.reshape(inputs[2], -1)
    for index, (region, image) in enumerate(zip(regions, images)):
        if 0 <= image < len(x):
            yield index, x[image], region
