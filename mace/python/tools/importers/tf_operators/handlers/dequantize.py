# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights that are stored in 8 bits, as `quantize_weights` writes them."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.node import type_name
from mace.python.tools.ir.dtypes import Array, DataType

_QINT8, _QUINT8 = 11, 12


@HANDLERS.register("Dequantize")
def dequantize(context: Context) -> None:
    """A constant of 8 bits becomes the floats that it stands for."""
    node = context.node
    kind = node.integer("T")
    if kind not in (_QINT8, _QUINT8):
        raise UnsupportedNodeError(f"integers of {type_name(kind)}")
    if node.integer("axis", -1) != -1:
        raise UnsupportedNodeError("one range for each index of an axis")
    if not context.input(0).is_constant:
        raise UnsupportedNodeError(
            f"{context.input(0).name} is computed in TensorFlow's eight bits",
            "convert the float model (without quantize_nodes) and say quantize: 1",
        )
    if context.input(0).dtype not in (DataType.INT8, DataType.UINT8):
        raise UnsupportedNodeError(f"integers of {context.input(0).dtype.value}")
    codes = np.asarray(context.values(0, "input"), np.float64)
    low, high = (
        np.asarray(context.values(index, what), np.float64).reshape(-1)
        for index, what in ((1, "min_range"), (2, "max_range"))
    )
    if low.size != 1 or high.size != 1:
        raise UnsupportedNodeError(f"a range of {low.size} and {high.size} numbers")
    result = _floats(
        codes, low.item(), high.item(), kind, node.string("mode", "MIN_COMBINED")
    )
    value = context.builder.constant(context.output_name(), result)
    value.source = context.output_name()
    context.results[0] = value


def _floats(codes: Array, low: float, high: float, kind: int, mode: str) -> Array:
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise UnsupportedNodeError(f"the range is {low:g} to {high:g}")
    least = -128.0 if kind == _QINT8 else 0.0
    scale = (high - low) / 255.0
    if mode == "SCALED":
        factor = max(high / (least + 255.0), low / least if least else 0.0)
        result = codes * factor
    elif mode == "MIN_FIRST":
        first = np.rint(low / scale) * scale if scale else low
        result = first + (codes - least) * scale
    elif mode == "MIN_COMBINED":
        result = low + (codes - least) * scale
    else:
        raise UnsupportedNodeError(f"mode is {mode}")
    return np.asarray(result, np.float32)
