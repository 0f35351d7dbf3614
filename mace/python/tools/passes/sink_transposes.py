# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Moves transposes towards the outputs until they meet and cancel.

`op(T(x))` becomes `T'(op'(x))` where the rules of the operator allow it.
Transposes move in one direction only, so the pass terminates. Two consecutive
transposes become one, and a transpose that does not change the order is removed.
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.infer import update_outputs
from mace.python.tools.ir.op_rules import Perm, SunkTranspose, rules_of
from mace.python.tools.ir.shapes import permute, product
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.channels_last import transposed
from mace.python.tools.passes.match import producer


class SinkTransposes(Pass):
    """Merges, cancels and sinks Transpose."""

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
