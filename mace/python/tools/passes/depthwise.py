# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns a convolution with one input channel per group into a depthwise one."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass

_DEPTHWISE = {"Conv2D": "DepthwiseConv2d", "Deconv2D": "DepthwiseDeconv2d"}


class Depthwise(Pass):
    """Conv2D and Deconv2D with groups = input channels to the depthwise one."""

    name = "depthwise"
    requires = ("unit_deconv",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type not in _DEPTHWISE or op.attr("groups") == 1:
                continue
            constant = op.input(1).constant
            # A depthwise convolution has no residual input.
            if constant is None or constant.shape[3] != 1 or op.get_input(3):
                continue
            _rewrite(graph, op)
            count += 1
        return count


def _rewrite(graph: Graph, op: Op) -> None:
    constant = op.input(1).constant
    assert constant is not None
    out, kh, kw, _ = constant.shape
    channels = op.attr("groups")
    # The output channel is o = c * M + m in both operators, so the first axis of [O,
    # KH, KW, 1] only has to be moved to the end and split.
    shape = (kh, kw, channels, out // channels)
    moved = constant.moved(lambda w: w[..., 0].transpose(1, 2, 0).reshape(shape), shape)
    attrs = {name: value for name, value in op.attrs.items() if name != "groups"}
    value = graph.add_constant(f"{op.input(1).name}/depthwise", moved)
    graph.replace_op(
        op, _DEPTHWISE[op.type], [op.input(0), value, op.get_input(2)], attrs
    )
