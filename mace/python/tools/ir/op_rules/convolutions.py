# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by convolutions, depthwise or not, transposed or not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.base import OutputType
from mace.python.tools.ir.op_rules.images import image_dims, image_shape
from mace.python.tools.ir.op_rules.transposed_windows import transposed_size
from mace.python.tools.ir.op_rules.weighted_sums import WeightedSums
from mace.python.tools.ir.op_rules.windows import (
    check_bias,
    check_depth,
    check_groups,
    filter_shape,
    output_size,
)
from mace.python.tools.ir.shapes import elements, product


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
