# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""CumSum and CumProd."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.ir.graph import Value


@HANDLERS.register("CumSum")
def _cum_sum(node: Node) -> None:
    attributes = {
        "axis": _axis(node),
        "exclusive": node.flag("exclusive", False),
        "reverse": node.flag("reverse", False),
    }
    node.emit("CumSum", [node.input(0)], attributes)


@HANDLERS.register("CumProd")
def _cum_prod(node: Node) -> None:
    """After step k, each element is the product of the last 2^k elements."""
    x = node.input(0)
    rank = len(node.shape(x))
    axis = node.axis(_axis(node), rank)
    length = node.shape(x)[axis]
    if not isinstance(length, int):
        raise UnsupportedNodeError(
            f"the length of axis {axis} is not known before the run", STATIC_HINT
        )
    if node.flag("exclusive", False):
        x = _shifted(node, x, axis, min(1, length), length)
    step = 1
    while step < length:
        other = _shifted(node, x, axis, step, length)
        x = node.make("Eltwise", [x, other], {"mode": "MUL"})
        step *= 2
    node.set_output(0, x)


def _shifted(node: Node, x: Value, axis: int, step: int, length: int) -> Value:
    """Moves elements `step` places on; ones come in."""
    pads = [0] * (2 * len(node.shape(x)))
    if node.flag("reverse", False):
        begin, end = step, length
        pads[2 * axis + 1] = step
    else:
        begin, end = 0, length - step
        pads[2 * axis] = step
    cut = {"axes": [axis], "begins": [begin], "ends": [end], "strides": [1]}
    rest = node.make("StridedSlice", [x], cut)
    return node.make("Pad", [rest], {"pads": pads, "value": 1.0})


def _axis(node: Node) -> int:
    axis = node.constant_ints(1, "axis")
    if len(axis) != 1:
        raise UnsupportedNodeError(f"axis has {len(axis)} elements, not 1")
    return axis[0]
