# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators with ONNX's meaning for importers, without a file."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.attributes import Attributes
from mace.python.tools.importers.standard.convert import Body, convert
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.builder import GraphBuilder, narrow_constant
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value

# The operator set whose operators these are.
OPSET = 21


def apply_operator(
    builder: GraphBuilder,
    op_type: str,
    inputs: Sequence[Value | None],
    label: str,
    count: int = 1,
    **attributes: Any,
) -> list[Value]:
    """Adds an operator of ONNX to a graph, and returns its results.

    Args:
        builder: of the graph.
        op_type: in ONNX's own operator set.
        inputs: in ONNX's order, None for one left out.
        label: of the framework's node; names begin with it.
        count: of results that are wanted.
        attributes: numbers, texts, arrays and lists of them; None for one left out.

    Raises:
        UnsupportedNodeError: MACE cannot compute this.
    """
    unique = builder.graph.unique_name
    outputs = [unique(f"{label}/{op_type}_{index}") for index in range(count)]
    given = {name: value for name, value in attributes.items() if value is not None}
    plain = {name: _plain(value) for name, value in given.items()}

    def proto() -> onnx.NodeProto:
        names = ["" if value is None else value.name for value in inputs]
        made = onnx.helper.make_node(op_type, names, outputs, **_as_onnx(plain))
        made.name = outputs[0]
        return made

    results = _converted(Node(op_type, OPSET, inputs, outputs, plain, builder), proto)
    values = [results[name] for name in outputs]
    for value in values:
        if value.source in outputs:
            value.source = None  # no tensor of the framework's
    return values


def _converted(node: Node, proto: Callable[[], onnx.NodeProto]) -> Mapping[str, Value]:
    def expand(form: onnx.NodeProto, body: Body) -> dict[str, Value]:
        known = {
            name: value
            for name, value in zip(form.input, node.inputs)
            if value is not None
        }
        for inner in body.nodes:
            given = [known[name] if name else None for name in inner.input]
            part = Node(
                inner.op_type,
                body.opset,
                given,
                inner.output,
                Attributes(inner, _constant),
                node.builder,
                label=inner.name,
            )
            known.update(_converted(part, lambda: inner))  # noqa: B023
        return {name: known[name] for name in form.output if name}

    lacking = UnsupportedNodeError(f"MACE has no operator {node.type}")
    return convert(node, HANDLERS.find(node.type), lacking, proto, expand)


def _constant(tensor: onnx.TensorProto) -> Constant:
    return narrow_constant(onnx.numpy_helper.to_array(tensor))


def _plain(value: Any) -> Any:
    """An attribute as `Node` has it."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, np.ndarray):
        return narrow_constant(value)
    if isinstance(value, (str, Constant)):
        return value
    items = [_plain(item) for item in value]
    if any(isinstance(item, float) for item in items):
        return [float(item) for item in items]
    return items


def _as_onnx(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: onnx.numpy_helper.from_array(value.numpy())
        if isinstance(value, Constant)
        else value
        for name, value in attributes.items()
    }
