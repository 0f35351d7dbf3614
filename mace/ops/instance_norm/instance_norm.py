# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for InstanceNorm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import affine, channel_axis, infer_by_channel


class InstanceNorm(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        check_fused(op)
        if op.input(0).rank in (0, 1, 2):
            raise ValueError(f"needs 3 dimensions or more, not {op.input(0).rank}")
        return infer_by_channel(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, scale, offset = (np.asarray(i, np.float64) for i in inputs)
        if not x.size:
            return [x]
        axes = tuple({*range(1, x.ndim)} - {channel_axis(op, x.ndim)})
        centred = x - x.mean(axis=axes, keepdims=True)
        variance = np.square(centred).mean(axis=axes, keepdims=True)
        normal = centred / np.sqrt(variance + op.attr("epsilon"))
        return [activate(op, affine(op, normal, scale, offset))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)
