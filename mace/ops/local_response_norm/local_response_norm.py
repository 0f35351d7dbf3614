# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for LocalResponseNorm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import evaluate_in_nhwc, image_dims


class LocalResponseNorm(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            image_dims(op, x.shape)
        return [OutputType(x.dtype, x.shape)]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0], np.float64)
        before, after = op.attr("before"), op.attr("after")
        channels = x.shape[-1]
        squares, sums = np.square(x), np.zeros_like(x)
        for c in range(channels):
            sums[..., c] = squares[..., max(c - before, 0) : c + after + 1].sum(-1)
        scale = op.attr("bias") + op.attr("alpha") * sums
        return [x / scale ** op.attr("beta")]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)
