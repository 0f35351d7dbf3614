# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Trigonometric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose

_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "ASIN": np.arcsin,
    "ACOS": np.arccos,
    "ATAN": np.arctan,
    "SINH": np.sinh,
    "COSH": np.cosh,
    "ASINH": np.arcsinh,
    "ACOSH": np.arccosh,
    "ATANH": np.arctanh,
}


class Trigonometric(OpRules):
    elementwise = True

    def infer(self, op: Op) -> list[OutputType]:
        return [OutputType(op.input(0).dtype, op.input(0).shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            x = np.asarray(inputs[0], np.float64)
            return [_FUNCTIONS[op.attr("mode")](x)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return SunkTranspose(perm)
