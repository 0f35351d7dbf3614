# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX operators for the importers of other frameworks, without an ONNX file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.counted_nodes import convert_counted
from mace.python.tools.importers.onnx.element_types import ElementTypes
from mace.python.tools.importers.onnx.folding import fold_node
from mace.python.tools.importers.onnx.mapped_file import MappedModel
from mace.python.tools.importers.onnx.node import HANDLERS, Node
from mace.python.tools.importers.onnx.standard_functions import standard_body
from mace.python.tools.importers.onnx.tensors import TensorReader
from mace.python.tools.ir.builder import GraphBuilder
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
        attributes: as `onnx.helper.make_node` takes them; None for one left out.

    Raises:
        UnsupportedNodeError: MACE cannot compute this.
    """
    unique = builder.graph.unique_name
    outputs = [unique(f"{label}/{op_type}_{index}") for index in range(count)]
    given = {name: value for name, value in attributes.items() if value is not None}
    names = ["" if value is None else value.name for value in inputs]
    proto = onnx.helper.make_node(op_type, names, outputs, **given)
    proto.name = outputs[0]
    model = onnx.ModelProto()
    reader = TensorReader(MappedModel(Path(label), model, b""))
    applied = _Applied(builder, reader, ElementTypes(model))
    values = applied.convert(proto, inputs, OPSET)
    for value in values:
        if value.source in outputs:
            value.source = None  # no tensor of the framework's
    return values


class _Applied:
    """One operator, and those that it consists of."""

    def __init__(
        self, builder: GraphBuilder, reader: TensorReader, types: ElementTypes
    ) -> None:
        self._builder = builder
        self._reader = reader
        self._types = types

    def convert(
        self, proto: onnx.NodeProto, inputs: Sequence[Value | None], opset: int
    ) -> list[Value]:
        """The results of a node in the order of the outputs that have names."""
        handler = HANDLERS.find(proto.op_type)
        outputs = list(filter(None, proto.output))
        reason = UnsupportedNodeError(f"MACE has no operator {proto.op_type}")
        if handler is not None:
            node = Node(
                proto,
                opset,
                inputs,
                self._builder,
                self._reader,
                frozenset(outputs),
                self._types,
            )
            try:
                if convert_counted(node):
                    return [node.results[name] for name in outputs]
                with self._builder.counted.require_reads(inputs):
                    handler(node)
                return [node.results[name] for name in outputs]
            except UnsupportedNodeError as error:
                reason = error
            self._discard(proto)
        folded = fold_node(proto, opset, inputs, self._builder)
        if folded is not None:
            return [folded[name] for name in outputs]
        body = standard_body(proto, opset, inputs, proto.name)
        if body is None:
            raise reason
        known = {
            name: value
            for name, value in zip(proto.input, inputs)
            if name and value is not None
        }
        for inner in body.nodes:
            given = [known[name] if name else None for name in inner.input]
            results = self.convert(inner, given, body.opset)
            known.update(zip(filter(None, inner.output), results))
        return [known[name] for name in outputs]

    def _discard(self, proto: onnx.NodeProto) -> None:
        """Renames outputs that a handler created before it failed."""
        graph = self._builder.graph
        for name in filter(None, proto.output):
            value = graph.values.get(name)
            if value is not None:
                graph.rename_value(value, graph.unique_name(f"{name}/discarded"))
                value.source = None
