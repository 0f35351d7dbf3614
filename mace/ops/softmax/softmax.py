# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
)
from mace.python.tools.ir.op_rules.axes import beside
from mace.python.tools.ir.op_rules.movement import sink_along_axis
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import requantized, scale_of
from mace.python.tools.ir.shapes import normalize_axis

# Of the exponentials of quantized numbers.
_ONE = float(1 << 30)
_MOST_SCALE = 64.0
_SQUARES = 12
_TERMS = 6


class Softmax(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            normalize_axis(op.attr("axis"), len(x.shape))
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = inputs[0].astype(np.float64), op.attr("axis")
        x = x - x.max(axis, keepdims=True, initial=-np.inf)
        total = np.exp(x).sum(axis, keepdims=True)
        return [x - np.log(total) if op.attr("log") else np.exp(x) / total]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        return None if op.attr("log") else (0.0, 1.0)

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        shape, axis = op.input(0).shape, op.attr("axis")
        innermost = shape is not None and normalize_axis(axis, len(shape)) == (
            len(shape) - 1
        )
        return {} if innermost and not op.attr("log") else None

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0], np.int64)
        if not x.size:
            return [x]
        table = np.array(_exponentials(float(scale_of(op.input(0)))), np.int64)
        exponentials = table[x.max(-1, keepdims=True) - x]
        total = exponentials.sum(-1, keepdims=True).astype(np.float64)
        factor = 1 / (total * float(scale_of(op.output)))
        return [requantized(op, exponentials, factor.astype(np.float32))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside(op, axes)


def _exponentials(scale: float) -> list[int]:
    """exp(-scale * k) for k below 256, in units of 1 / _ONE, by IEEE arithmetic."""
    series = 0.0
    if scale <= _MOST_SCALE:
        t = scale / 2**_SQUARES
        series = 1.0
        for term in range(_TERMS, 0, -1):
            series = 1.0 - series * t / term
        for _ in range(_SQUARES):
            series *= series
    powers = [_ONE]
    for _ in range(255):
        powers.append(powers[-1] * series)
    return [round(power) for power in powers]
