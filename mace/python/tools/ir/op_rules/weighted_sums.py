# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by operators that multiply by constant weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.base import OpRules
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_products import quantized_weights, requantized


class WeightedSums(OpRules):
    """The base class of their rules: input 1 are the weights, input 2 is the bias, and
    an activation follows.
    """

    def quantized_constants(
        self, op: Op, quantization: Quantization
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        if op.attr("activation") not in ("NONE", "RELU", "RELUX"):
            return None
        return quantized_weights(op, quantization)

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [requantized(op, self._sums(op, inputs))]

    def _sums(self, op: Op, inputs: Sequence[Any]) -> Array:
        """In integers, which float64 holds."""
        attrs = {k: v for k, v in op.attrs.items() if not k.startswith("activation")}
        plain = Op(op.name, op.type, attrs)
        known = op.input(0).quantization
        zero = known.zero_points[0] if known and known.zero_points else 0
        (sums,) = self.evaluate(
            plain, [np.asarray(inputs[0], np.float64) - zero, *inputs[1:]]
        )
        return sums
