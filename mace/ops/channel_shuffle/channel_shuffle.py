# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for ChannelShuffle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.images import evaluate_in_nhwc, image_dims


class ChannelShuffle(OpRules):
    keeps_elements = True
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            _, _, c = image_dims(op, x.shape)
            groups = op.attr("groups")
            if isinstance(c, int) and c % groups:
                raise ValueError(f"{c} channels in {groups} groups")
        return [OutputType(x.dtype, x.shape)]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, groups = inputs[0], op.attr("groups")
        split = x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)
        return [split.swapaxes(-1, -2).reshape(x.shape)]
