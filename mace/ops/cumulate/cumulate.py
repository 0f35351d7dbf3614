# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Cumulate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside, of_first
from mace.python.tools.ir.op_rules.integers import int32_of
from mace.python.tools.ir.op_rules.transposes import sink_along_axis
from mace.python.tools.ir.shapes import normalize_axis

_LEAST, _LARGEST = -(2**31), 2**31 - 1


class Cumulate(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            normalize_axis(op.attr("axis"), len(x.shape))
        if op.attr("mode") == "LOG_SUM_EXP" and not x.dtype.is_float:
            raise ValueError("LOG_SUM_EXP of integers")
        return [OutputType(x.dtype, x.shape)]

    def can_exceed(self, op: Op) -> bool:
        return op.output.dtype is DataType.INT32 and op.attr("mode") == "PROD"

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, axis = np.asarray(inputs[0]), op.attr("axis")
        is_float = x.dtype.kind == "f"
        # Products of integers may have any size.
        x = np.moveaxis(x.astype(np.float64 if is_float else object), axis, 0)
        x = x[::-1] if op.attr("reverse") else x
        least, largest = (-np.inf, np.inf) if is_float else (_LEAST, _LARGEST)
        function, first = {
            "PROD": (np.multiply, 1),
            "MAX": (np.maximum, least),
            "MIN": (np.minimum, largest),
            "LOG_SUM_EXP": (np.logaddexp, -np.inf),
        }[op.attr("mode")]
        with np.errstate(all="ignore"):
            found = function.accumulate(x, 0) if x.size else x
        if op.attr("exclusive"):
            found = np.concatenate([np.full_like(found[:1], first), found[:-1]])
        found = found[::-1] if op.attr("reverse") else found
        found = np.moveaxis(found, 0, axis)
        return [found if is_float else int32_of(op, found)]

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
