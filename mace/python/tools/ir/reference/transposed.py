# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposed convolution, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import EVALUATORS
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.reference.activation import activate
from mace.python.tools.ir.window import transposed_size


@EVALUATORS.register("Deconv2D")
def _deconv2d(op: Op, inputs: Sequence[Any]) -> list[Array]:
    filters = np.asarray(inputs[1], np.float64)
    return [_scatter(op, inputs, filters, op.attr("groups"))]


@EVALUATORS.register("DepthwiseDeconv2d")
def _depthwise(op: Op, inputs: Sequence[Any]) -> list[Array]:
    filters = np.asarray(inputs[1], np.float64)
    kh, kw, channels, multiplier = filters.shape
    turned = filters.transpose(2, 3, 0, 1).reshape(channels * multiplier, kh, kw, 1)
    return [_scatter(op, inputs, turned, channels)]


def _scatter(op: Op, inputs: Sequence[Any], filters: Array, groups: int) -> Array:
    nchw = op.attrs.get("data_format", "NHWC") == "NCHW"
    x = np.asarray(inputs[0], np.float64)
    if nchw:
        x = x.transpose(0, 2, 3, 1)
    outs, kernel, depth = filters.shape[0], filters.shape[1:3], filters.shape[3]
    size = [transposed_size(op, i, kernel[i], x.shape[i + 1]) or 0 for i in range(2)]
    strides, dilations, pads = op.attr("strides"), op.attr("dilations"), op.attr("pads")
    # Everything that the inputs reach, and at least what is kept.
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
    kept = activate(op, kept if bias is None else kept + bias)
    return kept.transpose(0, 3, 1, 2) if nchw else kept
