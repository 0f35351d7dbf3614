# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""GatherElements."""

from __future__ import annotations

from mace.python.tools.importers.standard.node import HANDLERS, Node


@HANDLERS.register("GatherElements")
def _gather_elements(node: Node) -> None:
    attributes = {"axis": node.integer("axis", 0)}
    node.emit("GatherElements", [node.input(0), node.input(1)], attributes)
