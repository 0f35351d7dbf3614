# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph as text, one operator per line, for reading and for diff."""

from __future__ import annotations

from mace.python.tools.ir.graph import Graph, Op, Value
from mace.python.tools.ir.shapes import format_shape


def to_text(graph: Graph) -> str:
    """The whole graph; constants appear where they are read."""
    lines = [f"graph {graph.name} ({graph.framework})"]
    for value in graph.inputs:
        lines.append(f"input  {_value(value)} {graph.formats[value.name].value}")
    lines += [_op(op) for op in graph.ops]
    for value in graph.outputs:
        lines.append(f"output {_value(value)} {graph.formats[value.name].value}")
    return "\n".join(lines) + "\n"


def _op(op: Op) -> str:
    outputs = ", ".join(_value(v) for v in op.outputs)
    inputs = ", ".join(_operand(v) for v in op.inputs)
    attrs = "".join(f" {k}={_attr(v)}" for k, v in sorted(op.attrs.items()))
    return f"{outputs} = {op.type}({inputs}){attrs}  # {op.name}"


def _value(value: Value) -> str:
    text = f"%{value.name}: {value.dtype.value}{format_shape(value.shape)}"
    return text if value.quantization is None else f"{text} ({value.quantization})"


def _operand(value: Value | None) -> str:
    if value is None:
        return "-"
    if not value.is_constant:
        return f"%{value.name}"
    return f"const {_value(value)[1:]}"


def _attr(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(str(v) for v in value) + "]"
    return str(value)
