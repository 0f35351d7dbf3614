# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that make what is between Dequantize and Quantize compute in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import evaluate_op, update_outputs
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
    quantized,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import normalize_axis, same_shape
from mace.python.tools.passes.base import OpPass, Pass
from mace.python.tools.passes.match import only_reader, producer


class QuantizedOperators(Pass):
    """Computes operators between Dequantize and Quantize in quantized numbers.

    What is between Dequantize and Quantize, with scales of whole tensors, becomes

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


BYTES = (DataType.INT8, DataType.UINT8)
# What operators compute in.
INTEGERS = (*BYTES, DataType.INT16)

# Of operators between a tensor and a function of it; in one expression of a model.
_MOST_STEPS = 64
# A table for each channel of more channels would be larger than most caches.
_MOST_CHANNELS = 1024


@dataclass(frozen=True)
class Target:
    """Elementwise functions of one quantized tensor, as tables of their 256 results.

    What results are quantized to: integers of a type with one scale.
    """

    dtype: DataType
    quantization: Quantization

    @classmethod
    def of(cls, quantize: Op) -> Target | None:
        """That of Quantize; None if it is not known, or has several scales."""
        found = constant_quantization(quantize)
        if found is None or not found.per_tensor:
            return None
        return cls(quantize.output.dtype, found)

    def is_met_by(self, value: Value) -> bool:
        """Whether the value has that type and scale."""
        return value.dtype is self.dtype and value.quantization == self.quantization

    def integers(self, numbers: Array) -> Array:
        """The integers of float32 numbers, as Quantize computes them."""
        scale = np.asarray(self.quantization.scales[0], np.float32)
        zero = np.asarray(self.quantization.zero_point)
        return quantized(numbers, scale, zero, self.dtype)


def integers_behind(value: Value) -> Value | None:
    """The integers of one scale that Dequantize makes this of. They are 8 or 16 bits
    wide, or those of a bias.
    """
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


def can_be_integers(value: Value, to: Target) -> bool:
    """Whether `in_integers` succeeds."""
    source = integers_behind(value)
    return (
        value.is_constant
        or (source is not None and to.is_met_by(source))
        or table_of(value, to) is not None
    )


def in_integers(graph: Graph, value: Value, to: Target) -> Value | None:
    """The floats `value` as integers of that scale: those that they are made of, a
    table of it, or a constant; None if they are computed in another way.
    """
    name = f"{value.name}/{to.dtype.value}"
    source = integers_behind(value)
    if source is not None and to.is_met_by(source):
        return source
    if value.constant is not None:
        made = graph.add_constant(name, value.constant.map(to.integers, dtype=to.dtype))
    else:
        found = table_of(value, to)
        if found is None:
            return None
        made = graph.add_value(graph.unique_name(name), to.dtype, value.shape)
        add_table(graph, *found, made)
    made.quantization = to.quantization
    return made


def add_table(graph: Graph, source: Value, table: Array, result: Value) -> Op:
    """Adds the operator that looks up `result`, which has no producer yet."""
    constant = graph.add_constant(f"{result.name}/table", table)
    return graph.add_op("LookupTable", [source, constant], [result])


def table_of(
    value: Value, to: Target, channels: bool = False
) -> tuple[Value, Array] | None:
    """A tensor of bytes of which `value` is a function of each element, and the table
    of that function; None if there is none.

    Args:
        value: of floats.
        to: what the results are quantized to.
        channels: whether there may be a table for each channel.
    """
    if to.dtype not in BYTES:
        return None
    most = _MOST_CHANNELS if channels else 1
    # The first tensor if possible: nothing between is needed for this one then.
    for source in reversed(_sources(value, _MOST_STEPS, {})):
        numbers = np.arange(256, dtype=np.uint8).view(source.dtype.numpy)
        results = _evaluated(value, {source: numbers.reshape(-1, 1)})
        table = np.ascontiguousarray(to.integers(results).transpose())
        if len(table) <= most:
            return source, table[0] if len(table) == 1 else table
    return None


def _sources(value: Value, steps: int, known: dict[Value, list[Value]]) -> list[Value]:
    """The tensors of bytes of which the value is a function of each element, the
    nearest first.
    """
    if not steps:
        return []
    if value not in known:
        found = [value] if value.dtype in BYTES else []
        common: list[Value] | None = None
        for operand in _operands(value):
            others = _sources(operand, steps - 1, known)
            common = [v for v in others if common is None or v in common]
        known[value] = found + (common or [])
    return known[value]


def _operands(value: Value) -> list[Value]:
    """The computed tensors of whose elements at the same place each element of the
    value is a function; empty if there are none.
    """
    op = value.producer
    if op is None or len(op.outputs) != 1 or not rules_of(op.type).elementwise:
        return []
    operands = [v for v in op.inputs if v is not None and not v.is_constant]
    parameters = [v.constant for v in op.inputs if v is not None and v.constant]
    if op.type in ("Quantize", "Dequantize"):
        whole = all(constant.size == 1 for constant in parameters)
        return operands if whole and operands == [op.input(0)] else []
    if op.type == "LookupTable":
        return operands
    same = all(same_shape(operand.shape, value.shape) for operand in operands)
    if not same or not all(_is_vector(constant, value) for constant in parameters):
        return []
    return operands


def _is_vector(constant: Constant, value: Value) -> bool:
    """Whether the constant has one number, or one for each channel of the value."""
    shape = constant.shape
    if value.shape is None or len(shape) > len(value.shape):
        return False
    return all(dim == 1 for dim in shape[:-1]) and 0 not in shape


def _evaluated(value: Value, known: dict[Value, Array]) -> Array:
    """The results for known values, of the shape [256, channels or 1]."""
    if value not in known:
        op = value.producer
        assert op is not None
        arrays: list[Array | None] = []
        for operand in op.inputs:
            if operand is None:
                arrays.append(None)
            elif not operand.is_constant:
                arrays.append(_evaluated(operand, known))
            elif op.type == "LookupTable":
                arrays.append(operand.numpy())
            else:
                arrays.append(operand.numpy().reshape(-1))
        known[value] = evaluate_op(op, arrays)[0]
    return known[value]


class ExtendQuantization(OpPass):
    """Adds Quantize and Dequantize where they change no number.

    Quantization-aware graphs say nothing of operators that only move or choose
    elements:

        Dequantize > MaxPool > Conv2D
        Dequantize > MaxPool > Quantize > Dequantize > Conv2D     with the same scale

    The mean of an image without its axes is one whose axes are removed after
    rounding:

        Dequantize > Reduce [N, C] > Quantize
        Dequantize > Reduce [N, 1, 1, C] > Quantize > Dequantize > Reshape > Quantize
    """

    name = "extend_quantization"
    last = True

    def rewrite(self, graph: Graph, op: Op) -> bool:
        if len(op.outputs) != 1:
            return False
        return _after_moves(graph, op) or _within_mean(graph, op)


def _after_moves(graph: Graph, op: Op) -> bool:
    if not _keeps_numbers(op):
        return False
    dequantize = producer(op.input(0), "Dequantize")
    if dequantize is None:
        return False
    scale = dequantize.input(1).constant
    if scale is None or scale.size != 1:
        return False
    port = default_catalogue()[op.type].input_port(0)
    if dequantize.input(0).dtype not in (*port.types, *port.quantized):
        return False
    reader = only_reader(graph, op.output)
    if reader is not None and reader.type == "Quantize":
        return False
    if op.output.dtype is not dequantize.output.dtype or op.output in graph.outputs:
        return False
    result = graph.add_value(
        graph.unique_name(f"{op.output.name}/rounded"), op.output.dtype, op.output.shape
    )
    graph.replace_uses(op.output, result)
    _add_pair(graph, op.output, result, dequantize)
    return True


def _keeps_numbers(op: Op) -> bool:
    if op.type == "Pooling":
        return bool(op.attr("mode") == "MAX")
    return rules_of(op.type).keeps_elements


def _within_mean(graph: Graph, op: Op) -> bool:
    shape, reader = op.output.shape, only_reader(graph, op.output)
    if op.type != "Reduce" or op.attr("mode") != "MEAN" or op.attr("keep_dims"):
        return False
    if shape is None or len(shape) != 2 or reader is None or reader.type != "Quantize":
        return False
    axes = sorted(normalize_axis(axis, 4) for axis in op.attr("axes"))
    if axes != [1, 2] or producer(op.input(0), "Dequantize") is None:
        return False
    means = graph.add_value(
        graph.unique_name(f"{op.output.name}/pooled"), op.output.dtype, None
    )
    flat = op.output
    flat.source = None  # the framework's tensor is not rounded
    op.set_attr("keep_dims", True)
    graph.replace_output(op, flat, means)
    update_outputs(op)
    rounded = graph.add_value(
        graph.unique_name(f"{flat.name}/rounded"), means.dtype, means.shape
    )
    _add_pair(graph, means, rounded, reader)
    channels = shape[1] if isinstance(shape[1], int) else -1
    graph.add_op("Reshape", [rounded], [flat], {"shape": [0, channels]}, flat.name)
    return True


def _add_pair(graph: Graph, x: Value, result: Value, like: Op) -> None:
    """Makes `result` of x by Quantize and Dequantize, with the scale of `like`."""
    integers = like.output if like.type == "Quantize" else like.input(0)
    parameters = [like.input(1), like.get_input(2)]
    name = graph.unique_name(f"{x.name}/{integers.dtype.value}")
    numbers = graph.add_value(name, integers.dtype, x.shape)
    to = {"to": integers.dtype.value.upper()}
    update_outputs(graph.add_op("Quantize", [x, *parameters], [numbers], to, name))
    update_outputs(
        graph.add_op("Dequantize", [numbers, *parameters], [result], None, result.name)
    )
