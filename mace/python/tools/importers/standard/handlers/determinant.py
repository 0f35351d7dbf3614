# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Determinants and inverses of matrices."""

from __future__ import annotations

from mace.python.tools.importers.standard.elimination import inverse
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.operators import Operators


@HANDLERS.register("Det")
def _det(node: Node) -> None:
    node.emit("Determinant", [node.input(0)])


@HANDLERS.register("com.microsoft.Inverse")
def _inverse(node: Node) -> None:
    operators = Operators(node.builder, node.label)
    node.set_output(0, inverse(operators, node.input(0)))
