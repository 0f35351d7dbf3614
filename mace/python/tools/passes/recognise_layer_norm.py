# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces arithmetic that normalises the innermost dimension by LayerNorm.

The forms are those of `normalisation`. A scale and an offset that follow are moved into
the LayerNorm.
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import eltwise, only_reader, producer
from mace.python.tools.passes.normalisation import (
    Normalisation,
    Statistics,
    find_normalisation,
)


class RecogniseLayerNorm(Pass):
    """Converts arithmetic to LayerNorm."""

    name = "recognise_layer_norm"
    # Must run before transposes move past these operators and make another dimension
    # the innermost one.
    requires = ("simplify_powers", "symbolic_shapes")

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op in graph and op.type == "Eltwise":
                count += _normalisation(graph, op) or _affine(graph, op)
        return count


class _OfRows(Statistics):
    def reduced(self, rank: int) -> tuple[int, ...]:
        return (rank - 1,) if rank else ()

    def fits(self, value: Value | None, x: Value) -> bool:
        if value is None or value.constant is None or not value.dtype.is_float:
            return False
        shape = value.constant.shape
        return (
            x.shape is not None
            and 0 < len(shape) <= len(x.shape)
            and shape[-1] == x.shape[-1]
            and all(dim == 1 for dim in shape[:-1])
        )


_ROWS = _OfRows()


def _normalisation(graph: Graph, op: Op) -> bool:
    found = find_normalisation(op, _ROWS)
    if found is None:
        return False
    _replace(graph, op, found)
    return True


def _replace(graph: Graph, op: Op, found: Normalisation) -> None:
    attrs = {"epsilon": found.epsilon, "subtract_mean": found.subtract_mean}
    rows = [_row(graph, value) for value in (found.scale, found.offset)]
    graph.replace_op(op, "LayerNorm", [found.x, *rows], attrs)


def _row(graph: Graph, value: Value | None) -> Value | None:
    """The constant with the shape of the innermost dimension."""
    if value is None:
        return None
    array = value.numpy().reshape(-1)
    if value.shape == (array.size,):
        return value
    return graph.add_constant(f"{value.name}/row", array)


def _affine(graph: Graph, op: Op) -> bool:
    """Moves a scale or an offset into the LayerNorm before it."""
    mode = op.attr("mode")
    port = {"MUL": 1, "ADD": 2}.get(mode)
    second = op.get_input(1)
    if port is None or second is None or eltwise(op.output, mode) is not op:
        return False
    for value, row in ((op.input(0), second), (second, op.input(0))):
        norm = producer(value, "LayerNorm")
        if norm is None or only_reader(graph, value) is not op:
            continue
        # A scale after an offset is a different formula.
        free = norm.get_input(port) is None and norm.get_input(2) is None
        if free and _ROWS.fits(row, value):
            norm.set_input(port, _row(graph, row))
            graph.merge_into(norm, op)
            return True
    return False
