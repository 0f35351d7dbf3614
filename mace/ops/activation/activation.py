# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Activation and Trigonometric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat, Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.activations import activate
from mace.python.tools.ir.op_rules.images import channel_axis, data_format
from mace.python.tools.ir.shapes import compatible


class Activation(OpRules):
    elementwise = True
    # PRELU has a slope for each channel.
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        slope = op.get_input(1)
        if (slope is not None) != (op.attr("activation") == "PRELU"):
            raise ValueError("activation PRELU takes slopes, and no other does")
        if slope is not None:
            channels = x.shape[channel_axis(op, len(x.shape))] if x.shape else None
            fits = slope.shape == (1,) or compatible(slope.shape, (channels,))
            if not fits or slope.shape == (0,):
                raise ValueError(f"the slope must be [{channels}] or [1]")
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = inputs[0]
        slope = inputs[1] if len(inputs) > 1 else None
        if slope is not None and data_format(op) is DataFormat.NCHW:
            slope = slope.reshape(-1, *(1,) * (x.ndim - 2))
        return [activate(op, x, slope)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        slope = op.get_input(1)
        if slope is not None and slope.shape != (1,):
            return None  # the slopes are per innermost element, which moves
        return SunkTranspose(perm)

    def is_identity(self, op: Op) -> bool:
        return bool(op.attr("activation") == "NONE")


_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "ASIN": np.arcsin,
    "ACOS": np.arccos,
    "ATAN": np.arctan,
    "SINH": np.sinh,
    "COSH": np.cosh,
    "ASINH": np.arcsinh,
    "ACOSH": np.arccosh,
    "ATANH": np.arctanh,
}


class Trigonometric(OpRules):
    elementwise = True

    def infer(self, op: Op) -> list[OutputType]:
        return [OutputType(op.input(0).dtype, op.input(0).shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            x = np.asarray(inputs[0], np.float64)
            return [_FUNCTIONS[op.attr("mode")](x)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return SunkTranspose(perm)
