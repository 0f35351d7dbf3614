# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that remove axes, reshapes and transposes at the end of the pipeline."""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.movement import reshape_attribute
from mace.python.tools.ir.op_rules.windows import window_axes
from mace.python.tools.ir.shapes import normalize_axis, same_shape
from mace.python.tools.passes.base import OpPass
from mace.python.tools.passes.match import only_reader


class SimplifyReshapes(OpPass):
    """Merges consecutive operators that only change the shape.

    This includes a Transpose that moves no element because the axes it moves have
    length 1. The pass comes last, because a Transpose can still cancel another one,
    but a Reshape cannot.
    """

    name = "simplify_reshapes"
    requires = ("fold_flatten", "global_pooling")

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return _turn(graph, op) or _join(op)


def _turn(graph: Graph, op: Op) -> bool:
    """A Transpose that moves no element becomes a Reshape."""
    if op.type != "Transpose" or op.input(0).shape is None:
        return False
    shape = op.input(0).shape
    assert shape is not None
    moved = [axis for axis in op.attr("perm") if shape[axis] != 1]
    if moved != sorted(moved):
        return False
    wanted = reshape_attribute(op.input(0).shape, op.output.shape or ())
    if wanted is None:
        return False
    graph.replace_op(op, "Reshape", [op.input(0)], {"shape": wanted})
    return True


def _join(op: Op) -> bool:
    """Reads the input of the previous reshape, if one Reshape can do both."""
    if not rules_of(op.type).only_reshapes or op.get_input(1) is not None:
        return False
    before = op.input(0).producer
    if before is None or not rules_of(before.type).only_reshapes:
        return False
    source = before.input(0)
    wanted = reshape_attribute(source.shape, op.output.shape or ())
    if op.output.shape is None or wanted is None:
        return False
    op.type = "Reshape"
    op.attrs.clear()
    op.set_attr("shape", wanted)
    op.set_inputs([source])
    return True


class SqueezeReduction(OpPass):
    """Fuses the removal of reduced axes into the reduction.

    Reduce [N, 1, 1, C] > Reshape or Squeeze [N, C]
    """

    name = "squeeze_reduction"
    requires = ("simplify_reshapes",)
    floats_only = True
    op_types = ("Reduce",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        shape = op.output.shape
        reader = only_reader(graph, op.output)
        if shape is None or reader is None or not op.attr("keep_dims"):
            return False
        if reader.type not in ("Reshape", "Squeeze") or reader.get_input(1) is not None:
            return False
        rank = len(shape)
        axes = {normalize_axis(axis, rank) for axis in op.attr("axes")}
        kept = tuple(dim for axis, dim in enumerate(shape) if axis not in axes)
        if not axes or not same_shape(kept, reader.output.shape):
            return False
        op.set_attr("keep_dims", False)
        graph.merge_into(op, reader)
        return True


_PORT = 1


class TransposeIntoMatmul(OpPass):
    """Fuses the transpose of a matrix product's second matrix into the product.

    Kernels pack the second matrix anyway, in either order. They would have to
    transpose the first matrix, so fusing its transpose would gain nothing.

    Converts a Transpose of the last two axes, followed by MatMul, to one MatMul. If
    a Transpose moves more axes, as for the keys of attention, a Transpose of the other
    axes remains, which moves whole rows.
    """

    name = "transpose_into_matmul"
    requires = ("sink_transposes",)
    op_types = ("MatMul",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        value = op.input(_PORT)
        turn = value.producer
        if (
            turn is None
            or turn.type != "Transpose"
            or only_reader(graph, value) is not op
        ):
            return False
        perm = tuple(turn.attr("perm"))
        rank = len(perm)
        if rank < 2 or perm[-2] != rank - 1:
            return False
        rest = (*perm[:-2], perm[-1], perm[-2])
        matrices = turn.input(0)
        if rest != tuple(range(rank)):
            shape = (
                None
                if value.shape is None
                else (*value.shape[:-2], *value.shape[:-3:-1])
            )
            name = graph.unique_name(f"{value.name}/rows")
            moved = graph.add_value(name, value.dtype, shape)
            graph.add_op("Transpose", [matrices], [moved], {"perm": rest}, name)
            matrices = moved
        op.set_input(_PORT, matrices)
        op.set_attr("transpose_b", not op.attr("transpose_b"))
        return True


class GlobalPooling(OpPass):
    """Turns pooling over the whole image into a Reduce."""

    name = "global_pooling"
    requires = ("fold_pad",)
    op_types = ("Pooling",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        if not _covers_all(op):
            return False
        mode = "MEAN" if op.attr("mode") == "AVG" else "MAX"
        attrs = {"mode": mode, "axes": [1, 2], "keep_dims": True}
        graph.replace_op(op, "Reduce", [op.input(0)], attrs)
        return True


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
