# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.transposes import sink_along_axis
from mace.python.tools.ir.shapes import normalize_axis


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

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)
