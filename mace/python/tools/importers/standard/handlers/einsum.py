# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Einsum."""

from __future__ import annotations

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.standard.node import HANDLERS, Node


@HANDLERS.register("Einsum")
def _einsum(node: Node) -> None:
    values = [node.input(index) for index in range(len(node.inputs))]
    node.set_output(0, einsum(node.make, node.text("equation", ""), values))
