# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Range, whose inputs may be computed from shapes."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.node import HANDLERS, Node


@HANDLERS.register("Range")
def _range(node: Node) -> None:
    inputs, lengths = [node.input(i) for i in range(3)], Counts(node)
    limit = lengths.one_count(inputs[1])
    if limit is not None and [lengths.numbers(x) for x in inputs[::2]] == [[0], [1]]:
        node.set_output(0, lengths.positions(limit[2]))
        return
    if all(value.is_constant for value in inputs):
        # Folding computes the numbers.
        raise UnsupportedNodeError("the numbers are too many to store them in a model")
    for value, what in zip(inputs, ("start", "limit", "delta")):
        node.require_shape_only(value, what)
    node.emit("Range", inputs)
