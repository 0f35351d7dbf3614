# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports a graph: chooses and orders its nodes, and reports problems.

Tensors are called `node:output`. The deployment file may say `node` for
`node:0`, and with a SavedModel the name that its signature has for an input or output;
inputs and outputs of the model keep the deployment's spelling.
"""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodes,
    missing_inputs,
    unknown_tensor,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    add_output,
)
from mace.python.tools.importers.tensorflow.body import Body, Scope
from mace.python.tools.importers.tensorflow.node import (
    PLACEHOLDERS,
    Tensor,
    split_tensor_name,
)
from mace.python.tools.importers.tensorflow.reader import GraphFile
from mace.python.tools.importers.tf_operators.context import TensorList, Variable
from mace.python.tools.importers.tf_operators.node import (
    ELEMENT_TYPES,
    Node,
    tensor_name,
)
from mace.python.tools.ir.graph import DataFormat, Graph, Value


def build(request: ImportRequest, file: GraphFile) -> Graph:
    """See `importers.frame.opened.Framework`."""
    return _Import(request, file).run()


class _Import:
    """One import: the file's nodes and the values created from them so far."""

    def __init__(self, request: ImportRequest, file: GraphFile) -> None:
        self.request = request
        self.nodes = file.nodes
        self.inputs = {
            name: split_tensor_name(info.name)
            for name, info in file.signature.inputs.items()
        }
        self.signature = file.signature.tensors()
        self.builder = request.builder("tensorflow")
        self.scope = Scope(file.nodes)
        self.unsupported = UnsupportedNodes(str(request.model_path), request.journal)
        self.body = Body(
            request.model_path,
            self.builder,
            file.functions,
            self.unsupported,
            file.variables.read,
        )

    def run(self) -> Graph:
        outputs = [self._find("output_tensors", o.name) for o in self.request.outputs]
        for spec in self.request.inputs:
            self._add_input(spec)
        given = {node for node, _ in self.scope.values}
        order = self.body.ordered(self.scope, [node for node, _ in outputs])
        self._check_placeholders(order)
        for node in order:
            if any(name == node.name for name, _ in self.scope.values):
                continue  # given by an input
            journal = self.request.journal
            with journal.node(node.name, node.op, self.builder.graph) as entry:
                if not self.body.convert(self.scope, node):
                    entry.not_reached()
        self.body.check_effects(self.nodes, [node for node, _ in outputs], given)
        self.unsupported.raise_if_any()
        for tensor, output in zip(outputs, self.request.outputs):
            add_output(self.builder, self._output(tensor), output, DataFormat.NHWC)
        return self.unsupported.finish(self.builder.graph)

    def _find(self, key: str, name: str) -> Tensor:
        # An input and an output of a SavedModel may have the same name.
        named = self.inputs.get(name) if key == "input_tensors" else None
        named = named or self.signature.get(name)
        node, output = named or split_tensor_name(name)
        if node not in self.nodes:
            # Weights have names, too, that nobody means; a SavedModel has many more
            # nodes, most of them to save and to load.
            others = [node.name for node in self.nodes.values() if node.op != "Const"]
            known = self.signature or others
            raise unknown_tensor(key, name, self.request.model_path, known)
        return node, output

    def _add_input(self, spec: InputSpec) -> None:
        tensor = self._find("input_tensors", spec.name)
        node = self.nodes[tensor[0]]
        own = node.shape("shape") if node.op in PLACEHOLDERS else None
        dtype = None
        if node.op in PLACEHOLDERS:
            dtype = ELEMENT_TYPES.get(node.integer("dtype"))
        self.scope.values[tensor] = self.request.add_input(
            self.builder,
            spec,
            own,
            DataFormat.NHWC,
            dtype=dtype,
            source=tensor_name(*tensor),
        )

    def _check_placeholders(self, order: list[Node]) -> None:
        missing = [
            n.name
            for n in order
            if n.op in PLACEHOLDERS and (n.name, 0) not in self.scope.values
        ]
        if missing:
            raise missing_inputs(missing)

    def _output(self, tensor: Tensor) -> Value:
        value = self.scope.values.get(tensor)
        if value is None:
            raise ImportModelError(
                f"output_tensors: {tensor_name(*tensor)} does not exist: "
                f"{tensor[0]} has no output {tensor[1]}"
            )
        if isinstance(value, Variable):
            return value.value
        if isinstance(value, TensorList):
            raise ImportModelError(
                f"output_tensors: {tensor_name(*tensor)} is a list of tensors; "
                "name the tensor that is made of it"
            )
        return value
