# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for LayerNorm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import beside_last
from mace.python.tools.ir.shapes import compatible


class LayerNorm(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            if not x.shape:
                raise ValueError("a scalar has no dimension to normalise over")
            for port in (1, 2):
                value = op.get_input(port)
                if value is not None and not compatible(value.shape, (x.shape[-1],)):
                    raise ValueError(f"input {port} must be [{x.shape[-1]}]")
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, scale, offset = (
            None if i is None else np.asarray(i, np.float64)
            for i in (*inputs, None, None)[:3]
        )
        assert x is not None
        if not x.size:
            return [x]
        if op.attr("subtract_mean"):
            x = x - x.mean(-1, keepdims=True)
        y = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + op.attr("epsilon"))
        y = y if scale is None else y * scale
        return [y if offset is None else y + offset]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        # Only if the transpose does not move the innermost dimension.
        return SunkTranspose(perm, {}) if perm[-1] == len(perm) - 1 else None

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside_last(op, axes)
