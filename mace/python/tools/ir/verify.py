# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a graph is consistent; run after every pass."""

from __future__ import annotations

from mace.python.tools.catalogue import Packing, attribute_problems, default_catalogue
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import ShapeError, infer_op, infer_quantization
from mace.python.tools.ir.graph import Graph, GraphError, Op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.images import DATA_FORMAT
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import compatible, format_shape


def verify(graph: Graph) -> None:
    """Checks names, connections, order, the catalogue, shapes and types.

    Raises:
        GraphError: lists everything that is wrong.
    """
    problems = _values(graph)
    done: set[str] = {v.name for v in graph.inputs}
    for op in graph.ops:
        problems += _connections(graph, op, done)
        problems += [f"{op.name} ({op.type}) {p}" for p in op_problems(op)]
        problems += _types(op)
        problems += _late_shapes(op)
        problems += _quantization(op)
        done.update(v.name for v in op.outputs)
    for value in graph.outputs:
        if value.name not in done and not value.is_constant:
            problems.append(f"output {value.name} is not produced")
    for value in graph.values.values():
        if value.quantization is not None:
            found = value.quantization.problems(value.dtype, value.shape)
            problems += [f"the quantization of {value.name}: {p}" for p in found]
        axes = value.source_axes
        if axes is not None and sorted(axes) != list(range(value.rank or len(axes))):
            problems.append(
                f"the axes of {value.source} in {value.name} are {list(axes)}"
            )
    if problems:
        raise GraphError("inconsistent graph:\n  " + "\n  ".join(problems))


def op_problems(op: Op) -> list[str]:
    """The differences between an operator and its declaration, including types."""
    problems = declaration_problems(op)
    if op.type not in default_catalogue():
        return problems
    schema = default_catalogue()[op.type]
    quantized = is_quantized(op)
    for side, ports, values in (
        ("input", schema.inputs, op.inputs),
        ("output", schema.outputs, op.outputs),
    ):
        for index, value in enumerate(values):
            if value is None or not ports:
                continue
            port = ports[min(index, len(ports) - 1)]
            as_integers = quantized and DataType.FLOAT32 in port.types
            types = port.quantized if as_integers else port.types
            if value.dtype not in types:
                problems.append(
                    f"{side} {port.name!r} is {value.dtype.value}, takes "
                    + (" or ".join(dtype.value for dtype in types) or "nothing")
                )
            elif as_integers and value.quantization is None:
                problems.append(f"{side} {port.name!r} has no scale")
            elif (
                port.packed is Packing.FILTER
                and not as_integers
                and not value.dtype.is_float
            ):
                # 8 bits are only a storage type for floats.
                problems.append(f"{side} {port.name!r} is {value.dtype.value}")
            elif port.constant and not value.is_constant:
                problems.append(f"{side} {port.name!r} must be a constant")
    return problems


def declaration_problems(op: Op) -> list[str]:
    """The errors in the attributes and the numbers of inputs and outputs."""
    catalogue = default_catalogue()
    if op.type not in catalogue:
        return ["is not in the operator catalogue"]
    schema = catalogue[op.type]
    attrs = dict(op.attrs)
    if rules_of(op.type).layout_inputs:
        attrs.pop(DATA_FORMAT, None)
    problems = attribute_problems(schema, attrs)
    for side, ports, values in (
        ("input", schema.inputs, op.inputs),
        ("output", schema.outputs, op.outputs),
    ):
        variadic = bool(ports) and ports[-1].variadic
        if len(values) > len(ports) and not variadic:
            problems.append(f"has {len(values)} {side}s, takes {len(ports)}")
            continue
        for index in range(max(len(ports), len(values))):
            port = ports[min(index, len(ports) - 1)]
            value = values[index] if index < len(values) else None
            if value is None and not port.optional:
                problems.append(f"lacks {side} {port.name!r}")
    return problems


def _values(graph: Graph) -> list[str]:
    problems = []
    for name, value in graph.values.items():
        if name != value.name:
            problems.append(f"value {value.name} is filed under {name}")
        if value.producer is not None:
            if value.is_constant or value in graph.inputs:
                problems.append(f"{name} has a producer and must not")
            if value not in value.producer.outputs:
                problems.append(f"{name} is not made by its producer")
        elif value.uses and not value.is_constant and value not in graph.inputs:
            problems.append(f"{name} is read but not produced")
        for op, index in value.uses:
            if op not in graph or op.get_input(index) is not value:
                problems.append(f"{name} lists {op.name} as reader wrongly")
    names = [op.name for op in graph.ops]
    if len(set(names)) != len(names):
        problems.append("operator names repeat")
    return problems


def _connections(graph: Graph, op: Op, done: set[str]) -> list[str]:
    problems = []
    for index, value in enumerate(op.inputs):
        if value is None:
            continue
        if graph.values.get(value.name) is not value:
            problems.append(f"{op.name} reads {value.name} of another graph")
        if (op, index) not in value.uses:
            problems.append(f"{value.name} does not know reader {op.name}")
        if not value.is_constant and value.name not in done:
            problems.append(f"{op.name} comes before {value.name}")
    return problems


def _types(op: Op) -> list[str]:
    try:
        found = infer_op(op)
    except ShapeError as error:
        return [str(error)]
    problems = []
    for value, known in zip(op.outputs, found):
        if value.dtype is not known.dtype:
            problems.append(
                f"{value.name} is {value.dtype.value}, its producer makes "
                f"{known.dtype.value}"
            )
        if not compatible(value.shape, known.shape):
            problems.append(
                f"{value.name} has shape {value.shown_shape}, its "
                f"producer makes {format_shape(known.shape)}"
            )
    return problems


def _late_shapes(op: Op) -> list[str]:
    if not rules_of(op.type).largest_shape:
        return []
    return [
        f"{value.name} is read by {user.name}, but only the run determines its shape"
        for value in op.outputs
        for user, _ in value.uses
    ]


def _quantization(op: Op) -> list[str]:
    return [
        f"{value.name} is quantized by {value.quantization}, its producer makes {known}"
        for value, known in zip(op.outputs, infer_quantization(op))
        if known is not None and value.quantization != known
    ]
