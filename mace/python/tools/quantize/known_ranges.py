# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges that a model says itself.

A graph that was trained for integers says the ranges behind the operators that multiply
or add, and says nothing of those that only move, pool or average elements:

    Dequantize > AveragePool > Conv2D           the pool has the range before it
    Conv2D > Squeeze > Quantize                 the convolution's has the one behind it
    Dequantize > Softmax                        0 to 1 by definition
    input > Conv2D                              by the deployment file
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

import numpy as np

from mace.python.tools.ir import DataType, Graph, Op, Value
from mace.python.tools.ir.op_rules import Bounds, rules_of
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
)
from mace.python.tools.quantize.ranges import Range

_BYTES = (DataType.INT8, DataType.UINT8)
_Found = dict[Value, Optional[Range]]


def known_ranges(graph: Graph, given: Mapping[str, Range]) -> dict[str, Range]:
    """The ranges of all tensors of floats that have one, by name.

    Args:
        graph: sorted, in floats but for what its file has in integers.
        given: by name; they count more than what the graph says.
    """
    behind: _Found = {}
    for op in reversed(graph.ops):
        behind.update({v: _of_readers(graph, v, behind) for v in op.outputs})
    found: _Found = {v: _of_input(graph, v, behind) for v in graph.inputs}
    for name, range_ in given.items():
        if name in graph.values:
            found[graph.values[name]] = range_
    for op in graph.ops:
        for value in op.outputs:
            if value not in found:
                found[value] = behind[value] or _of_op(op, found)
    return {
        value.name: range_
        for value, range_ in found.items()
        if range_ is not None and value.dtype is DataType.FLOAT32
    }


def is_trained_for_integers(graph: Graph) -> bool:
    """Whether the model's file says to what integers it rounds."""
    return any(op.type == "Quantize" for op in graph.ops) or any(
        value.constant.integers.simulated
        for value in graph.values.values()
        if value.constant is not None and value.constant.integers is not None
    )


def _of_input(graph: Graph, value: Value, behind: _Found) -> Range | None:
    if value.dtype in _BYTES:
        bounds = np.iinfo(value.dtype.numpy)
        return Range(float(bounds.min), float(bounds.max))
    return _of_readers(graph, value, behind)


def _of_readers(graph: Graph, value: Value, behind: _Found) -> Range | None:
    """The range to which what reads the value rounds it.

    Args:
        behind: the same of all results of its readers.
    """
    if value.dtype is not DataType.FLOAT32:
        return None
    for reader in value.consumers:
        if reader.type == "Quantize" and value is reader.input(0):
            scale = constant_quantization(reader)
            if scale is not None and scale.per_tensor and reader.output.dtype in _BYTES:
                return Range.of_integers(scale, reader.output.dtype)
    if value in graph.outputs:
        return None
    ranges = {_behind(value, reader, behind) for reader in value.consumers}
    return ranges.pop() if len(ranges) == 1 else None


def _behind(value: Value, reader: Op, behind: _Found) -> Range | None:
    """The range of the results of an operator that only chooses or moves the elements
    of the value. What is cut off there may be cut off before.
    """
    rules = rules_of(reader.type)
    moves = rules.keeps_range(reader) and value is reader.input(0)
    if not (moves or rules.joins_elements):
        return None
    ranges = {behind[result] for result in reader.outputs}
    return ranges.pop() if len(ranges) == 1 else None


def _of_op(op: Op, found: _Found) -> Range | None:
    """The range of the results, by those of the inputs or by definition."""
    if op.type == "Dequantize":
        integers, scale, zero = op.input(0), op.input(1), op.get_input(2)
        known = known_quantization(integers, scale, zero, op.attr("axis"))
        if known is None or not known.per_tensor or integers.dtype not in _BYTES:
            return None
        return Range.of_integers(known, integers.dtype)
    if rules_of(op.type).keeps_range(op):
        return found.get(op.input(0))

    def bounds_of(value: Value) -> Bounds | None:
        if value.is_constant:
            numbers = value.numpy()
            known = bool(numbers.size) and bool(np.isfinite(numbers).all())
            return (float(numbers.min()), float(numbers.max())) if known else None
        range_ = found.get(value)
        return None if range_ is None else (range_.low, range_.high)

    bounds = rules_of(op.type).bounds(op, bounds_of)
    if bounds is None or not np.isfinite(np.asarray(bounds, np.float32)).all():
        return None
    return Range(*bounds)
