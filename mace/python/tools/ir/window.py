# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Geometry of operators that move a window over height and width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir.graph import DataFormat, Op
from mace.python.tools.ir.shapes import Dim, Shape

# Operators whose input has channels, after height and width if it is an image (as
# it is but for BatchNorm and InstanceNorm). They may carry the attribute
# `data_format` until the pass `channels_last` has run.
LAYOUT_BOUND_OPS = frozenset(
    {
        "Activation",  # PRELU: its slopes are per channel
        "BatchNorm",
        "ChannelShuffle",
        "Conv2D",
        "Deconv2D",
        "DepthToSpace",
        "DepthwiseConv2d",
        "DepthwiseDeconv2d",
        "InstanceNorm",
        "LocalResponseNorm",
        "Pooling",
        "Resize",
        "SpaceToDepth",
    }
)
DATA_FORMAT = "data_format"


def data_format(op: Op) -> DataFormat:
    """How a layout-bound operator reads its rank-4 input."""
    return DataFormat(op.attrs.get(DATA_FORMAT, "NHWC"))


def channel_axis(op: Op, rank: int) -> int:
    """Position of the channels in the input of a layout-bound operator."""
    return 1 if data_format(op) is DataFormat.NCHW else rank - 1


def spatial_axes(op: Op) -> tuple[int, int]:
    """Positions of height and width."""
    return (2, 3) if data_format(op) is DataFormat.NCHW else (1, 2)


def scaled_size(size: int, scale: float) -> int:
    """What Resize makes of a length: in float32, as frameworks do it."""
    return int(np.floor(np.float32(size) * np.float32(scale)))


def image_shape(op: Op, n: Dim, hw: Sequence[Dim], c: Dim) -> Shape:
    """A shape in the format of `op`."""
    if data_format(op) is DataFormat.NCHW:
        return (n, c, hw[0], hw[1])
    return (n, hw[0], hw[1], c)


@dataclass(frozen=True)
class Axis:
    """A window along one axis: how long, how far apart, how padded."""

    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def extent(self) -> int:
        """Elements from the first tap to the last."""
        return (self.kernel - 1) * self.dilation + 1

    def output(self, size: Dim, ceil_mode: bool = False) -> Dim:
        """Number of windows over `size` elements."""
        if not isinstance(size, int):
            return None
        room = size + self.before + self.after - self.extent
        if room < 0:
            raise ValueError(
                f"a window of {self.extent} is larger than the padded input "
                f"of {size + self.before + self.after}"
            )
        count = room // self.stride + 1
        if ceil_mode and room % self.stride:
            # Dropped if it would start in the padding after the input.
            start = count * self.stride
            count += int(start < size + self.before)
        return count


def transposed_size(op: Op, index: int, kernel: int, size: Dim) -> Dim:
    """What a transposed convolution makes of the height (0) or width (1)."""
    if not isinstance(size, int):
        return None
    pads = op.attr("pads")
    result: int = (
        op.attr("strides")[index] * (size - 1)
        + (kernel - 1) * op.attr("dilations")[index]
        + 1
        - pads[index]
        - pads[index + 2]
        + op.attr("output_padding")[index]
    )
    if size and result < 1:
        raise ValueError(
            f"pads {list(pads)} leave nothing of what a length of {size} becomes"
        )
    return result if size else 0


def window_axes(
    op: Op, kernel: Sequence[int], sizes: Sequence[Dim]
) -> tuple[Axis | None, Axis | None]:
    """The vertical and horizontal window with its padding resolved.

    None for an axis whose SAME padding depends on an unknown size.
    """
    resolved = [_axis(op, i, kernel[i], sizes[i]) for i in range(2)]
    return resolved[0], resolved[1]


def output_size(
    op: Op, index: int, kernel: int, size: Dim, ceil_mode: bool = False
) -> Dim:
    """Windows along the vertical (0) or horizontal (1) axis."""
    axis = _axis(op, index, kernel, size)
    return None if axis is None else axis.output(size, ceil_mode)


def _axis(op: Op, index: int, kernel: int, size: Dim) -> Axis | None:
    stride = op.attr("strides")[index]
    dilation = op.attr("dilations")[index]
    padding = op.attr("padding")
    if padding == "EXPLICIT":
        pads = op.attr("pads")
        before, after = pads[index], pads[index + 2]
    elif padding == "VALID":
        before = after = 0
    elif not isinstance(size, int):
        return None
    else:
        count = -(-size // stride)
        extent = (kernel - 1) * dilation + 1
        total = max((count - 1) * stride + extent - size, 0)
        before = total // 2
        if padding == "SAME_LOWER":
            before = total - before
        after = total - before
    return Axis(kernel, stride, dilation, before, after)
