# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns a depthwise convolution with several outputs for each channel, which is to
compute in integers, into a Conv2D.

Quantized weights have a scale for each output. Those of DepthwiseConv2d then have no
axis of outputs: [height, width, channels, multiplier]. Those of Conv2D with as many
groups as channels have one: [outputs, height, width, 1].
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.quantized_ops import has_limits
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.lookup_tables import BYTES, integers_behind
from mace.python.tools.passes.match import only_reader


class GroupedDepthwise(Pass):
    """DepthwiseConv2d between Dequantize and Quantize to Conv2D."""

    name = "grouped_depthwise"
    requires = ("extend_quantization",)
    last = True

    def run(self, graph: Graph) -> int:
        found = [op for op in graph.ops if _is_quantized_with_several(graph, op)]
        for op in found:
            _rewrite(graph, op)
        return len(found)


def _is_quantized_with_several(graph: Graph, op: Op) -> bool:
    if op.type != "DepthwiseConv2d" or not has_limits(op):
        return False
    constant = op.input(1).constant
    if constant is None or constant.integers is None or constant.shape[3] == 1:
        return False
    source = integers_behind(op.input(0))
    reader = only_reader(graph, op.output)
    return (
        source is not None
        and source.dtype in BYTES
        and reader is not None
        and reader.type == "Quantize"
    )


def _rewrite(graph: Graph, op: Op) -> None:
    constant = op.input(1).constant
    assert constant is not None
    kh, kw, channels, multiplier = constant.shape
    shape = (channels * multiplier, kh, kw, 1)
    # The output channel is c * M + m in both operators.
    moved = constant.moved(
        lambda w: w.transpose(2, 3, 0, 1).reshape(shape),
        shape,
    )
    value = graph.add_constant(f"{op.input(1).name}/grouped", moved)
    attrs = {**op.attrs, "groups": channels}
    graph.replace_op(op, "Conv2D", [op.input(0), value, *op.inputs[2:]], attrs)
