# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes operators between Dequantize and Quantize in quantized numbers."""

from __future__ import annotations

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import static
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader


class QuantizedOperators(Pass):
    """An operator that reads from Dequantize alone, and whose result only Quantize
    reads, to the quantized operator. All scales are those of whole tensors, except that
    constants may have others. An operator that only moves elements between both moves
    the integers, if both have the same scale.
    """

    name = "quantized_operators"
    last = True

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if not is_quantized(op))


def _rewrite(graph: Graph, op: Op) -> bool:
    if len(op.outputs) != 1:
        return False
    quantize = only_reader(graph, op.output)
    if quantize is None or quantize.type != "Quantize":
        return False
    result, to = quantize.output, constant_quantization(quantize)
    if to is None or not to.per_tensor:
        return False
    op = _as_pooling(graph, op)
    if rules_of(op.type).keeps_elements:
        inputs = _moved(op, result, to)
    else:
        types = default_catalogue()[op.type].output_port(0).quantized
        inputs = _inputs(graph, op) if result.dtype in types else None
    if inputs is None:
        return False
    numbers = op.output
    graph.remove_op(quantize)
    result.quantization = to
    graph.replace_output(op, numbers, result)
    op.set_inputs(inputs)
    graph.remove_value(numbers)
    return True


def _as_pooling(graph: Graph, op: Op) -> Op:
    """The operator, or in place of the averages of quantized images a Pooling."""
    if op.type != "Reduce" or op.attr("mode") != "MEAN" or not op.attr("keep_dims"):
        return op
    shape, source = static(op.input(0).shape), _integers_of(op.input(0))
    axes = sorted(axis % 4 for axis in op.attr("axes"))
    if shape is None or len(shape) != 4 or 0 in shape or axes != [1, 2]:
        return op
    if source is None or source.dtype not in (DataType.INT8, DataType.UINT8):
        return op
    attrs = {"mode": "AVG", "kernels": shape[1:3]}
    return graph.replace_op(op, "Pooling", [op.input(0)], attrs)


def _moved(op: Op, result: Value, to: Quantization) -> list[Value | None] | None:
    """The inputs of an operator that moves the integers; None if they are others."""
    source = _integers_of(op.input(0))
    types = default_catalogue()[op.type].input_port(0).types
    if source is None or source.dtype not in types:
        return None
    if source.dtype is not result.dtype or source.quantization != to:
        return None
    return [source, *op.inputs[1:]]


def _inputs(graph: Graph, op: Op) -> list[Value | None] | None:
    """Those of the quantized operator; None if one of them is not quantized."""
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
        source = _integers_of(value)
        if source is None or source.dtype not in port.quantized:
            return None
        inputs[index] = source
    known = inputs[0].quantization if inputs[0] is not None else None
    made = rules_of(op.type).quantized_constants(op, known)
    if made is None or constants - made.keys():
        return None
    if any(c.dtype not in schema.input_port(i).quantized for i, (c, _) in made.items()):
        return None
    for index, (constant, quantization) in made.items():
        name = f"{op.input(index).name}/{constant.dtype.value}"
        value = graph.add_constant(name, constant)
        value.quantization = quantization
        inputs[index] = value
    return inputs


def _integers_of(value: Value) -> Value | None:
    """The integers of one scale that Dequantize makes this of."""
    producer = value.producer
    if producer is None or producer.type != "Dequantize":
        return None
    source = producer.input(0)
    known = known_quantization(
        source, producer.input(1), producer.get_input(2), producer.attr("axis")
    )
    if known is None or not known.per_tensor:
        return None
    if source.quantization not in (None, known):
        return None
    source.quantization = known
    return source
