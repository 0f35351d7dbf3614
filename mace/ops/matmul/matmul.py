# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for MatMul."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.matrices import product_macs, product_shape
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import (
    integers_of,
    requantized,
    scale_of,
    zero_of,
)


class MatMul(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        a, b = op.input(0), op.input(1)
        shape = product_shape(a, b, op.attr("transpose_a"), op.attr("transpose_b"))
        return [OutputType(a.dtype, shape)]

    def macs(self, op: Op) -> int | None:
        return product_macs(op, -2 if op.attr("transpose_a") else -1)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (np.asarray(i, np.float64) for i in inputs[:2])
        return [_product(op, a, b)]

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        made = {}
        for index, value in enumerate(op.inputs):
            if value is not None and value.is_constant:
                integers = integers_of(value)
                if integers is None:
                    return None
                made[index] = integers
        return made

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (
            np.asarray(array, np.int64) - zero_of(op.input(index))
            for index, array in enumerate(inputs)
        )
        # Modulo 2^32.
        sums = _product(op, a, b).astype(np.int32)
        factor = scale_of(op.input(0)) * scale_of(op.input(1)) / scale_of(op.output)
        return [requantized(op, sums, np.asarray(factor))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """Rows of the first operand, or the same batch of both."""
        ranks = [len(op.input(i).shape or ()) for i in (0, 1)]
        behind = {ranks[i] - axis for i, axis in axes.items()}
        if len(behind) != 1 or not set(axes) <= {0, 1}:
            return None
        (place,) = behind
        rank = max(ranks)
        if place > 2:
            for i in {0, 1} - set(axes):
                shape = op.input(i).shape or ()
                if len(shape) >= place and shape[-place] != 1:
                    return None
            return rank - place
        rows = place == (1 if op.attr("transpose_a") else 2)
        return rank - 2 if rows and set(axes) == {0} else None


def _product(op: Op, a: Array, b: Array) -> Array:
    if op.attr("transpose_a"):
        a = a.swapaxes(-1, -2)
    if op.attr("transpose_b"):
        b = b.swapaxes(-1, -2)
    return np.asarray(a @ b)
