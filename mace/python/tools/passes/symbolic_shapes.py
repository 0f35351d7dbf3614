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

from mace.python.tools.ir import Dim, Graph, Op
from mace.python.tools.ir.infer import update_outputs
from mace.python.tools.ir.op_rules.reshapes import reshape_attribute
from mace.python.tools.passes.base import Pass


class SymbolicShapes(Pass):
    """Converts a Reshape by a computed shape to a Reshape by an attribute."""

    name = "symbolic_shapes"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(op) for op in graph.ops)


def _rewrite(op: Op) -> bool:
    shape = op.get_input(1) if op.type == "Reshape" else None
    source = op.input(0).shape
    if shape is None or shape.dims is None or source is None:
        return False
    wanted = _attribute(source, list(shape.dims), op.attr("allow_zero"))
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
