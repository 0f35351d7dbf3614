# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for NonZero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import product_of
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType


class NonZero(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        shape = op.input(0).shape
        if shape == ():
            raise ValueError("the input has no dimensions")
        positions = None if shape is None else (len(shape), product_of(shape))
        return [
            OutputType(DataType.INT32, positions),
            OutputType(DataType.INT32, (1,)),
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0])
        found = np.array(np.nonzero(x), np.int32)
        positions = np.zeros((x.ndim, x.size), np.int32)
        positions[:, : found.shape[1]] = found
        return [positions, np.array([found.shape[1]], np.int32)]
