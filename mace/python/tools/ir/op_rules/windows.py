# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows that move over height and width: convolution and pooling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import add, ceil_divide, floor_divide, minimum
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.shapes import Dim, compatible


@dataclass(frozen=True)
class Axis:
    """The windows along one axis: length, distance, padding."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def extent(self) -> int:
        """Elements from the first tap to the last."""
        return (self.kernel - 1) * self.dilation + 1

    def output(self, size: Dim, ceil_mode: bool = False) -> Dim:
        """Number of windows over `size` elements."""
        if not isinstance(size, int):
            return self._open_output(size, ceil_mode)
        if size == 0:
            return 0
        room = size + self.before + self.after - self.extent
        if room < 0:
            raise ValueError(
                f"a window of {self.extent} is larger than the padded input "
                f"of {size + self.before + self.after}"
            )
        count = room // self.stride + 1
        if ceil_mode:
            # A window that would start in the padding after the input is dropped.
            starting_before_end = (size + self.before - 1) // self.stride + 1
            count = min(-(-room // self.stride) + 1, starting_before_end)
        return count

    def _open_output(self, size: Dim, ceil_mode: bool) -> Dim:
        """Number of windows over a length that the run determines, which is not 0."""
        room = add(size, self.before + self.after - self.extent)
        if not ceil_mode:
            return add(floor_divide(room, self.stride), 1)
        starting_before_end = floor_divide(add(size, self.before - 1), self.stride)
        return add(minimum(ceil_divide(room, self.stride), starting_before_end), 1)


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
    if axis is None:  # padding so that each stride has its window
        return ceil_divide(size, op.attr("strides")[index])
    return axis.output(size, ceil_mode)


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


def filter_shape(op: Op) -> tuple[int, int, int, int]:
    """The shape of the filter, which is input 1, of an operator that may go on.

    Raises:
        ValueError: it is no constant of four dimensions, or has no elements; or the
            activation cannot be fused.
    """
    check_fused(op)
    value = op.input(1)
    if value.constant is None:
        raise ValueError(f"the filter {value.name} must be a constant")
    if len(value.constant.shape) != 4:
        raise ValueError("the filter must have 4 dimensions")
    a, b, c, d = value.constant.shape
    if 0 in (a, b, c, d):
        raise ValueError(f"the filter {value.shown_shape} has no elements")
    return a, b, c, d


def check_groups(op: Op, channels: Dim, out: int, depth: int) -> None:
    """Checks a filter of `out` channels that reads `depth` in each group.

    Raises:
        ValueError: the groups do not divide the channels of input or output.
    """
    groups = op.attr("groups")
    if isinstance(channels, int) and channels != depth * groups:
        raise ValueError(
            f"{channels} input channels, but the filter "
            f"{op.input(1).shown_shape} with {groups} groups needs {depth * groups}"
        )
    if out % groups:
        raise ValueError(f"{out} output channels in {groups} groups")


def check_depth(channels: Dim, depth: int) -> None:
    """Checks that a depthwise filter has the channels of the input.

    Raises:
        ValueError: it has not.
    """
    if isinstance(channels, int) and channels != depth:
        raise ValueError(f"{channels} input channels, but {depth} in the filter")


def check_bias(op: Op, channels: int) -> None:
    """Checks the bias, which is input 2.

    Raises:
        ValueError: it is not one number for each output channel.
    """
    bias = op.get_input(2)
    if bias is not None and not compatible(bias.shape, (channels,)):
        raise ValueError(f"the bias must be [{channels}]")


def windows_over(op: Op, x: Array, kernel: Sequence[int]) -> tuple[Axis, Axis]:
    """The vertical and the horizontal window for an NHWC array."""
    rows, columns = window_axes(op, kernel, x.shape[1:3])
    assert rows is not None and columns is not None
    return rows, columns


def image_size(
    x: Array, rows: Axis, columns: Axis, ceil_mode: bool = False
) -> list[int]:
    """Number of windows over the height and the width of an NHWC array."""
    sizes = (
        axis.output(x.shape[i + 1], ceil_mode) for i, axis in enumerate((rows, columns))
    )
    return [size for size in sizes if isinstance(size, int)]


def taps(
    x: Array, rows: Axis, columns: Axis, out: Sequence[int], fill: float
) -> Iterator[tuple[int, int, Array]]:
    """For each position in the window, the input elements at that position."""
    if 0 in out:
        return
    # Long enough for the windows that ceil_mode adds.
    far = [
        (out[i] - 1) * axis.stride + axis.extent
        for i, axis in enumerate((rows, columns))
    ]
    widths = [
        (axis.before, max(far[i] - axis.before - x.shape[i + 1], 0))
        for i, axis in enumerate((rows, columns))
    ]
    padded = np.pad(x, [(0, 0), *widths, (0, 0)], constant_values=fill)
    for i in range(rows.kernel):
        for j in range(columns.kernel):
            top, left = i * rows.dilation, j * columns.dilation
            yield (
                i,
                j,
                padded[
                    :,
                    top : top + (out[0] - 1) * rows.stride + 1 : rows.stride,
                    left : left + (out[1] - 1) * columns.stride + 1 : columns.stride,
                ],
            )


def finished(op: Op, result: Array, inputs: Sequence[Any]) -> Array:
    """Completes a convolution: adds bias and residual, applies the activation."""
    for extra in inputs[2:4]:
        if extra is not None:
            result = result + extra
    return activate(op, result)
