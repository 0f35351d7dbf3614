# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Transpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.ir.constant import Integers
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType
from mace.python.tools.ir.op_rules.axes import of_first
from mace.python.tools.ir.op_rules.movement import MovementRules, moved_integers
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import permute


class Transpose(MovementRules):
    keeps_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        x, perm = op.input(0), op.attr("perm")
        if sorted(perm) != list(range(len(perm))):
            raise ValueError(f"perm {list(perm)} is no permutation")
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * len(perm))]
        if len(perm) != len(x.shape):
            raise ValueError(f"perm {list(perm)} does not fit the rank")
        return [OutputType(x.dtype, permute(x.shape, perm))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [inputs[0].transpose(op.attr("perm"))]

    def integers(self, op: Op) -> Integers | None:
        return moved_integers(op, lambda array: array.transpose(op.attr("perm")))

    def quantization(self, op: Op) -> list[Quantization | None]:
        given = op.input(0).quantization
        return [given and given.permuted(op.attr("perm"))]

    def is_identity(self, op: Op) -> bool:
        perm = op.attr("perm")
        return bool(perm == tuple(range(len(perm))))

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis = of_first(axes)
        return None if axis is None else list(op.attr("perm")).index(axis)
