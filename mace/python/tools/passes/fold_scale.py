# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Folds a multiplication by a single number into a product with constants before it.

    FullyConnected > Reshape > Transpose > Eltwise: x * 0.4

Operators that only move elements may be between the two, and a MatMul, of which one
operand is scaled. Attention scales its queries and keys, or their products, like this.
`fold_affine` folds factors that differ between channels.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.passes.affine import affine_of
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.fold_affine import scale_outputs
from mace.python.tools.passes.match import (
    RESIDUAL,
    has_activation,
    only_reader,
)

_MOVES = frozenset({"ExpandDims", "Reshape", "Squeeze", "Transpose"})
_PRODUCTS = frozenset({"Conv2D", "DepthwiseConv2d", "FullyConnected"})


class FoldScale(Pass):
    """Multiplication by one number into the weights before it."""

    name = "fold_scale"
    requires = ("fold_affine", "sink_transposes")

    def run(self, graph: Graph) -> int:
        return sum(_fold(graph, op) for op in graph.ops if op.type == "Eltwise")


def _fold(graph: Graph, op: Op) -> bool:
    affine = affine_of(op)
    if affine is None or np.any(affine.offset) or np.ptp(affine.scale):
        return False
    path = _path(graph, affine.source)
    if not path or op.output in graph.outputs:
        return False
    product = path[-1].producer
    assert product is not None
    factor = float(affine.scale[0])
    outs = product.output.shape
    # The rank may be known only at run time.
    if outs is None or not isinstance(outs[-1], int):
        return False
    scale_outputs(graph, product, np.full(outs[-1], factor))
    bias = product.get_input(2)
    if bias is not None:
        new = np.asarray(bias.numpy().astype(np.float64) * factor, np.float32)
        product.set_input(2, graph.add_constant(f"{bias.name}/scaled", new))
    for value in path:
        value.source = None  # the framework's tensors are not scaled
    affine.source.take_source(op.output)
    graph.replace_uses(op.output, affine.source)
    return True


def _path(graph: Graph, value: Value) -> list[Value]:
    """The values from `value` back to the output of a product that can be scaled
    instead; empty if there is none.
    """
    made = value.producer
    if made is None or only_reader(graph, value) is None:
        return []
    if made.type in _MOVES:
        rest = _path(graph, made.input(0))
    elif made.type == "MatMul":
        rest = _path(graph, made.input(0)) or _path(graph, made.input(1))
    else:
        return [value] if _can_be_scaled(made) else []
    return [value, *rest] if rest else []


def _can_be_scaled(op: Op) -> bool:
    return (
        op.type in _PRODUCTS
        and not has_activation(op)
        and op.get_input(RESIDUAL) is None
    )
