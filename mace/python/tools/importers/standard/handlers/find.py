# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that find elements; each run counts how many there are."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.counted import Counted
from mace.python.tools.ir.dtypes import DataType

_COMPARED = (DataType.FLOAT32, DataType.INT32)


@HANDLERS.register("NonZero")
def _non_zero(node: Node) -> None:
    _leave_to_folding(node)
    if not node.shape(node.input(0)):
        raise UnsupportedNodeError(f"{node.input(0).name} has no dimensions")
    node.set_output(0, Counts(node).found(node.input(0))[0])


@HANDLERS.register("Compress")
def _compress(node: Node) -> None:
    x, condition = node.input(0), node.input(1)
    axis = 0
    if node.has("axis"):
        axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    else:
        x = node.make("Reshape", [x], {"shape": [-1]})
    if condition.is_constant:
        kept = np.flatnonzero(condition.numpy().reshape(-1))
        chosen = node.literal(kept, DataType.INT32)
    else:
        if len(node.shape(condition)) != 1:
            raise UnsupportedNodeError(f"{condition.name} needs to be a vector")
        places, _ = Counts(node).found(condition)
        chosen = node.make("Squeeze", [places], {"axes": [0]})
    node.emit("Gather", [x, chosen], {"axis": axis})


@HANDLERS.register("Unique")
def _unique(node: Node) -> None:
    _leave_to_folding(node)
    x = node.input(0)
    back: list[int] = []
    if node.has("axis"):
        rank = len(node.shape(x))
        axis = node.axis(node.integer("axis", 0), rank)
        # The others stay in their order, by which slices are sorted.
        perm = [axis, *(other for other in range(rank) if other != axis)]
        back = [perm.index(other) for other in range(rank)]
        rows = node.make("Transpose", [x], {"perm": perm})
    else:
        rows = node.make("Reshape", [x], {"shape": [-1]})
    if x.dtype not in _COMPARED:
        rows = node.make("Cast", [rows], {"to": "INT32"})
    attrs = {"sorted": node.flag("sorted", True)}
    values, indices, inverse, counts, count = node.make_all("Unique", [rows], attrs, 5)
    for value in (values, indices, counts):
        node.builder.counted.add(value, Counted(count, 0))
    if x.dtype not in _COMPARED:
        values = node.make("Cast", [values], {"to": x.dtype.value.upper()})
    if back:
        values = node.make("Transpose", [values], {"perm": back})
    for index, value in enumerate((values, indices, inverse, counts)):
        node.set_output(index, value)


def _leave_to_folding(node: Node) -> None:
    """Of an input that is known now, the converter computes the result."""
    value = node.input(0)
    if value.is_constant:
        raise UnsupportedNodeError(f"{value.name} is too large to search it now")
