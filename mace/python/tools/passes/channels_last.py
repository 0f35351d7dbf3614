# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that bring images into the order NHWC, and transposes out of the way."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import DataFormat, Graph, Op, Value
from mace.python.tools.ir.evaluate import update_outputs
from mace.python.tools.ir.op_rules import Perm, SunkTranspose, rules_of
from mace.python.tools.ir.op_rules.images import DATA_FORMAT, data_format
from mace.python.tools.ir.shapes import (
    NCHW_TO_NHWC,
    NHWC_TO_NCHW,
    permute,
    product,
    same_dim,
    static,
    to_channels_first,
    to_channels_last,
)
from mace.python.tools.passes.base import OpPass, Pass
from mace.python.tools.passes.match import only_reader, producer


class ChannelsLast(Pass):
    """Changes layout-bound operators and the model's inputs and outputs to NHWC.

    Each operator that needs channels first gets a transpose before and one after.
    `sink_transposes` cancels most of them.
    """

    name = "channels_last"
    requires = ("channel_shuffle", "fold_constants", "symbolic_shapes")
    provides = ("channels_last",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if data_format(op) is DataFormat.NCHW:
                _wrap(graph, op)
                count += 1
            elif DATA_FORMAT in op.attrs:
                del op.attrs[DATA_FORMAT]
                count += 1
        for value in list(graph.inputs):
            if graph.formats[value.name] is DataFormat.NCHW:
                _turn_input(graph, value)
                count += 1
        for value in list(graph.outputs):
            if graph.formats[value.name] is DataFormat.NCHW:
                _turn_output(graph, value)
                count += 1
        return count


def transposed(graph: Graph, value: Value, perm: tuple[int, ...]) -> Value:
    """A new value: `value` with its axes permuted."""
    shape = None if value.shape is None else permute(value.shape, perm)
    name = graph.unique_name(f"{value.name}/transposed")
    result = graph.add_value(name, value.dtype, shape)
    result.quantization = value.quantization and value.quantization.permuted(perm)
    graph.add_op("Transpose", [value], [result], {"perm": perm}, name)
    return result


def _wrap(graph: Graph, op: Op) -> None:
    del op.attrs[DATA_FORMAT]
    rank = op.output.rank or 4
    if rank < 3:
        return
    for port in rules_of(op.type).layout_inputs:
        value = op.get_input(port)
        if value is not None:
            op.set_input(port, transposed(graph, value, to_channels_last(rank)))
    insert_transpose_after(
        graph, op.output, to_channels_last(rank), to_channels_first(rank)
    )


def insert_transpose_after(
    graph: Graph, value: Value, inner: tuple[int, ...], outer: tuple[int, ...]
) -> None:
    """Makes the producer of `value` compute it permuted by `inner`. `value` itself
    becomes the output of a Transpose by `outer`, the inverse, and keeps its name, so
    that readers and model outputs are not affected. The framework's name moves to the
    inner value, which remains.
    """
    op = value.producer
    assert op is not None
    shape = None if value.shape is None else permute(value.shape, inner)
    name = graph.unique_name(f"{value.name}/nhwc")
    made = graph.add_value(name, value.dtype, shape)
    made.take_source(value, inner)
    made.quantization = value.quantization and value.quantization.permuted(inner)
    graph.replace_output(op, value, made)
    graph.add_op("Transpose", [made], [value], {"perm": outer}, f"{op.name}/nchw")


def _turn_input(graph: Graph, value: Value) -> None:
    readers = list(value.uses)
    shape = value.shape
    value.shape = None if shape is None else permute(shape, NCHW_TO_NHWC)
    value.take_source(value, NCHW_TO_NHWC)
    if value.quantization is not None:
        value.quantization = value.quantization.permuted(NCHW_TO_NHWC)
    graph.formats[value.name] = DataFormat.NHWC
    if readers:
        inner = transposed(graph, value, NHWC_TO_NCHW)
        for op, port in readers:
            op.set_input(port, inner)


def _turn_output(graph: Graph, value: Value) -> None:
    """The transposed value takes the name; the old one gets another."""
    name = value.name
    graph.formats[name] = DataFormat.NHWC
    graph.rename_value(value, graph.unique_name(f"{name}/nchw"))
    result = transposed(graph, value, NCHW_TO_NHWC)
    result.take_source(value, NCHW_TO_NHWC)
    graph.outputs[graph.outputs.index(value)] = result
    graph.formats.pop(value.name, None)
    graph.rename_value(result, name)
    graph.formats[name] = DataFormat.NHWC
    producer = value.producer
    if producer is not None and producer.type == "Identity":
        # The Identity between an input and an output is replaced by a Transpose.
        graph.bypass(producer)


class SinkTransposes(Pass):
    """Moves transposes towards the outputs until they meet and cancel.

    `op(T(x))` becomes `T'(op'(x))` where the rules of the operator allow it.
    Transposes move in one direction only, so the pass terminates. Two consecutive
    transposes become one, and a transpose that does not change the order is removed.
    """

    name = "sink_transposes"
    requires = ("channels_last", "recognise_layer_norm")

    def run(self, graph: Graph) -> int:
        total = 0
        while True:
            count = 0
            # Producers first: a transpose then moves as far as it can in one round.
            for op in graph.ops:
                if op not in graph:
                    continue
                if op.type == "Transpose":
                    count += _merge(graph, op)
                else:
                    count += _sink(graph, op)
            total += count
            if not count:
                return total
            graph.prune()
            graph.sort()


def inverse(perm: Perm) -> Perm:
    """The permutation that undoes `perm`."""
    return tuple(perm.index(axis) for axis in range(len(perm)))


def _merge(graph: Graph, op: Op) -> int:
    """Joins a transpose with the one before it."""
    before = producer(op.input(0), "Transpose")
    if before is None:
        return 0
    perm = permute(before.attr("perm"), op.attr("perm"))
    op.set_input(0, before.input(0))
    op.set_attr("perm", perm)
    if perm == tuple(range(len(perm))):
        graph.bypass(op)
    return 1


def _sink(graph: Graph, op: Op) -> int:
    perm = _common_perm(op)
    if perm is None:
        return 0
    sunk = rules_of(op.type).sink_transpose(op, perm)
    if sunk is None or not _operands(graph, op, perm):
        return 0
    for name, value in sunk.attrs.items():
        op.set_attr(name, value)
    for value in op.outputs:
        _move_below(graph, op, value, sunk)
    update_outputs(op)
    return 1


def _common_perm(op: Op) -> Perm | None:
    """The permutation of all transposes that feed `op`, None if they differ."""
    perms: set[Perm] = set()
    for value in op.inputs:
        made = producer(value, "Transpose")
        if made is not None:
            perms.add(made.attr("perm"))
    return perms.pop() if len(perms) == 1 else None


def _operands(graph: Graph, op: Op, perm: Perm) -> bool:
    """Reconnects the inputs of `op` to the tensors before the transposes.

    Returns:
        False, with nothing changed, if that needs more work than it saves.
    """
    new: list[Value | None] = []
    pending: list[int] = []
    saved = added = 0
    for port, value in enumerate(op.inputs):
        made = producer(value, "Transpose")
        spreads = port == 0 or rules_of(op.type).inputs_share_axes
        if value is None or not spreads or _is_single(value):
            new.append(value)
        elif made is not None:
            new.append(made.input(0))
            saved += product(value.shape or (None,)) or 1
        elif value.rank is None or value.rank > len(perm):
            return False
        elif value.is_constant:
            new.append(value)
            pending.append(port)
        elif value.rank < len(perm):
            return False
        else:
            new.append(value)
            pending.append(port)
            added += product(value.shape or (None,)) or saved + 1
    # Otherwise transposes could move between operands forever.
    if added >= saved:
        return False
    for port in pending:
        value = new[port]
        assert value is not None
        if value.is_constant:
            new[port] = _turned_constant(graph, op, value, perm)
        else:
            new[port] = transposed(graph, value, inverse(perm))
    op.set_inputs(new)
    return True


def _is_single(value: Value) -> bool:
    """A constant of one element, with at most one axis, fits any layout."""
    constant = value.constant
    return constant is not None and constant.size == 1 and len(constant.shape) <= 1


def _turned_constant(graph: Graph, op: Op, value: Value, perm: Perm) -> Value:
    """The constant that the operator needs before the transpose."""
    assert value.constant is not None
    shape = (1,) * (len(perm) - len(value.constant.shape)) + value.constant.shape
    back = inverse(perm)
    turned = tuple(shape[axis] for axis in back)
    if rules_of(op.type).broadcasts:
        # Leading dimensions of 1 broadcast anyway; without them, a constant per channel
        # is easier to recognise.
        while len(turned) > 1 and turned[0] == 1:
            turned = turned[1:]
    constant = value.constant.moved(
        lambda array: array.reshape(shape).transpose(back).reshape(turned),
        turned,
    )
    made = graph.add_constant(f"{value.name}/nhwc", constant)
    if value.quantization is not None and value.quantization.per_tensor:
        made.quantization = value.quantization
    return made


def _move_below(graph: Graph, op: Op, value: Value, sunk: SunkTranspose) -> None:
    """Moves the transpose after `op`: `value` keeps its name and readers."""
    perm = sunk.output_perm
    if perm == tuple(range(len(perm))):
        return
    made = graph.add_value(graph.unique_name(f"{value.name}/nhwc"), value.dtype, None)
    made.take_source(value, inverse(perm))
    given = value.quantization
    made.quantization = given and given.permuted(inverse(perm))
    graph.replace_output(op, value, made)
    graph.add_op("Transpose", [made], [value], {"perm": perm}, f"{op.name}/transpose")


class FoldFlatten(OpPass):
    """Folds the transpose before a flattened fully connected layer into weights.

        Transpose > Reshape [N, K] > FullyConnected

    A channels-first framework flattens the elements in an order other than that of
    NHWC. Reordering the columns of the weights costs nothing at run time.
    """

    name = "fold_flatten"
    requires = ("matmul_to_fully_connected", "sink_transposes")
    op_types = ("FullyConnected",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        flatten = producer(op.input(0), "Reshape")
        turn = producer(flatten.input(0), "Transpose") if flatten else None
        if flatten is None or turn is None:
            return False
        if only_reader(graph, flatten.output) is not op:
            return False
        shape, flat = turn.output.shape, flatten.output.shape
        perm, constant = turn.attr("perm"), op.input(1).constant
        if shape is None or flat is None or constant is None or len(flat) != 2:
            return False
        inner, flat_size = static(shape[1:]), flat[1]
        if inner is None or perm[0] != 0 or not same_dim(shape[0], flat[0]):
            return False
        # The columns are in the order of axes 1.. of the transposed tensor; back[i] is
        # the position of axis i + 1 of the original tensor.
        back = np.argsort(perm[1:])
        order = (0, *(int(axis) + 1 for axis in back))
        moved = constant.moved_rows(
            lambda rows: rows.reshape(len(rows), *inner).transpose(order),
            constant.shape,
        )
        op.set_input(1, graph.add_constant(f"{op.input(1).name}/nhwc", moved))
        name = graph.unique_name(f"{flatten.output.name}/nhwc")
        flattened = graph.add_value(name, flatten.output.dtype, flat)
        moved_axes = [axis for axis in perm[1:] if shape[perm.index(axis)] != 1]
        if moved_axes == sorted(moved_axes):
            # No element moves, so it still has the values of the framework's tensor.
            flattened.take_source(flatten.output)
        graph.add_op(
            # 0 copies the batch, even if it is known only at run time.
            "Reshape",
            [turn.input(0)],
            [flattened],
            {"shape": [0, flat_size]},
            name,
        )
        op.set_input(0, flattened)
        return True
