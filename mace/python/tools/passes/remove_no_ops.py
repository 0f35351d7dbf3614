# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Removes operators whose output is their input."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.shapes import is_static, same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import has_activation


class RemoveNoOps(Pass):
    """Identity (dropout and the like), reshape to the same shape, ..."""

    name = "remove_no_ops"
    provides = ("no_identities",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if not op.outputs or op.get_input(0) is None:
                continue
            if does_nothing(op) and graph.bypass(op):
                count += 1
        return count


def does_nothing(op: Op) -> bool:
    """Whether the only output equals the first input in every run."""
    if len(op.outputs) != 1:
        return False
    x, y = op.input(0), op.output
    if op.type == "Identity":
        return True
    if op.type == "Activation":
        return not has_activation(op)
    if op.type == "Cast":
        return x.dtype is y.dtype
    if op.type in ("Concat",):
        return len(op.inputs) == 1
    if op.type == "Transpose":
        return bool(op.attr("perm") == tuple(range(len(op.attr("perm")))))
    if op.type in ("Reshape", "Squeeze", "ExpandDims"):
        return same_shape(x.shape, y.shape)
    if op.type == "Pad":
        return not any(op.attr("pads"))
    if op.type == "StridedSlice":
        return _keeps_all(op, x, y)
    if op.type == "Pooling":
        return _is_unit_pooling(op)
    return False


def _keeps_all(op: Op, x: Value, y: Value) -> bool:
    # Any stride but 1 that keeps the length reverses the axis.
    forward = all(stride == 1 for stride in op.attr("strides"))
    return forward and is_static(x.shape) and same_shape(x.shape, y.shape)


def _is_unit_pooling(op: Op) -> bool:
    unit = op.attr("kernels") == (1, 1) and op.attr("strides") == (1, 1)
    return unit and not (op.attr("padding") == "EXPLICIT" and any(op.attr("pads")))
