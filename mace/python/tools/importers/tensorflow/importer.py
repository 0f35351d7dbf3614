# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports a frozen graph: chooses and orders its nodes, and reports problems.

Tensors are called `node:output`. The deployment file may say `node` for
`node:0`; inputs and outputs of the model keep the deployment's spelling.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.base import (
    MALFORMED_NODE_ERRORS,
    ImportModelError,
    ImportRequest,
    InputSpec,
    UnsupportedNodeError,
    UnsupportedNodes,
    framework_format,
    malformed_node,
    nearest_names,
    unknown_tensor,
    user_to_framework,
)
from mace.python.tools.importers.journal import NodeEntry, Outcome
from mace.python.tools.importers.tensorflow.context import HANDLERS, Context
from mace.python.tools.importers.tensorflow.node import (
    ELEMENT_TYPES,
    Node,
    split_tensor_name,
    tensor_name,
)
from mace.python.tools.importers.tensorflow.reader import read_nodes
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.graph import DataFormat, Graph, Value
from mace.python.tools.ir.infer import ShapeError
from mace.python.tools.ir.layout import NCHW_TO_NHWC
from mace.python.tools.ir.shapes import from_ints

_CALLS = {"PartitionedCall", "StatefulPartitionedCall", "If", "While"}
_VARIABLES = {"VariableV2", "VarHandleOp", "ReadVariableOp", "Variable"}
_PLACEHOLDERS = {"Placeholder", "PlaceholderV2"}
Tensor = tuple[str, int]


def import_model(request: ImportRequest) -> Graph:
    """Imports a frozen GraphDef; see `importers.base.Importer`."""
    nodes = read_nodes(request.model_path)
    return _Import(request, nodes).run()


