# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Unique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType


class Unique(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape == ():
            raise ValueError("the input has no dimensions")
        rows = None if x.shape is None else (x.shape[0],)
        return [
            OutputType(x.dtype, x.shape),
            *[OutputType(DataType.INT32, rows)] * 3,
            OutputType(DataType.INT32, (1,)),
        ]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0])
        rows = x.reshape(len(x), x.size // max(len(x), 1))
        firsts: dict[tuple[Any, ...], int] = {}
        # NaN is made equal to itself, and above infinity.
        keys = [tuple((v != v, 0 if v != v else v) for v in row) for row in rows]
        for index, key in enumerate(keys):
            firsts.setdefault(key, index)
        order = sorted(firsts) if op.attr("sorted") else list(firsts)
        places = {key: place for place, key in enumerate(order)}
        inverse = np.array([places[key] for key in keys], np.int32)
        indices = np.zeros(len(x), np.int32)
        indices[: len(order)] = [firsts[key] for key in order]
        values = np.zeros_like(x)
        values[: len(order)] = x[indices[: len(order)]]
        counts = np.bincount(inverse, minlength=len(x)).astype(np.int32)
        return [values, indices, inverse, counts, np.array([len(order)], np.int32)]
