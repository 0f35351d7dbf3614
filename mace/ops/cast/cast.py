# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Cast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dims import Dim, at_least
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
)
from mace.python.tools.ir.op_rules.axes import broadcast_axis

_HALVES = {DataType.FLOAT16, DataType.BFLOAT16}


class Cast(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, to = op.input(0), DataType(op.attr("to").lower())
        pair = {x.dtype, to}
        if len(pair) == 2 and pair & _HALVES and DataType.FLOAT32 not in pair:
            raise ValueError(
                f"no conversion from {x.dtype.value} to {to.value}; convert to "
                "float32 first"
            )
        return [OutputType(to, x.shape)]

    def can_exceed(self, op: Op) -> bool:
        return op.input(0).dtype.is_float and op.output.dtype is DataType.INT32

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, to = inputs[0], op.output.dtype
        if x.dtype.kind == "f" and not to.is_float and to is not DataType.BOOL:
            # Values outside the type's range become its nearest value, NaN becomes 0.
            bounds = np.iinfo(to.numpy)
            if op.attr("wide") and to is DataType.INT32 and _exceeds(x):
                raise OverflowError(f"Cast {op.name!r}: a result exceeds 32 bits")
            x = np.clip(np.nan_to_num(np.trunc(x)), bounds.min, bounds.max)
        return [_in_bfloat16(x) if to is DataType.BFLOAT16 else x.astype(to.numpy)]

    def integers(self, op: Op) -> Integers | None:
        numbers = op.input(0).constant
        if numbers is None or op.output.dtype is not DataType.FLOAT32:
            return None
        if numbers.dtype not in (DataType.INT8, DataType.UINT8):
            return None
        one, zero = np.float32(1), np.zeros((), numbers.dtype.numpy)
        scales, zeros = (
            Constant.of(np.broadcast_to(part, numbers.shape)) for part in (one, zero)
        )
        return Integers(numbers, scales, zeros)

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        found = known(op.input(0))
        if found is None or not op.output.dtype.is_float:
            return None
        # Rounding keeps the order of numbers.
        (ends,) = self.evaluate(op, [np.array(found, np.float32)])
        return float(ends[0]), float(ends[1])

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return SunkTranspose(perm)

    def is_identity(self, op: Op) -> bool:
        return op.input(0).dtype is op.output.dtype

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        (x,) = inputs
        if x is None or op.attr("to") not in ("INT32", "BOOL"):
            return None
        if op.attr("to") == "INT32":
            return x + 0 if all(isinstance(v, bool) for v in x.flat) else x

        def is_any(dim: Dim) -> bool | None:
            if isinstance(dim, int):
                return bool(dim)
            return True if at_least(dim, 1) else None

        return np.asarray(np.frompyfunc(is_any, 1, 1)(x), object)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return broadcast_axis(op, axes)


def _exceeds(x: Array) -> bool:
    """Whether a number exceeds 32 bits, but not 64 of them."""
    whole = np.trunc(x.astype(np.float64))
    fits_32 = (whole >= -(2.0**31)) & (whole < 2.0**31)
    fits_64 = (whole >= -(2.0**63)) & (whole < 2.0**63)
    return bool(np.any(fits_64 & ~fits_32))


def _in_bfloat16(x: Array) -> Array:
    """Rounds to nearest even; NumPy lacks bfloat16, so the type stays float32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.asarray(np.where(np.isnan(x), x, rounded.view(np.float32)))
