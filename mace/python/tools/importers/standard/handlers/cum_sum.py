# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""CumSum and CumProd."""

from __future__ import annotations

from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node


@HANDLERS.register("CumSum")
def _cum_sum(node: Node) -> None:
    node.emit("CumSum", [node.input(0)], _way(node))


@HANDLERS.register("CumProd")
def _cum_prod(node: Node) -> None:
    node.emit("Cumulate", [node.input(0)], {"mode": "PROD", **_way(node)})


def _way(node: Node) -> dict[str, Any]:
    return {
        "axis": _axis(node),
        "exclusive": node.flag("exclusive", False),
        "reverse": node.flag("reverse", False),
    }


def _axis(node: Node) -> int:
    axis = node.constant_ints(1, "axis")
    if len(axis) != 1:
        raise UnsupportedNodeError(f"axis has {len(axis)} elements, not 1")
    return axis[0]
