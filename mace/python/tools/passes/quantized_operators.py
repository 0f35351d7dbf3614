# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes operators between Dequantize and Quantize in quantized numbers."""

from __future__ import annotations

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.lookup_tables import (
    INTEGERS,
    Target,
    add_table,
    can_be_integers,
    in_integers,
    integers_behind,
    table_of,
)
from mace.python.tools.passes.match import only_reader


class QuantizedOperators(Pass):
    """What is between Dequantize and Quantize, with scales of whole tensors, becomes

    - a table, if it is a function of each element of one tensor;
    - the same operator on the integers, if it only moves elements. Dequantize then
      comes after it;
    - the quantized operator, if it reads from Dequantize alone and Quantize is the only
      reader, all of them of 8 bits or all of 16. Constants may have other scales.
    """

    name = "quantized_operators"
    requires = ("extend_quantization", "grouped_depthwise")
    last = True

    def run(self, graph: Graph) -> int:
        if all(op.type != "Quantize" for op in graph.ops):
            return 0
        return sum(_rewrite(graph, op) for op in graph.ops if op in graph)


def _rewrite(graph: Graph, op: Op) -> bool:
    if op.type != "Quantize":
        return _move(graph, op)
    to = Target.of(op)
    if to is None or op.input(0).is_constant:
        return False
    op.output.quantization = to.quantization
    return (
        _bypass(graph, op, to)
        or _look_up(graph, op, to, channels=False)
        or _compute(graph, op, to)
        or _look_up(graph, op, to, channels=True)
    )


def _move(graph: Graph, op: Op) -> bool:
    """Moves Dequantize behind an operator that moves elements."""
    rules = rules_of(op.type)
    if not (rules.keeps_elements or rules.joins_elements):
        return False
    moved = op.inputs if rules.joins_elements else op.inputs[:1]
    sources = [value and integers_behind(value) for value in moved]
    first = sources[0]
    if (
        first is None
        or first.dtype not in default_catalogue()[op.type].input_port(0).types
    ):
        return False
    dequantize = op.input(0).producer
    assert dequantize is not None
    for source in sources:
        if source is None or source.dtype not in INTEGERS:
            return False
        if (source.dtype, source.quantization) != (first.dtype, first.quantization):
            return False
    if rules.integer_attrs(op, lambda numbers: numbers):
        return False
    op.set_inputs([*sources, *op.inputs[len(sources) :]])
    for value in op.outputs:
        name = graph.unique_name(f"{value.name}/{first.dtype.value}")
        integers = graph.add_value(name, first.dtype, value.shape)
        integers.quantization = first.quantization
        graph.replace_output(op, value, integers)
        graph.add_op("Dequantize", [integers, *dequantize.inputs[1:]], [value])
    return True


def _bypass(graph: Graph, quantize: Op, to: Target) -> bool:
    """Takes the integers that were dequantized, if their scale is the same."""
    source = integers_behind(quantize.input(0))
    if source is None or not to.is_met_by(source):
        return False
    quantize.set_inputs([source])
    if not graph.bypass(quantize):
        graph.replace_op(quantize, "Identity", [source])
    return True


def _look_up(graph: Graph, quantize: Op, to: Target, channels: bool) -> bool:
    found = table_of(quantize.input(0), to, channels)
    if found is None:
        return False
    result = quantize.output
    graph.remove_op(quantize)
    add_table(graph, *found, result)
    return True


def _compute(graph: Graph, quantize: Op, to: Target) -> bool:
    """Makes the quantized operator of the one that Quantize reads from."""
    numbers, result = quantize.input(0), quantize.output
    op = numbers.producer
    if op is None or len(op.outputs) != 1 or only_reader(graph, numbers) is None:
        return False
    inputs = _inputs(graph, op, to)
    if inputs is None:
        return False
    graph.remove_op(quantize)
    graph.replace_output(op, numbers, result)
    op.set_inputs(inputs)
    graph.remove_value(numbers)
    return True


def _inputs(graph: Graph, op: Op, to: Target) -> list[Value | None] | None:
    """Those of the operator that computes integers; None if one of them is not
    quantized, or there is no such operator.
    """
    rules, port = rules_of(op.type), default_catalogue()[op.type].output_port(0)
    moves = (rules.keeps_elements or rules.joins_elements) and to.dtype in port.types
    if not moves and to.dtype not in port.quantized:
        return None
    if not moves and not rules.keeps_scale(op):
        return _quantized_inputs(graph, op, to)
    count = len(op.inputs) if rules.joins_elements else 1
    if not all(v and can_be_integers(v, to) for v in op.inputs[:count]):
        return None
    for name, attribute in rules.integer_attrs(op, to.integers).items():
        op.set_attr(name, attribute)
    moved = [value and in_integers(graph, value, to) for value in op.inputs[:count]]
    return [*moved, *op.inputs[count:]]


def _quantized_inputs(graph: Graph, op: Op, to: Target) -> list[Value | None] | None:
    schema = default_catalogue()[op.type]
    inputs = list(op.inputs)
    constants: set[int] = set()
    for index, value in enumerate(op.inputs):
        port = schema.input_port(index)
        if value is None or DataType.FLOAT32 not in port.types:
            continue
        if value.is_constant:
            constants.add(index)
            continue
        source = integers_behind(value)
        if source is None or source.dtype not in port.quantized:
            return None
        if not _have_one_width(source.dtype, to.dtype):
            return None
        inputs[index] = source
    known = inputs[0].quantization if inputs[0] is not None else None
    made = rules_of(op.type).quantized_constants(op, known)
    if made is None or constants - made.keys():
        return None
    for index, (constant, _) in made.items():
        types = schema.input_port(index).quantized
        if to.dtype in types:
            types = tuple(t for t in types if _have_one_width(t, to.dtype))
        if constant.dtype not in types:
            return None
    for index, (constant, quantization) in made.items():
        name = f"{op.input(index).name}/{constant.dtype.value}"
        value = graph.add_constant(name, constant)
        value.quantization = quantization
        inputs[index] = value
    return inputs


def _have_one_width(a: DataType, b: DataType) -> bool:
    return bool(a.numpy.itemsize == b.numpy.itemsize)
