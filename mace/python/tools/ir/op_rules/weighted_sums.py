# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by operators that multiply by constant weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.base import OpRules
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import has_limits, zero_of
from mace.python.tools.ir.quantized_products import quantized_weights, results_of


class WeightedSums(OpRules):
    """The base class of their rules: input 1 are the weights, input 2 is the bias, and
    an activation follows.
    """

    # Of the weights: the axis of the outputs.
    output_axis: ClassVar[int] = 0

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        if quantization is None or not has_limits(op):
            return None
        return quantized_weights(op, quantization, self.output_axis)

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [results_of(op, self._sums(op, inputs))]

    def _sums(self, op: Op, inputs: Sequence[Any]) -> Array:
        """In integers, which float64 holds."""
        attrs = {k: v for k, v in op.attrs.items() if not k.startswith("activation")}
        plain = Op(op.name, op.type, attrs)
        zero = zero_of(op.input(0))
        (sums,) = self.evaluate(
            plain, [np.asarray(inputs[0], np.float64) - zero, *inputs[1:]]
        )
        return sums
