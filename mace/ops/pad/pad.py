# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Pad."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import add
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
    hull,
)
from mace.python.tools.ir.op_rules.axes import of_first
from mace.python.tools.ir.shapes import Dim


class Pad(OpRules):
    joins_elements = True

    def infer(self, op: Op) -> list[OutputType]:
        x, pads = op.input(0), op.attr("pads")
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * (len(pads) // 2))]
        if len(pads) != 2 * len(x.shape):
            raise ValueError(f"{len(pads)} pads for {len(x.shape)} dimensions")
        for axis, dim in enumerate(x.shape):
            _check_source(op.attr("mode"), dim, max(pads[2 * axis : 2 * axis + 2]))
        added = [pads[2 * i] + pads[2 * i + 1] for i in range(len(x.shape))]
        return [OutputType(x.dtype, tuple(map(add, x.shape, added)))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        widths = np.reshape(np.array(op.attr("pads"), np.int64), (-1, 2))
        x, mode = inputs[0], op.attr("mode")
        if not len(widths):
            return [x]  # a scalar has no axes
        if mode == "CONSTANT":
            value = op.attr("value")
            if x.dtype.kind in "iu":
                bounds = np.iinfo(x.dtype)
                value = int(np.clip(value, bounds.min, bounds.max))
            return [np.pad(x, widths, constant_values=value)]
        # The other modes have the same names in NumPy.
        return [np.pad(x, widths, mode=mode.lower())]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        x = known(op.input(0))
        if op.attr("mode") != "CONSTANT":
            return x
        value = float(op.attr("value"))
        return hull((x, (value, value)))

    def integer_attrs(
        self, op: Op, integers: Callable[[Array], Array]
    ) -> Mapping[str, Any]:
        if op.attr("mode") != "CONSTANT":
            return {}
        return {"value": float(integers(np.float32(op.attr("value"))))}

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        old = op.attr("pads")
        pads = [0] * len(old)
        for axis, source in enumerate(perm):
            pads[2 * source : 2 * source + 2] = old[2 * axis : 2 * axis + 2]
        return SunkTranspose(perm, {"pads": pads})

    def is_identity(self, op: Op) -> bool:
        return not any(op.attr("pads"))

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        axis = of_first(axes)
        if axis is None:
            return None
        return axis if not any(op.attr("pads")[2 * axis : 2 * axis + 2]) else None


def _check_source(mode: str, dim: Dim, pad: int) -> None:
    """Checks that the elements to be repeated exist."""
    if mode == "CONSTANT" or not isinstance(dim, int) or pad == 0:
        return
    if mode == "EDGE" and dim == 0:
        raise ValueError("an axis of length 0 has no edge")
    most = dim - 1 if mode == "REFLECT" else dim
    if mode != "EDGE" and pad > most:
        raise ValueError(f"mode {mode} pads a length of {dim} by at most {most}")
