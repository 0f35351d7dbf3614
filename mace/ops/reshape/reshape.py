# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Reshape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.axes import of_first
from mace.python.tools.ir.op_rules.movement import (
    ReshapeRules,
    reshape_attribute,
    reshape_before_transpose,
    reshaped,
)
from mace.python.tools.ir.shapes import format_shape, permute, static, to_ints


class Reshape(ReshapeRules):
    def infer(self, op: Op) -> list[OutputType]:
        x, shape_value = op.input(0), op.get_input(1)
        if shape_value is not None:
            if op.attr("shape"):
                raise ValueError("has both an input and an attribute shape")
            if shape_value.rank not in (None, 1):
                found = format_shape(shape_value.shape)
                raise ValueError(f"the input shape is {found}, not of one dimension")
        if shape_value is None:
            wanted = op.attr("shape")
        elif shape_value.is_constant:
            wanted = shape_value.numpy().reshape(-1).tolist()
        elif shape_value.dims is not None and None not in shape_value.dims:
            wanted = list(shape_value.dims)
        else:
            rank = shape_value.shape[0] if shape_value.shape else None
            known = isinstance(rank, int)
            return [OutputType(x.dtype, (None,) * int(rank or 0) if known else None)]
        return [OutputType(x.dtype, reshaped(x.shape, wanted, op.attr("allow_zero")))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = inputs[0]
        wanted = inputs[1].tolist() if len(inputs) > 1 else op.attr("shape")
        shape = reshaped(x.shape, wanted, op.attr("allow_zero"))
        return [x.reshape(to_ints(shape))]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        turned, target = op.input(0).shape, op.output.shape
        if turned is None or target is None or op.get_input(1) is not None:
            return None
        source = permute(turned, tuple(perm.index(axis) for axis in range(len(perm))))
        found = reshape_before_transpose(source, perm, target)
        if found is None:
            return None
        made, output_perm = found
        shape = reshape_attribute(source, made)
        if shape is None:
            return None
        return SunkTranspose(output_perm, {"shape": shape, "allow_zero": False})

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        return super().symbolic(op, inputs) if len(inputs) == 1 else None

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """The only axis with as many elements before and behind."""
        axis = of_first(axes)
        before, after = static(op.input(0).shape), static(op.output.shape)
        if axis is None or before is None or after is None or 0 in before:
            return None
        outer, inner = math.prod(before[:axis]), math.prod(before[axis + 1 :])
        places = [
            place
            for place, length in enumerate(after)
            if length == before[axis]
            and math.prod(after[:place]) == outer
            and math.prod(after[place + 1 :]) == inner
        ]
        return places[0] if len(places) == 1 else None
