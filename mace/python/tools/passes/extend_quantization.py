# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds Quantize and Dequantize where they change no number.

Quantization-aware graphs say nothing of operators that only move or choose elements:

    Dequantize > MaxPool > Conv2D
    Dequantize > MaxPool > Quantize > Dequantize > Conv2D     with the same scale

The mean of an image without its axes is one whose axes are removed after rounding:

    Dequantize > Reduce [N, C] > Quantize
    Dequantize > Reduce [N, 1, 1, C] > Quantize > Dequantize > Reshape > Quantize
"""

from __future__ import annotations

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.infer import update_outputs
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import normalize_axis
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import only_reader, producer


class ExtendQuantization(Pass):
    """More operators between Dequantize and Quantize, for `quantized_operators`."""

    name = "extend_quantization"
    last = True

    def run(self, graph: Graph) -> int:
        return sum(
            _after_moves(graph, op) or _within_mean(graph, op)
            for op in graph.ops
            if len(op.outputs) == 1
        )


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
