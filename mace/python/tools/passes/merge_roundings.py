# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Merges roundings of the same tensor to the same integers.

Quantization-aware training may round in front of each reader, or behind an operator and
again in front of the next. The scales are then equal, but not the same constant.

    Quantize, Quantize of x                > one Quantize
    Quantize > Dequantize > Quantize       > Quantize

Where operators that only move elements stand between, because ONNX Runtime's quantizer
rounds behind each of them, the second rounding would keep other passes from recognising
them together, for example as a shuffle of channels:

    Dequantize > moves > Quantize > Dequantize       > Dequantize > moves
"""

from __future__ import annotations

from mace.python.tools.ir import DataType, Graph, Op, Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
)
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import producer


class MergeRoundings(Pass):
    """Quantize whose integers are known by another name."""

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
