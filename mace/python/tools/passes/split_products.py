# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Divides a matrix product of which only ranges of columns are read.

    FullyConnected > Split  =  a FullyConnected for each part

Attention often computes queries, keys and values in one product. Divided, the product
writes each part where it is read, and a factor of one part can be folded into its
weights. A Reshape that divides the columns may be before the Split, and StridedSlice
may take the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.infer import update_outputs
from mace.python.tools.ir.op_rules.reshapes import reshape_attribute
from mace.python.tools.ir.shapes import normalize_axis, static
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    RESIDUAL,
    activation_attrs,
    only_reader,
)

# Weights are packed in panels of so many columns; a partial panel takes as long as a
# whole one.
_PANEL = 16


class SplitProducts(Pass):
    """FullyConnected, Split or StridedSlice to several FullyConnected."""

    name = "split_products"
    requires = ("fold_affine", "sink_transposes")

    def run(self, graph: Graph) -> int:
        return sum(
            _rewrite(graph, op)
            for op in graph.ops
            if op.type == "FullyConnected" and op.get_input(RESIDUAL) is None
        )


@dataclass(frozen=True)
class _Part:
    """A value that has the columns [begin, end) of the product."""

    value: Value
    begin: int
    end: int


def _rewrite(graph: Graph, product: Op) -> bool:
    whole = product.output
    reader = only_reader(graph, whole)
    if reader is not None and reader.type == "Reshape":
        whole = reader.output
    parts = _parts(graph, product, whole)
    outs = product.output.shape
    # The rank may be known only at run time.
    if outs is None or not isinstance(outs[-1], int):
        return False
    if not parts or sum(part.end - part.begin for part in parts) > outs[-1]:
        return False
    if any((part.end - part.begin) % _PANEL for part in parts):
        return False
    shapes = [(*outs[:-1], part.end - part.begin) for part in parts]
    wanted = [
        reshape_attribute(shape, part.value.shape or ())
        for shape, part in zip(shapes, parts)
    ]
    if None in wanted:
        return False
    for part, shape in zip(parts, wanted):
        _divide(graph, product, part, shape or ())
    return True


def _parts(graph: Graph, product: Op, whole: Value) -> list[_Part]:
    """What reads `whole`, the output of the product; empty if it is not only parts."""
    shape, columns = static(whole.shape), product.input(1).shape
    if whole in graph.outputs or shape is None or columns is None:
        return []
    # The axis from which on the dimensions are columns.
    axis = next(
        (i for i in range(len(shape)) if np.prod(shape[i:]) == columns[0]), None
    )
    if axis is None or not isinstance(columns[0], int):
        return []
    step = columns[0] // shape[axis]
    parts: list[_Part] = []
    for reader in whole.consumers:
        ranges = _ranges(reader, axis, shape)
        if ranges is None:
            return []
        parts += [
            _Part(value, begin * step, end * step)
            for value, (begin, end) in zip(reader.outputs, ranges)
        ]
    return parts


def _ranges(
    reader: Op, axis: int, shape: tuple[int, ...]
) -> list[tuple[int, int]] | None:
    """The range of each output of Split or StridedSlice along `axis`; None if it does
    something else.
    """
    if reader.type == "Split":
        if normalize_axis(reader.attr("axis"), len(shape)) != axis:
            return None
        count = len(reader.outputs)
        sizes = reader.attr("sizes") or [shape[axis] // count] * count
        ends = [int(end) for end in np.cumsum(sizes)]
        return list(zip([0, *ends], ends))
    if reader.type != "StridedSlice" or reader.attr("shrink_axes"):
        return None
    if [normalize_axis(a, len(shape)) for a in reader.attr("axes")] != [axis]:
        return None
    begin, end, stride = slice(
        reader.attr("begins")[0], reader.attr("ends")[0], reader.attr("strides")[0]
    ).indices(shape[axis])
    return [(begin, end)] if stride == 1 and begin < end else None


def _divide(graph: Graph, product: Op, part: _Part, shape: tuple[int, ...]) -> None:
    """Makes a product and a Reshape compute `part.value`."""
    weights, bias = product.input(1), product.get_input(2)
    assert weights.constant is not None
    rows = slice(part.begin, part.end)
    constant = weights.constant.moved(
        lambda w: w[rows], (part.end - part.begin, *weights.constant.shape[1:])
    )
    inputs: list[Value | None] = [
        product.input(0),
        graph.add_constant(f"{weights.name}/part", constant),
    ]
    if bias is not None:
        inputs.append(graph.add_constant(f"{bias.name}/part", bias.numpy()[rows]))
    name = graph.unique_name(f"{product.output.name}/part")
    made = graph.add_value(name, product.output.dtype, None)
    update_outputs(
        graph.add_op("FullyConnected", inputs, [made], activation_attrs(product), name)
    )
    old = part.value
    reader = old.producer
    assert reader is not None
    unread = graph.add_value(graph.unique_name(f"{old.name}/old"), old.dtype, old.shape)
    graph.replace_output(reader, old, unread)
    graph.add_op("Reshape", [made], [old], {"shape": shape}, f"{name}/reshaped")
