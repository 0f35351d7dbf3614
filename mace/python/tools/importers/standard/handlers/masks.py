# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that choose elements by their position or as the largest one: Trilu,
EyeLike and Hardmax.
"""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.element_types import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# No axis is longer.
_FARTHEST = 2**30


@HANDLERS.register("Trilu")
def _trilu(node: Node) -> None:
    x = node.input(0)
    dims = node.shape(x)
    if len(dims) < 2:
        raise UnsupportedNodeError(f"the input has {len(dims)} dimensions, not 2")
    diagonal = node.constant(1, "k").reshape(-1) if node.has_input(1) else np.zeros(1)
    if diagonal.size != 1:
        raise UnsupportedNodeError(f"k has {diagonal.size} elements, not 1")
    # Far beyond the corners, every k is the same, and no sum overflows.
    rows, columns = dims[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        k = int(np.clip(diagonal[0], -_FARTHEST, _FARTHEST))
        whole = NodeLengths(node).triangle(x, k, node.flag("upper", True))
        node.set_output(0, whole)
        return
    k = int(np.clip(diagonal[0], -rows, columns))
    check_made(rows, columns)
    triangle = np.tri(rows, columns, k - 1 if node.flag("upper", True) else k, bool)
    kept = ~triangle if node.flag("upper", True) else triangle
    mask = node.literal(kept, DataType.BOOL)
    node.emit("Where", [mask, x, node.scalar(0, x)])


@HANDLERS.register("EyeLike")
def _eye_like(node: Node) -> None:
    x = node.input(0)
    shape = node.shape(x)
    if len(shape) != 2:
        raise UnsupportedNodeError(f"the input has {len(shape)} dimensions, not 2")
    dtype: DataType | None = x.dtype
    if node.has("dtype"):
        kind = node.integer("dtype", 0)
        dtype = ELEMENT_TYPES.get(kind)
        if dtype is None:
            raise UnsupportedNodeError(f"dtype is {element_type_name(kind)}")
    assert dtype is not None
    rows, columns = shape
    if not isinstance(rows, int) or not isinstance(columns, int):
        k = int(np.clip(node.integer("k", 0), -_FARTHEST, _FARTHEST))
        on = NodeLengths(node).diagonal(x, k)
        node.emit("Cast", [on], {"to": dtype.narrowed.value.upper()})
        return
    check_made(rows, columns)
    k = int(np.clip(node.integer("k", 0), -rows, columns))
    node.set_output(0, node.literal(np.eye(rows, columns, k), dtype.narrowed))


@HANDLERS.register("Hardmax")
def _hardmax(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    if node.opset >= 13:
        axis = node.axis(node.integer("axis", -1), rank)
        node.emit("OneHot", *_largest(node, x, axis, node.static_shape(x)[axis]))
        return
    # All dimensions from the axis on are one.
    shape = node.static_shape(x)
    axis = node.axis(node.integer("axis", 1), rank)
    rest = math.prod(shape[axis:])
    flat = node.make("Reshape", [x], {"shape": [math.prod(shape[:axis]), rest]})
    result = node.make("OneHot", *_largest(node, flat, 1, rest))
    node.emit("Reshape", [result], {"shape": list(shape)})


def _largest(
    node: Node, x: Value, axis: int, length: int
) -> tuple[list[Value], dict[str, int]]:
    """Inputs and attributes of OneHot."""
    index = node.make("ArgMax", [x], {"axis": axis})
    index = node.make("Squeeze", [index], {"axes": [axis]})
    return [index, node.literal([0.0, 1.0])], {"depth": length, "axis": axis}
