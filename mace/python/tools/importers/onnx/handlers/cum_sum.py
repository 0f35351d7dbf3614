# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""CumSum."""

from __future__ import annotations

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.node import HANDLERS, Node


@HANDLERS.register("CumSum")
def _cum_sum(node: Node) -> None:
    axis = node.constant_ints(1, "axis")
    if len(axis) != 1:
        raise UnsupportedNodeError(f"axis has {len(axis)} elements, not 1")
    attributes = {
        "axis": axis[0],
        "exclusive": node.flag("exclusive", False),
        "reverse": node.flag("reverse", False),
    }
    node.emit("CumSum", [node.input(0)], attributes)
