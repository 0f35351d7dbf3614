# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that combine each element with all elements before it along one axis."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.axes import beside, of_first
from mace.python.tools.ir.op_rules.base import (
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
)
from mace.python.tools.ir.op_rules.integers import int32_of
from mace.python.tools.ir.op_rules.transposes import sink_along_axis
from mace.python.tools.ir.shapes import normalize_axis


class Scan(OpRules):
    """Has the attributes axis, exclusive and reverse."""

    @abc.abstractmethod
    def accumulated(self, op: Op, x: Array) -> tuple[Array, float]:
        """The results along the first axis, and that of no elements. Of integers, they
        may have any size.
        """

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            normalize_axis(op.attr("axis"), len(x.shape))
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = np.asarray(inputs[0]), op.attr("axis")
        order = slice(None, None, -1 if op.attr("reverse") else 1)
        found, of_none = self.accumulated(op, np.moveaxis(x, axis, 0)[order])
        if op.attr("exclusive"):
            found = np.concatenate([np.full_like(found[:1], of_none), found[:-1]])
        found = np.moveaxis(found[order], 0, axis)
        return [found if x.dtype.kind == "f" else int32_of(op, found)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return sink_along_axis(op, perm)

    def is_identity(self, op: Op) -> bool:
        shape = op.input(0).shape
        if shape is None or op.attr("exclusive"):
            return False
        return bool(shape[op.attr("axis")] == 1)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        # Elements before another one count if it does.
        return beside(op, axes) if op.attr("reverse") else of_first(axes)
