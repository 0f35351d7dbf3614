# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposed convolution: the windows lie in the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import add, multiply
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.activations import activate
from mace.python.tools.ir.shapes import Dim


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
