# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Folds batch normalisation and scale into the convolution after them.

`conv(x * s + o)` is a convolution whose filter is scaled by input channel and
whose bias has the sum of the filter times `o` added. The padding of the old
convolution holds zeros; that of the new one would have to hold `-o / s`.
Therefore, with an offset, the rewrite is valid only without padding.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op, multiplied
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.passes.affine import Affine, affine_of
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader

_TYPES = frozenset({"Conv2D", "DepthwiseConv2d", "FullyConnected"})


class FoldAffineForward(Pass):
    """Folds affine operators into the filter that reads them."""

    name = "fold_affine_forward"
    requires = ("fold_affine",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            affine = affine_of(op)
            reader = only_reader(graph, op.output) if affine else None
            if affine is None or reader is None or reader.type not in _TYPES:
                continue
            if reader.input(0) is not op.output:
                continue
            if np.any(affine.offset) and _pads(reader):
                continue
            _fold(graph, reader, affine)
            count += 1
        return count


def _pads(op: Op) -> bool:
    if op.type == "FullyConnected" or op.attr("padding") == "VALID":
        return False
    if op.attr("padding") == "EXPLICIT":
        return any(op.attr("pads"))
    return True


def _fold(graph: Graph, op: Op, affine: Affine) -> None:
    value = op.input(1)
    constant = value.constant
    assert constant is not None
    scale = _by_filter(op, constant, affine.scale)
    if np.any(affine.offset):
        offset = _by_filter(op, constant, affine.offset)
        product = constant.numpy().astype(np.float64) * offset
        if op.type == "DepthwiseConv2d":
            added = product.sum((0, 1)).reshape(-1)
        else:
            added = product.reshape(product.shape[0], -1).sum(1)
        bias = op.get_input(2)
        if bias is not None:
            added = added + bias.numpy()
        data = np.asarray(added, np.float32)
        op.set_input(2, graph.add_constant(f"{op.name}/bias", data))
    new = multiplied(constant, scale)
    op.set_input(1, graph.add_constant(f"{value.name}/scaled", new))
    op.set_input(0, affine.source)


def _by_filter(op: Op, constant: Constant, per_input: Array) -> Array:
    """One number per input channel, in the shape of the filter's axes."""
    if op.type == "DepthwiseConv2d":
        return per_input.reshape(-1, 1)
    if op.type == "FullyConnected":
        return per_input.reshape(1, -1)
    outs, _, _, depth = constant.shape
    groups = op.attr("groups")
    rows = np.repeat(per_input.reshape(groups, depth), outs // groups, axis=0)
    return rows.reshape(outs, 1, 1, depth)
