# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Folds the transpose before a flattened fully connected layer into weights.

    Transpose > Reshape [N, K] > FullyConnected

A channels-first framework flattens the elements in an order other than that of
NHWC. Reordering the columns of the weights costs nothing at run time.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.shapes import same_dim, static
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader, producer


class FoldFlatten(Pass):
    """Transpose, flatten, FullyConnected without the Transpose."""

    name = "fold_flatten"
    requires = ("matmul_to_fully_connected", "sink_transposes")

    def run(self, graph: Graph) -> int:
        return sum(
            _rewrite(graph, op) for op in graph.ops if op.type == "FullyConnected"
        )


def _rewrite(graph: Graph, op: Op) -> bool:
    flatten = producer(op.input(0), "Reshape")
    turn = producer(flatten.input(0), "Transpose") if flatten else None
    if flatten is None or turn is None:
        return False
    if only_reader(graph, flatten.output) is not op:
        return False
    shape, flat = turn.output.shape, flatten.output.shape
    perm, constant = turn.attr("perm"), op.input(1).constant
    if shape is None or flat is None or constant is None or len(flat) != 2:
        return False
    inner, flat_size = static(shape[1:]), flat[1]
    if inner is None or perm[0] != 0 or not same_dim(shape[0], flat[0]):
        return False
    # The columns are in the order of axes 1.. of the transposed tensor; back[i] is the
    # position of axis i + 1 of the original tensor.
    back = np.argsort(perm[1:])
    order = (0, *(int(axis) + 1 for axis in back))
    outs = constant.shape[0]
    moved = constant.moved(
        lambda w: w.reshape(outs, *inner).transpose(order).reshape(outs, -1)
    )
    op.set_input(1, graph.add_constant(f"{op.input(1).name}/nhwc", moved))
    name = graph.unique_name(f"{flatten.output.name}/nhwc")
    flattened = graph.add_value(name, flatten.output.dtype, flat)
    moved_axes = [axis for axis in perm[1:] if shape[perm.index(axis)] != 1]
    if moved_axes == sorted(moved_axes):
        # No element moves, so it still has the values of the framework's tensor.
        flattened.take_source(flatten.output)
    graph.add_op(
        # 0 copies the batch, even if it is known only at run time.
        "Reshape",
        [turn.input(0)],
        [flattened],
        {"shape": [0, flat_size]},
        name,
    )
    op.set_input(0, flattened)
    return True
