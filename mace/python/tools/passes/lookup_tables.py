# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions of one quantized tensor, as tables of their 256 results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import evaluate_op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
    quantized,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import same_shape

BYTES = (DataType.INT8, DataType.UINT8)
# What operators compute in.
INTEGERS = (*BYTES, DataType.INT16)

# Of operators between a tensor and a function of it; in one expression of a model.
_MOST_STEPS = 64
# A table for each channel of more channels would be larger than most caches.
_MOST_CHANNELS = 1024


@dataclass(frozen=True)
class Target:
    """What results are quantized to: integers of a type with one scale."""

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
