# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns pooling over the whole image into a Reduce."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.op_rules.windows import window_axes
from mace.python.tools.passes.base import Pass


class GlobalPooling(Pass):
    """Pooling with one window per channel to Reduce MEAN or MAX."""

    name = "global_pooling"
    requires = ("fold_pad",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type == "Pooling" and _covers_all(op):
                mode = "MEAN" if op.attr("mode") == "AVG" else "MAX"
                attrs = {"mode": mode, "axes": [1, 2], "keep_dims": True}
                graph.replace_op(op, "Reduce", [op.input(0)], attrs)
                count += 1
        return count


def _covers_all(op: Op) -> bool:
    x, y = op.input(0).shape, op.output.shape
    if x is None or y is None or y[1:3] != (1, 1) or op.attr("dilations") != (1, 1):
        return False
    axes = window_axes(op, op.attr("kernels"), x[1:3])
    for axis, size in zip(axes, x[1:3]):
        if axis is None or not isinstance(size, int):
            return False
        if axis.extent < axis.before + size:
            return False
        # If padding is counted, the mean is smaller.
        if op.attr("count_include_pad") and axis.before + axis.after:
            return False
    return True
