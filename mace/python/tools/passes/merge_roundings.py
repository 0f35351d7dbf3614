# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Merges roundings of the same tensor to the same integers.

Quantization-aware training may round in front of each reader, or behind an operator and
again in front of the next. The scales are then equal, but not the same constant.

    Quantize, Quantize of x                > one Quantize
    Quantize > Dequantize > Quantize       > Quantize
"""

from __future__ import annotations

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.op_rules.quantization import (
    constant_quantization,
    known_quantization,
)
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
            integers = _rounded_before(op)
            if integers is None:
                first = seen.setdefault((op.input(0), op.output.dtype, known), op)
                integers = None if first is op else first.output
            if integers is not None:
                graph.replace_uses(op.output, integers)
                graph.remove_op(op)
                count += 1
        return count


def _rounded_before(op: Op) -> Value | None:
    """The equal integers that the operator's input was made of."""
    before = producer(op.input(0), "Dequantize")
    if before is None:
        return None
    source = before.input(0)
    known = known_quantization(
        source, before.input(1), before.get_input(2), before.attr("axis")
    )
    same = source.dtype is op.output.dtype and known == constant_quantization(op)
    return source if same else None
