# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Changes layout-bound operators and the model's inputs and outputs to NHWC.

Each operator that needs channels first gets a transpose before and one after.
`sink_transposes` cancels most of them.
"""

from __future__ import annotations

from mace.python.tools.ir import DataFormat, Graph, Op, Value
from mace.python.tools.ir.layout import (
    NCHW_TO_NHWC,
    NHWC_TO_NCHW,
    to_channels_first,
    to_channels_last,
)
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.images import DATA_FORMAT, data_format
from mace.python.tools.ir.shapes import permute
from mace.python.tools.passes.base import Pass


class ChannelsLast(Pass):
    """NCHW to NHWC, exactly."""

    name = "channels_last"
    requires = ("channel_shuffle", "fold_constants", "symbolic_shapes")
    provides = ("channels_last",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if data_format(op) is DataFormat.NCHW:
                _wrap(graph, op)
                count += 1
            elif DATA_FORMAT in op.attrs:
                del op.attrs[DATA_FORMAT]
                count += 1
        for value in list(graph.inputs):
            if graph.formats[value.name] is DataFormat.NCHW:
                _turn_input(graph, value)
                count += 1
        for value in list(graph.outputs):
            if graph.formats[value.name] is DataFormat.NCHW:
                _turn_output(graph, value)
                count += 1
        return count


def transposed(graph: Graph, value: Value, perm: tuple[int, ...]) -> Value:
    """A new value: `value` with its axes permuted."""
    shape = None if value.shape is None else permute(value.shape, perm)
    name = graph.unique_name(f"{value.name}/transposed")
    result = graph.add_value(name, value.dtype, shape)
    result.quantization = value.quantization and value.quantization.permuted(perm)
    graph.add_op("Transpose", [value], [result], {"perm": perm}, name)
    return result


def _wrap(graph: Graph, op: Op) -> None:
    del op.attrs[DATA_FORMAT]
    rank = op.output.rank or 4
    if rank < 3:
        return
    for port in rules_of(op.type).layout_inputs:
        value = op.get_input(port)
        if value is not None:
            op.set_input(port, transposed(graph, value, to_channels_last(rank)))
    insert_transpose_after(
        graph, op.output, to_channels_last(rank), to_channels_first(rank)
    )


def insert_transpose_after(
    graph: Graph, value: Value, inner: tuple[int, ...], outer: tuple[int, ...]
) -> None:
    """Makes the producer of `value` compute it permuted by `inner`. `value` itself
    becomes the output of a Transpose by `outer`, the inverse, and keeps its name, so
    that readers and model outputs are not affected. The framework's name moves to the
    inner value, which remains.
    """
    op = value.producer
    assert op is not None
    shape = None if value.shape is None else permute(value.shape, inner)
    name = graph.unique_name(f"{value.name}/nhwc")
    made = graph.add_value(name, value.dtype, shape)
    made.take_source(value, inner)
    made.quantization = value.quantization and value.quantization.permuted(inner)
    graph.replace_output(op, value, made)
    graph.add_op("Transpose", [made], [value], {"perm": outer}, f"{op.name}/nchw")


def _turn_input(graph: Graph, value: Value) -> None:
    readers = list(value.uses)
    shape = value.shape
    value.shape = None if shape is None else permute(shape, NCHW_TO_NHWC)
    value.take_source(value, NCHW_TO_NHWC)
    if value.quantization is not None:
        value.quantization = value.quantization.permuted(NCHW_TO_NHWC)
    graph.formats[value.name] = DataFormat.NHWC
    if readers:
        inner = transposed(graph, value, NHWC_TO_NCHW)
        for op, port in readers:
            op.set_input(port, inner)


def _turn_output(graph: Graph, value: Value) -> None:
    """The transposed value takes the name; the old one gets another."""
    name = value.name
    graph.formats[name] = DataFormat.NHWC
    graph.rename_value(value, graph.unique_name(f"{name}/nchw"))
    result = transposed(graph, value, NCHW_TO_NHWC)
    result.take_source(value, NCHW_TO_NHWC)
    graph.outputs[graph.outputs.index(value)] = result
    graph.formats.pop(value.name, None)
    graph.rename_value(result, name)
    graph.formats[name] = DataFormat.NHWC
    producer = value.producer
    if producer is not None and producer.type == "Identity":
        # The Identity between an input and an output is replaced by a Transpose.
        graph.bypass(producer)
