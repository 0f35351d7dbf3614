# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of complex numbers as two tensors: the real and the imaginary parts.

What moves numbers treats both parts alike, so that its axes and shapes are those of the
file. Elsewhere a tensor has one axis more, of length 2, for the two numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

# Operators that take complex numbers as they take others: they move them, add them, or
# need their shape alone. CAST to floats keeps the real part.
BY_PARTS = frozenset(
    {
        *("ADD", "BATCH_TO_SPACE_ND", "BROADCAST_TO", "CAST", "CONCATENATION"),
        *("EXPAND_DIMS", "GATHER", "GATHER_ND", "MIRROR_PAD", "PACK", "PAD", "PADV2"),
        *("RANK", "RESHAPE", "REVERSE_SEQUENCE", "REVERSE_V2", "SELECT", "SELECT_V2"),
        *("SHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SPLIT", "SPLIT_V", "SQUEEZE"),
        *("STRIDED_SLICE", "SUB", "SUM", "TILE", "TRANSPOSE", "UNPACK"),
    }
)
# Operators that make real numbers of complex ones; they get both parts.
OF_PARTS = frozenset({"COMPLEX_ABS", "IMAG", "REAL"})


def numbers_of(array: Array) -> Array:
    """A constant with the axis of the two numbers."""
    return np.stack([array.real, array.imag], -1).astype(np.float32)


class ComplexParts:
    """Divides and joins tensors. What was joined is not divided again."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._known: dict[Value, tuple[Value, Value]] = {}

    def split(self, value: Value) -> tuple[Value, Value]:
        """The real and the imaginary parts."""
        if value not in self._known:
            last = len(value.shape or ()) - 1
            self._known[value] = self._part(value, last, 0), self._part(value, last, 1)
        return self._known[value]

    def _part(self, value: Value, last: int, index: int) -> Value:
        return self._builder.one(
            "StridedSlice",
            [value],
            None,
            {
                "axes": [last],
                "begins": [index],
                "ends": [index + 1],
                "strides": [1],
                "shrink_axes": [last],
            },
            f"{value.name}/{('real', 'imag')[index]}",
        )

    def join(self, real: Value, imag: Value | None, name: str) -> Value:
        """One tensor of both; without an imaginary part, it is 0."""

        def step(op_type: str, inputs: list[Value], **attrs: Any) -> Value:
            return self._builder.one(op_type, inputs, None, attrs, f"{name}/joined")

        if imag is None:
            # Of NaN and infinity, too.
            below = step("Eltwise", [real, real], mode="LESS")
            imag = step("Cast", [below], to=DataType.FLOAT32.name)
        axis = len(real.shape or ())
        wide = [step("ExpandDims", [part], axes=[axis]) for part in (real, imag)]
        joined = step("Concat", wide, axis=axis)
        self._known[joined] = real, imag
        return joined
