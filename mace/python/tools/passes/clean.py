# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that remove what changes nothing and compute what is known."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import DataType, Dim, Graph, Op, Value
from mace.python.tools.ir.evaluate import fold_op, update_outputs
from mace.python.tools.ir.loops import is_of_loop
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.movement import reshape_attribute
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.base import OpPass, Pass
from mace.python.tools.passes.match import eltwise, has_activation, producer, scalar


class RemoveNoOps(OpPass):
    """Removes operators whose output equals their input.

    Identity (dropout and the like), reshape to the same shape, ...
    """

    name = "remove_no_ops"
    provides = ("no_identities",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        if len(op.outputs) != 1 or op.get_input(0) is None:
            return False
        return rules_of(op.type).is_identity(op) and graph.bypass(op)


class FoldConstants(Pass):
    """Computes operators that do not depend on the model's inputs.

    Also converts a computed shape of a Reshape to its attribute.
    """

    name = "fold_constants"
    requires = ("remove_no_ops",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type == "Reshape" and _take_shape(op):
                count += 1
            # An output of the model must be produced by an operator.
            elif op.type != "Identity" and not _makes_output(graph, op):
                count += fold_op(graph, op)
        return count


def _makes_output(graph: Graph, op: Op) -> bool:
    return any(value in graph.outputs for value in op.outputs)


def _take_shape(op: Op) -> bool:
    shape = op.get_input(1)
    if shape is None or not shape.is_constant:
        return False
    op.set_attr("shape", np.asarray(shape.numpy()).reshape(-1))
    op.set_input(1, None)
    return True


class MergeEqualOps(Pass):
    """Merges operators that compute the same result.

    Operators with the same type, inputs and attributes become one, but not the ends of
    loops.
    """

    name = "merge_equal_ops"
    requires = ("remove_no_ops",)

    def run(self, graph: Graph) -> int:
        seen: dict[object, Op] = {}
        count = 0
        for op in graph.ops:
            if is_of_loop(op.type):
                continue  # each loop has its own
            inputs = tuple(id(value) for value in op.inputs)
            key = (op.type, inputs, len(op.outputs), tuple(sorted(op.attrs.items())))
            first = seen.setdefault(key, op)
            # Outputs of the model keep their producers and names.
            if first is op or any(v in graph.outputs for v in op.outputs):
                continue
            for mine, value in zip(first.outputs, op.outputs):
                graph.replace_uses(value, mine)
            graph.remove_op(op)
            count += 1
        return count


class MergeRoundings(Pass):
    """Merges roundings of the same tensor to the same integers.

    Quantization-aware training may round in front of each reader, or behind an
    operator and again in front of the next. The scales are then equal, but not the
    same constant.

        Quantize, Quantize of x                > one Quantize
        Quantize > Dequantize > Quantize       > Quantize

    Where operators that only move elements stand between, because ONNX Runtime's
    quantizer rounds behind each of them, the second rounding would keep other passes
    from recognising them together, for example as a shuffle of channels:

        Dequantize > moves > Quantize > Dequantize       > Dequantize > moves
    """

    name = "merge_roundings"
    requires = ("remove_no_ops",)

    def run(self, graph: Graph) -> int:
        seen: dict[object, Op] = {}
        count = 0
        for op in graph.ops:
            known = constant_quantization(op) if op.type == "Quantize" else None
            if known is None or op.output in graph.outputs:
                continue
            integers = _integers_of(op.input(0), op.output.dtype, known)
            if integers is None:
                first = seen.setdefault((op.input(0), op.output.dtype, known), op)
                integers = None if first is op else first.output
            if integers is not None:
                graph.replace_uses(op.output, integers)
                graph.remove_op(op)
                count += 1
            elif known.per_tensor and _is_rounded(op.input(0), op.output.dtype, known):
                count += _undo(graph, op, known)
        return count


def _integers_of(value: Value, dtype: DataType, known: Quantization) -> Value | None:
    """The integers of that type and scale that the value was made of."""
    before = producer(value, "Dequantize")
    if before is None or before.input(0).dtype is not dtype:
        return None
    return before.input(0) if _scale_of(before) == known else None


def _scale_of(dequantize: Op) -> Quantization | None:
    inputs = dequantize.input(0), dequantize.input(1), dequantize.get_input(2)
    return known_quantization(*inputs, dequantize.attr("axis"))


def _is_rounded(value: Value, dtype: DataType, known: Quantization) -> bool:
    """Whether all elements of the value are such integers, in other places."""
    op = value.producer
    while op is not None and rules_of(op.type).keeps_elements:
        value = op.input(0)
        op = value.producer
    return _integers_of(value, dtype, known) is not None


def _undo(graph: Graph, quantize: Op, known: Quantization) -> int:
    """Gives the readers of a rounding the numbers that it does not change."""
    count = 0
    for reader, _ in list(quantize.output.uses):
        rounded = reader.type == "Dequantize" and _scale_of(reader) == known
        if rounded and reader.output not in graph.outputs:
            graph.replace_uses(reader.output, quantize.input(0))
            graph.remove_op(reader)
            count += 1
    return count


_NEUTRAL = {"MUL": 1, "DIV": 1, "POW": 1, "ADD": 0, "SUB": 0}
_COMMUTATIVE = ("MUL", "ADD")


class RemoveNeutral(OpPass):
    """Removes arithmetic with a constant that changes nothing.

    x * 1, x / 1, x ^ 1, x + 0, x - 0       > x

    Frameworks write them for parameters that are rarely set, such as the factor in
    Keras' x * sigmoid(beta * x); passes that recognise groups of operators need not
    know them then.
    """

    name = "remove_neutral"
    requires = ("fold_constants",)
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        mode, second = op.attr("mode"), op.get_input(1)
        if mode not in _NEUTRAL or second is None or has_activation(op):
            return False
        operands = [(op.input(0), second)]
        if mode in _COMMUTATIVE:
            operands.append((second, op.input(0)))
        for x, other in operands:
            if _holds_only(other, _NEUTRAL[mode]) and not _widens(x, other, op.output):
                op.set_inputs([x, other])
                return graph.bypass(op)
        return False


def _holds_only(value: Value, number: int) -> bool:
    return value.constant is not None and bool(np.all(value.numpy() == number))


def _widens(x: Value, other: Value, result: Value) -> bool:
    """Whether the constant may enlarge a dimension, or add one."""
    assert other.constant is not None
    if other.constant.size == 1 and x.rank is not None:
        return len(other.constant.shape) > x.rank
    return other.constant.shape != () and not same_shape(x.shape, result.shape)


class SimplifyPowers(OpPass):
    """Replaces powers with small integer exponents by products.

    x ^ 2, x * x    > SQUARE x
    x ^ 3           > x * SQUARE x

    A power takes 20 times as long, and passes that recognise groups of operators
    then have to know only one form.
    """

    name = "simplify_powers"
    requires = ("fold_constants",)
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        if eltwise(op.output, op.attr("mode")) is not op:
            return False
        x, other = op.input(0), op.get_input(1)
        # Integers of 64 bits do not exceed int32 in silence.
        wide = {"wide": True} if op.attr("wide") else {}
        if op.attr("mode") == "MUL" and other is x:
            graph.replace_op(op, "Eltwise", [x], {"mode": "SQUARE", **wide})
            return True
        exponent = scalar(other) if op.attr("mode") == "POW" else None
        # A constant of higher rank would raise the rank of the result.
        if exponent not in (2.0, 3.0) or x.rank != op.output.rank:
            return False
        if exponent == 2.0:
            graph.replace_op(op, "Eltwise", [x], {"mode": "SQUARE", **wide})
            return True
        name = graph.unique_name(f"{op.output.name}/square")
        square = graph.add_value(name, x.dtype, x.shape)
        graph.add_op("Eltwise", [x], [square], {"mode": "SQUARE", **wide})
        graph.replace_op(op, "Eltwise", [square, x], {"mode": "MUL", **wide})
        return True


class SymbolicShapes(OpPass):
    """Turns shapes computed at run time into attributes.

    A network for any batch size flattens by a chain like

        Shape > StridedSlice > Stack [n, 1024] > Reshape

    whose result is known except for n, which is a dimension of the input. Evaluated
    symbolically, the target is [n, 1024], and Reshape can copy or infer n. The chain
    then has no reader and is removed.
    """

    name = "symbolic_shapes"
    requires = ("fold_constants",)
    op_types = ("Reshape",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        shape, source = op.get_input(1), op.input(0).shape
        if shape is None or shape.dims is None or source is None:
            return False
        wanted = _attribute(source, list(shape.dims), op.attr("allow_zero"))
        if wanted is None:
            return False
        op.set_attr("shape", wanted)
        op.set_attr("allow_zero", False)
        op.set_input(1, None)
        update_outputs(op)
        return True


def _attribute(
    source: tuple[Dim, ...], dims: list[Dim], allow_zero: bool
) -> tuple[int, ...] | None:
    if None in dims:
        return None
    if -1 not in dims:
        if 0 in dims:
            return None
        return reshape_attribute(source, dims)
    # If one dimension is inferred, the others must be numbers or copies.
    wanted: list[int] = []
    for axis, dim in enumerate(dims):
        if isinstance(dim, int):
            if dim == 0 and allow_zero:
                return None
            wanted.append(dim)
        elif axis < len(source) and source[axis] == dim:
            wanted.append(0)
        else:
            return None
    return tuple(wanted)