class _Import:
    """One import: the file's nodes and the values created from them so far."""

    def __init__(self, request: ImportRequest, nodes: dict[str, Node]) -> None:
        self.request = request
        self.nodes = nodes
        self.builder = GraphBuilder(request.name, "tensorflow")
        self.values: dict[Tensor, Value] = {}
        self.unsupported = UnsupportedNodes(str(request.model_path), request.journal)

    def run(self) -> Graph:
        outputs = [self._find("output_tensors", o.name) for o in self.request.outputs]
        for spec in self.request.inputs:
            self._add_input(spec)
        order = self._order([node for node, _ in outputs])
        self._check_placeholders(order)
        for node in order:
            if any(name == node.name for name, _ in self.values):
                continue  # given by an input
            journal = self.request.journal
            with journal.node(node.name, node.op, self.builder.graph) as entry:
                self._convert(node, entry)
        self.unsupported.raise_if_any()
        self._check_damaged(outputs)
        for tensor, output in zip(outputs, self.request.outputs):
            self.builder.output(
                self.values[tensor],
                output.name,
                framework_format(output.data_format, DataFormat.NHWC),
            )
        self.builder.graph.prune()
        self.unsupported.add_unfit(self.builder.graph)
        self.unsupported.raise_if_any()
        self.builder.graph.sort()
        return self.builder.graph

    def _find(self, key: str, name: str) -> Tensor:
        node, output = split_tensor_name(name)
        if node not in self.nodes:
            raise unknown_tensor(key, name, self.request.model_path, self.nodes)
        return node, output

    def _add_input(self, spec: InputSpec) -> None:
        tensor = self._find("input_tensors", spec.name)
        node = self.nodes[tensor[0]]
        own = node.shape("shape") if node.op in _PLACEHOLDERS else None
        shape = spec.shape or own
        if shape is None:
            raise ImportModelError(
                f"input_shapes: {self.request.model_path} does not say the "
                f"shape of {spec.name}; give it in the deployment file"
            )
        shape = user_to_framework(shape, spec.data_format, DataFormat.NHWC)
        _check_shape(spec, shape, own)
        dtype = spec.dtype
        if node.op in _PLACEHOLDERS and node.integer("dtype") in ELEMENT_TYPES:
            dtype = ELEMENT_TYPES[node.integer("dtype")]
        value = self.builder.input(
            spec.name,
            dtype,
            from_ints(shape),
            framework_format(spec.data_format, DataFormat.NHWC),
        )
        value.source = tensor_name(*tensor)
        self.values[tensor] = value

    def _order(self, roots: list[str]) -> list[Node]:
        """The nodes that the outputs need, producers first."""
        order: list[Node] = []
        done: set[str] = set()
        on_path: set[str] = set()
        stack = [(root, False) for root in reversed(roots)]
        given = {node for node, _ in self.values}
        while stack:
            name, leaving = stack.pop()
            if leaving:
                on_path.discard(name)
                done.add(name)
                order.append(self.nodes[name])
                continue
            if name in done:
                continue
            if name in on_path:
                raise ImportModelError(
                    f"{self.request.model_path}: node {name} depends on "
                    "itself (a loop); loops are not supported"
                )
            if name not in self.nodes:
                reader = next(
                    n.name
                    for n in self.nodes.values()
                    if any(source == name for source, _ in n.inputs)
                )
                raise ImportModelError(
                    f"{self.request.model_path}: node {reader} reads {name!r}, which "
                    "the file does not hold: freeze the model again"
                )
            on_path.add(name)
            stack.append((name, True))
            node = self.nodes[name]
            if name in given:
                continue
            for source in reversed(node.inputs):
                if source not in self.values:
                    stack.append((source[0], False))
        return order

    def _check_placeholders(self, order: list[Node]) -> None:
        missing = [
            n.name
            for n in order
            if n.op in _PLACEHOLDERS and (n.name, 0) not in self.values
        ]
        if missing:
            raise ImportModelError(
                "input_tensors: the outputs also need "
                + ", ".join(missing)
                + ", which the deployment file does not name"
            )

    def _convert(self, node: Node, entry: NodeEntry) -> None:
        handler = HANDLERS.find(node.op)
        if handler is None:
            self.unsupported.add(node.name, node.op, *self._why(node))
            return
        inputs = []
        for source in node.inputs:
            value = self.values.get(source)
            if value is None:
                entry.outcome = Outcome.NOT_REACHED
                return  # caused by a node that is already in the table
            inputs.append(value)
        context = Context(node, self.builder, inputs)
        try:
            # Infinities and NaN are allowed in a model.
            with np.errstate(all="ignore"):
                handler(context)
        except UnsupportedNodeError as error:
            self.unsupported.add(node.name, node.op, error.reason, error.hint)
        except ShapeError as error:
            self.unsupported.add(node.name, node.op, str(error))
        except MaceError:
            raise
        except MALFORMED_NODE_ERRORS as error:
            row = malformed_node(error)
            self.unsupported.add(node.name, node.op, row.reason, row.hint)
        for index, value in context.results.items():
            self.values[node.name, index] = value

    def _why(self, node: Node) -> tuple[str, str]:
        if node.op in _VARIABLES:
            return "a variable", "freeze the model (variables to constants)"
        if node.op in _CALLS:
            return "a call of a function", "freeze the model with functions inlined"
        near = nearest_names(node.op, HANDLERS.types(), 2)
        hint = "supported and similar: " + ", ".join(near) if near else ""
        return "operator not supported", hint

    def _check_damaged(self, outputs: list[Tensor]) -> None:
        for tensor in outputs:
            if tensor not in self.values:
                raise ImportModelError(
                    f"output_tensors: {tensor_name(*tensor)} does not exist: "
                    f"{tensor[0]} has no output {tensor[1]}"
                )


def _check_shape(
    spec: InputSpec, shape: tuple[int, ...], own: tuple[int, ...] | None
) -> None:
    if own is None:
        return
    fits = len(own) == len(shape) and all(
        a == b or a < 0 or b < 0 for a, b in zip(own, shape)
    )
    if fits:
        return
    hint = ""
    if len(own) == len(shape) == 4:
        turned = tuple(shape[axis] for axis in NCHW_TO_NHWC)
        if all(a == b or a < 0 or b < 0 for a, b in zip(own, turned)):
            hint = "; is it NCHW? then say input_data_formats: NCHW"
    raise ImportModelError(
        f"input_shapes: {spec.name} is {list(own)} in the model, which "
        f"{list(shape)} of the deployment file contradicts{hint}"
    )
