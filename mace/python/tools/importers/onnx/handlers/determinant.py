# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Det."""

from __future__ import annotations

from mace.python.tools.importers.onnx.node import HANDLERS, Node


@HANDLERS.register("Det")
def _det(node: Node) -> None:
    node.emit("Determinant", [node.input(0)])
