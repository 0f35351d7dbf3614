# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.axes import broadcast_axis
from mace.python.tools.ir.op_rules.movement import MovementRules
from mace.python.tools.ir.quantization import Quantization


class Identity(MovementRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [inputs[0]]

    def quantization(self, op: Op) -> list[Quantization | None]:
        return [op.input(0).quantization]

    def is_identity(self, op: Op) -> bool:
        return True

    def known_outputs(self, op: Op) -> list[Constant] | None:
        # The same constant, however large, with its recipe.
        constant = op.input(0).constant
        return None if constant is None else [constant]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return broadcast_axis(op, axes)
