# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Folds batch normalisation, bias and scale into the operator before them.

`conv(x) * s + o` is a convolution with filter `w * s` and bias `b * s + o`.
Chains (Inception's normalisation, multiplication, addition) fold one by one;
without a convolution before them they become a single BatchNorm.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op, multiplied, scaled
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.passes.affine import Affine, affine_of
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import has_activation, only_reader

_DEPTHWISE = frozenset({"DepthwiseConv2d", "DepthwiseDeconv2d"})
_WITH_FILTER = _DEPTHWISE | {"Conv2D", "Deconv2D", "FullyConnected"}


class FoldAffine(Pass):
    """Folds affine operators into convolution, FullyConnected or BatchNorm."""

    name = "fold_affine"
    requires = (
        "depthwise",
        "fold_flatten",
        "recognise_activations",
        "recognise_layer_norm",
    )

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op not in graph:
                continue
            affine = affine_of(op)
            before = affine.source.producer if affine else None
            if affine is None or before is None:
                continue
            if only_reader(graph, affine.source) is op:
                count += _fold(graph, before, op, affine)
        return count


def _fold(graph: Graph, before: Op, op: Op, affine: Affine) -> bool:
    if has_activation(before):
        return False
    if before.type in _WITH_FILTER:
        if before.get_input(3) is not None:
            return False
        scale_outputs(graph, before, affine.scale)
        _add_bias(graph, before, affine)
    else:
        first = affine_of(before)
        if first is None:
            return False
        _merge(graph, before, first, affine)
    graph.merge_into(before, op)
    return True


def scale_outputs(graph: Graph, op: Op, scale: Array) -> None:
    """Multiplies each output channel's filter by its factor."""
    if np.all(scale == 1):
        return
    value = op.input(1)
    assert value.constant is not None
    op.set_input(
        1,
        graph.add_constant(
            f"{value.name}/scaled", scaled_filter(op.type, value.constant, scale)
        ),
    )


def scaled_filter(op_type: str, constant: Constant, scale: Array) -> Constant:
    """The filter with each output channel multiplied by its factor."""
    if op_type not in _DEPTHWISE:
        return scaled(constant, scale, 0)
    # [KH, KW, C, M]: output channel c * M + m.
    return multiplied(constant, scale.reshape(constant.shape[2:]))


def _add_bias(graph: Graph, op: Op, affine: Affine) -> None:
    bias = op.get_input(2)
    old = np.zeros(1) if bias is None else bias.numpy().astype(np.float64)
    new = np.asarray(old * affine.scale + affine.offset, np.float32)
    if bias is None and not np.any(new):
        return
    op.set_input(2, graph.add_constant(f"{op.name}/bias", new))


def _merge(graph: Graph, before: Op, first: Affine, second: Affine) -> None:
    scale = first.scale * second.scale
    offset = first.offset * second.scale + second.offset
    values = [
        graph.add_constant(f"{before.name}/{name}", np.asarray(array, np.float32))
        for name, array in (("scale", scale), ("offset", offset))
    ]
    before.type = "BatchNorm"
    before.attrs.clear()
    before.set_inputs([first.source, *values])
