# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements selected by a condition or an index."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node


@HANDLERS.register("Where")
def _where(node: Node) -> None:
    node.emit("Where", [node.input(i) for i in range(3)])


@HANDLERS.register("OneHot")
def _one_hot(node: Node) -> None:
    indices = node.input(0)
    depth = node.constant(1, "the depth").reshape(-1)
    if depth.size != 1:
        raise UnsupportedNodeError(f"the depth has {depth.size} elements, not 1")
    if indices.dtype.is_float:
        indices = node.make("Cast", [indices], {"to": "INT32"})
    attrs = {"depth": int(depth[0]), "axis": node.integer("axis", -1), "wrap": True}
    node.emit("OneHot", [indices, node.input(2)], attrs)
