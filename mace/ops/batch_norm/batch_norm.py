# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for BatchNorm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import affine, infer_by_channel


class BatchNorm(OpRules):
    elementwise = True
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        check_fused(op)
        return infer_by_channel(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, scale, offset = (np.asarray(i, np.float64) for i in inputs)
        return [activate(op, affine(op, x, scale, offset))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)
