# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recognises the channel shuffle of ShuffleNet.

Reshape [N, g, C/g, H, W] > Transpose 0 2 1 3 4 > Reshape [N, C, H, W]
Reshape [N, H, W, g, C/g] > Transpose 0 1 2 4 3 > Reshape [N, H, W, C]
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader, producer


class ChannelShuffle(Pass):
    """Reshape, Transpose, Reshape to ChannelShuffle."""

    name = "channel_shuffle"
    requires = ("fold_constants", "merge_roundings")

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op in graph and op.type == "Reshape":
                count += _rewrite(graph, op)
        return count


def _rewrite(graph: Graph, last: Op) -> bool:
    turn = producer(last.input(0), "Transpose")
    first = producer(turn.input(0), "Reshape") if turn else None
    if turn is None or first is None:
        return False
    inner = (turn.output, first.output)
    if any(only_reader(graph, value) is None for value in inner):
        return False
    x, middle = first.input(0), first.output.shape
    if x.rank != 4 or middle is None or not same_shape(x.shape, last.output.shape):
        return False
    assert x.shape is not None
    perm = turn.attr("perm")
    if perm == (0, 2, 1, 3, 4):
        groups, data_format = middle[1], "NCHW"
        kept = (middle[0], *middle[3:]), (x.shape[0], *x.shape[2:])
    elif perm == (0, 1, 2, 4, 3):
        groups, data_format = middle[3], "NHWC"
        kept = middle[:3], x.shape[:3]
    else:
        return False
    if not isinstance(groups, int) or not same_shape(*kept):
        return False
    attrs = {"groups": groups, "data_format": data_format}
    graph.replace_op(last, "ChannelShuffle", [x], attrs)
    return True
