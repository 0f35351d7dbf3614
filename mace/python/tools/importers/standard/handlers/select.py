# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that select elements by positions or order."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.ir.dtypes import DataType

_BYTES = (DataType.INT8, DataType.UINT8)


@HANDLERS.register("TopK")
def _top_k(node: Node) -> None:
    x = node.input(0)
    inputs = []
    if node.opset < 10:
        k = node.integer("k", 0)
    elif node.input(1).is_constant:
        given = node.constant_ints(1, "k")
        if len(given) != 1:
            raise UnsupportedNodeError(f"k has {len(given)} elements, not 1")
        (k,) = given
    else:
        node.require_shape_only(node.input(1), "k")
        k = 0
        inputs.append(node.input(1))
    # If `sorted` is 0, any order is allowed.
    attrs = {
        "k": k,
        "axis": node.axis(node.integer("axis", -1), len(node.shape(x))),
        "largest": node.flag("largest", True),
    }
    if x.dtype not in _BYTES:
        node.emit("TopK", [x, *inputs], attrs)
        return
    wide = node.make("Cast", [x], {"to": "INT32"})
    values, indices = node.make_all("TopK", [wide, *inputs], attrs, 2)
    node.set_output(0, node.make("Cast", [values], {"to": x.dtype.value.upper()}))
    node.set_output(1, indices)


@HANDLERS.register("GatherND")
def _gather_nd(node: Node) -> None:
    attrs = {"batch_dims": node.integer("batch_dims", 0)}
    node.emit("GatherNd", [node.input(0), node.input(1)], attrs)


@HANDLERS.register("ReverseSequence")
def _reverse_sequence(node: Node) -> None:
    x, lengths = node.input(0), node.input(1)
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    shape = node.shape(x)
    if sorted((time, batch)) != [0, 1] or len(shape) < 2:
        raise UnsupportedNodeError(
            f"time_axis is {time}, batch_axis {batch}; one needs to be 0, the other 1"
        )
    steps = shape[time]
    if not isinstance(steps, int):
        raise UnsupportedNodeError(
            f"the number of time steps of {x.name} is not known before the run",
            STATIC_HINT,
        )
    # Element i < n of a sequence comes from n - 1 - i, the others stay.
    place = node.literal(np.arange(steps)[None, :], DataType.INT32)
    count = node.make("ExpandDims", [lengths], {"axes": [1]})
    last = node.make("Eltwise", [count, node.scalar(1, count)], {"mode": "SUB"})
    mirrored = node.make("Eltwise", [last, place], {"mode": "SUB"})
    inside = node.make("Eltwise", [place, count], {"mode": "LESS"})
    source = node.make("Where", [inside, mirrored, place])
    source = node.make("ExpandDims", [source], {"axes": [2]})
    attrs = {"batch_dims": 1}
    if batch == 0:
        node.emit("GatherNd", [x, source], attrs)
        return
    swapped = {"perm": [1, 0, *range(2, len(shape))]}
    turned = node.make("Transpose", [x], swapped)
    reversed_ = node.make("GatherNd", [turned, source], attrs)
    node.emit("Transpose", [reversed_], swapped)
