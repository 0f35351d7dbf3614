# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns shapes computed at run time into attributes.

A network for any batch size flattens by a chain like

    Shape > StridedSlice > Stack [n, 1024] > Reshape

whose result is known except for n, which is a dimension of the input. Evaluated
symbolically, the target is [n, 1024], and Reshape can copy or infer n. The chain
then has no reader and is removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

import numpy as np

from mace.python.tools.ir import Dim, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.infer import update_outputs
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.movement import symbols
from mace.python.tools.ir.op_rules.reshapes import reshape_attribute
from mace.python.tools.passes.base import Pass

# Shapes are short; a longer integer tensor contains data.
_LONGEST = 64


class SymbolicShapes(Pass):
    """Converts a Reshape by a computed shape to a Reshape by an attribute."""

    name = "symbolic_shapes"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        known: dict[Value, Array] = {}
        count = 0
        for op in graph.ops:
            if op.type == "Reshape" and op.get_input(1) is not None:
                count += _rewrite(op, known)
            _follow(op, known)
        return count


def _rewrite(op: Op, known: Mapping[Value, Array]) -> bool:
    target = _elements(op.input(1), known)
    source = op.input(0).shape
    if target is None or source is None:
        return False
    dims = list(target.reshape(-1))
    wanted = _attribute(source, dims, op.attr("allow_zero"))
    if wanted is None:
        return False
    op.set_attr("shape", wanted)
    op.set_attr("allow_zero", False)
    op.set_input(1, None)
    update_outputs(op)
    return True


def _attribute(
    source: tuple[Dim, ...], dims: list[Dim], allow_zero: bool
) -> tuple[int, ...] | None:
    if None in dims:
        return None
    if -1 not in dims:
        if 0 in dims:
            return None
        return reshape_attribute(source, dims)
    # If one dimension is inferred, the others must be numbers or copies.
    wanted: list[int] = []
    for axis, dim in enumerate(dims):
        if isinstance(dim, int):
            if dim == 0 and allow_zero:
                return None
            wanted.append(dim)
        elif axis < len(source) and source[axis] == dim:
            wanted.append(0)
        else:
            return None
    return tuple(wanted)


def _follow(op: Op, known: dict[Value, Array]) -> None:
    """Adds the elements of the output if they follow from shapes."""
    if len(op.outputs) != 1:
        return
    elements = [_elements(value, known) for value in op.inputs]
    # If it depended only on constants, it would have been folded.
    if any(array is not None for array in elements) and not any(
        value in known for value in op.inputs
    ):
        return
    result = rules_of(op.type).symbolic(op, elements)
    if result is not None:
        known[op.output] = result


def _elements(value: Optional[Value], known: Mapping[Value, Array]) -> Array | None:
    if value is None:
        return None
    if value in known:
        return known[value]
    if value.constant is None or value.constant.size > _LONGEST:
        return None
    array = value.numpy()
    return np.asarray(symbols(array.reshape(-1).tolist()).reshape(array.shape))
