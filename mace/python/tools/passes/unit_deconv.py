# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns a transposed convolution of stride 1 into a convolution.

The convolution has the filter rotated by 180 degrees and more padding. It can then
use everything that convolutions support: Winograd's method, 16-bit arithmetic, a
residual input.
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.passes.base import Pass


class UnitDeconv(Pass):
    """Converts Deconv2D of stride 1 to Conv2D."""

    name = "unit_deconv"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type == "Deconv2D" and tuple(op.attr("strides")) == (1, 1):
                count += _rewrite(graph, op)
        return count


def _rewrite(graph: Graph, op: Op) -> bool:
    constant = op.input(1).constant
    assert constant is not None
    cut, added = op.attr("pads"), op.attr("output_padding")
    reach = [
        (size - 1) * dilation
        for size, dilation in zip(constant.shape[1:3], op.attr("dilations"))
    ]
    pads = [reach[i % 2] - cut[i] for i in range(4)]
    pads[2] += added[0]
    pads[3] += added[1]
    if min(pads) < 0:  # outputs would begin inside the image
        return False
    gone = ("pads", "output_padding")
    attrs = {name: value for name, value in op.attrs.items() if name not in gone}
    attrs.update(padding="EXPLICIT", pads=tuple(pads))
    turned = graph.add_constant(
        f"{op.input(1).name}/turned", constant.moved(lambda w: w[:, ::-1, ::-1])
    )
    graph.replace_op(op, "Conv2D", [op.input(0), turned, op.get_input(2)], attrs)
    return True
