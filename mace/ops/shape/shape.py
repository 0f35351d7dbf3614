# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.movement import symbols
from mace.python.tools.ir.shapes import static


class ShapeOp(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        return [OutputType(DataType.INT32, (op.input(0).rank,))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.array(inputs[0].shape, np.int32)]

    def known_outputs(self, op: Op) -> list[Constant] | None:
        shape = static(op.input(0).shape)
        return None if shape is None else [Constant.of(np.array(shape, np.int32))]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        shape = op.input(0).shape
        return None if shape is None else symbols(shape)
