# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Range, whose inputs may be computed from shapes."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node


@HANDLERS.register("Range")
def _range(node: Node) -> None:
    inputs = [node.input(i) for i in range(3)]
    if all(value.is_constant for value in inputs):
        # Folding computes the numbers.
        raise UnsupportedNodeError("the numbers are too many to store them in a model")
    for value, what in zip(inputs, ("start", "limit", "delta")):
        node.require_shape_only(value, what)
    node.emit("Range", inputs)
