# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions of all kinds, and pooling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mace.python.tools.ir.dims import add, ceil_divide, floor_divide, minimum, multiply
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.base import OutputType
from mace.python.tools.ir.op_rules.images import image_dims, image_shape
from mace.python.tools.ir.op_rules.matrices import WeightedSums
from mace.python.tools.ir.shapes import Dim, compatible, elements, product


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


def transposed_size(op: Op, index: int, kernel: int, size: Dim) -> Dim:
    """The output height (0) or width (1) of a transposed convolution. An open size is
    not 0.
    """
    pads, stride = op.attr("pads"), op.attr("strides")[index]
    added: int = (
        (kernel - 1) * op.attr("dilations")[index]
        + 1
        - pads[index]
        - pads[index + 2]
        + op.attr("output_padding")[index]
        - stride
    )
    if not isinstance(size, int):
        return add(multiply(size, stride), added)
    result: int = stride * size + added
    if size and result < 1:
        raise ValueError(
            f"pads {list(pads)} leave nothing of what a length of {size} becomes"
        )
    return result if size else 0


def scatter(op: Op, inputs: Sequence[Any], filters: Array, groups: int) -> Array:
    """The transposed convolution of NHWC input 0 by filters [O, KH, KW, I / groups].

    With bias and activation, in float64.
    """
    x = np.asarray(inputs[0], np.float64)
    outs, kernel, depth = filters.shape[0], filters.shape[1:3], filters.shape[3]
    size = [transposed_size(op, i, kernel[i], x.shape[i + 1]) or 0 for i in range(2)]
    strides, dilations, pads = op.attr("strides"), op.attr("dilations"), op.attr("pads")
    # The range that the inputs contribute to, and at least the part that is kept.
    whole = [
        max(
            strides[i] * (x.shape[i + 1] - 1) + (kernel[i] - 1) * dilations[i] + 1,
            pads[i] + size[i],
        )
        for i in range(2)
    ]
    result = np.zeros((x.shape[0], *whole, outs))
    per_group = outs // groups
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilations[0], j * dilations[1]
            met = result[
                :,
                top : top + strides[0] * x.shape[1] : strides[0],
                left : left + strides[1] * x.shape[2] : strides[1],
            ][:, : x.shape[1], : x.shape[2]]
            for g in range(groups):
                of = slice(g * per_group, (g + 1) * per_group)
                part = x[..., g * depth : (g + 1) * depth]
                met[..., of] += part @ filters[of, i, j].T
    kept = result[:, pads[0] : pads[0] + size[0], pads[1] : pads[1] + size[1]]
    bias = inputs[2] if len(inputs) > 2 else None
    return activate(op, kept if bias is None else kept + bias)


def is_five_wide(op: Op) -> bool:
    """Whether kernels for rows of 5 taps may compute it, a channel at a time.

    For an operator in NHWC, as it is exported. A row of several channels per
    group is that much wider.
    """
    value = op.get_input(1)
    if value is None or value.shape is None:
        return False
    # [out, height, width, depth] or [height, width, channels, multiplier].
    columns = value.shape[2:] if op.type == "Conv2D" else (value.shape[1], 1)
    width, depth = (dim if isinstance(dim, int) else 0 for dim in columns)
    stride = int(op.attr("strides")[1])
    if op.type == "DepthwiseDeconv2d":
        # The columns are divided among the phases.
        return 5 in (width // stride, -(-width // stride))
    return width * depth == 5 and stride <= 2 and op.attr("dilations")[1] == 1


class Convolution(WeightedSums):
    """The base class of the rules of convolutions; each adds its formula."""

    layout_inputs: ClassVar[tuple[int, ...]] = (0,)

    # Filters are [height, width, channels, multiplier]; those of other convolutions are
    # [out, height, width, depth].
    is_depthwise: ClassVar[bool] = False

    # Each input element spreads over a window of the output.
    is_transposed: ClassVar[bool] = False

    def infer(self, op: Op) -> list[OutputType]:
        x, filters = op.input(0), filter_shape(op)
        if self.is_depthwise:
            kh, kw, channels, multiplier = filters
            out = channels * multiplier
        else:
            out, kh, kw, depth = filters
        if x.shape is None:
            return [OutputType(x.dtype, image_shape(op, None, (None,) * 2, out))]
        n, hw, c = image_dims(op, x.shape)
        if self.is_depthwise:
            check_depth(c, channels)
        else:
            check_groups(op, c, out, depth)
        check_bias(op, out)
        size_of = transposed_size if self.is_transposed else output_size
        size = [size_of(op, i, k, hw[i]) for i, k in enumerate((kh, kw))]
        return [OutputType(x.dtype, image_shape(op, n, size, out))]

    def macs(self, op: Op) -> int | None:
        filters = filter_shape(op)
        results = elements(op.output.shape)
        if self.is_transposed:
            # Each pixel of the input meets the whole filter.
            image = op.input(0).shape
            n, hw, _ = image_dims(op, (None,) * 4 if image is None else image)
            pixels = product((n, *hw))
            if results is None or pixels is None:
                return None
            return math.prod(filters) * pixels if results else 0
        taps = math.prod(filters[:2] if self.is_depthwise else filters[1:])
        return None if results is None else results * taps

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)
