# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Different elements and chosen ones; ones at largest elements and on diagonals."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.handlers.matmul import FARTHEST
from mace.python.tools.importers.standard.handlers.select import leave_to_folding
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_COMPARED = (DataType.FLOAT32, DataType.INT32)


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
        k = int(np.clip(node.integer("k", 0), -FARTHEST, FARTHEST))
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
    flat = node.reshape(x, [math.prod(shape[:axis]), rest])
    result = node.make("OneHot", *_largest(node, flat, 1, rest))
    node.emit("Reshape", [result], {"shape": list(shape)})


def _largest(
    node: Node, x: Value, axis: int, length: int
) -> tuple[list[Value], dict[str, int]]:
    """Inputs and attributes of OneHot."""
    index = node.make("ArgMax", [x], {"axis": axis})
    index = node.squeeze(index, [axis])
    return [index, node.literal([0.0, 1.0])], {"depth": length, "axis": axis}


@HANDLERS.register("Compress")
def _compress(node: Node) -> None:
    x, condition = node.input(0), node.input(1)
    axis = 0
    if node.has("axis"):
        axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    else:
        x = node.reshape(x, [-1])
    if condition.is_constant:
        kept = np.flatnonzero(condition.numpy().reshape(-1))
        chosen = node.literal(kept, DataType.INT32)
    else:
        if len(node.shape(condition)) != 1:
            raise UnsupportedNodeError(f"{condition.name} needs to be a vector")
        places, _ = Counts(node).found(condition)
        chosen = node.squeeze(places, [0])
    node.emit("Gather", [x, chosen], {"axis": axis})


@HANDLERS.register("Unique")
def _unique(node: Node) -> None:
    leave_to_folding(node)
    x = node.input(0)
    back: list[int] = []
    if node.has("axis"):
        rank = len(node.shape(x))
        axis = node.axis(node.integer("axis", 0), rank)
        # The others stay in their order, by which slices are sorted.
        perm = [axis, *(other for other in range(rank) if other != axis)]
        back = [perm.index(other) for other in range(rank)]
        rows = node.transpose(x, perm)
    else:
        rows = node.reshape(x, [-1])
    if x.dtype not in _COMPARED:
        rows = node.cast(rows, DataType.INT32)
    attrs = {"sorted": node.flag("sorted", True)}
    values, indices, inverse, counts, count = node.make_all("Unique", [rows], attrs, 5)
    for value in (values, indices, counts):
        node.builder.counted.add(value, Counted(count, 0))
    if x.dtype not in _COMPARED:
        values = node.cast(values, x.dtype)
    if back:
        values = node.transpose(values, back)
    for index, value in enumerate((values, indices, inverse, counts)):
        node.set_output(index, value)


@HANDLERS.register("ai.onnx.ml.ArrayFeatureExtractor")
def _array_features(node: Node) -> None:
    x, places = node.input(0), node.input(1)
    places = node.reshape(places, [-1])
    rank = len(node.shape(x))
    if rank == 1:
        x = node.expand_dims(x, [0])
    node.emit("Gather", [x, places], {"axis": max(rank, 2) - 1})
