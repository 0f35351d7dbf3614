# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports an ONNX file as a graph."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence

import numpy as np
import onnx

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.base import (
    MALFORMED,
    MALFORMED_NODE_ERRORS,
    ImportModelError,
    ImportRequest,
    UnsupportedNodeError,
    UnsupportedNodes,
    framework_format,
    malformed_node,
)
from mace.python.tools.importers.journal import NodeEntry, Outcome
from mace.python.tools.importers.onnx.element_types import ElementTypes
from mace.python.tools.importers.onnx.folding import fold_node
from mace.python.tools.importers.onnx.inferred import inferred_outputs
from mace.python.tools.importers.onnx.mapped_file import read_model
from mace.python.tools.importers.onnx.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.onnx.scope import Scope, open_scope, reads
from mace.python.tools.importers.onnx.standard_functions import Body, standard_body
from mace.python.tools.importers.onnx.tensors import TensorReader
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.graph import DataFormat, Graph, Value
from mace.python.tools.ir.infer import ShapeError

_LOG = logging.getLogger(__name__)

_IF = "If"


def import_model(request: ImportRequest) -> Graph:
    """Reads an ONNX model; see `Importer` in importers/base.py."""
    model = read_model(request.model_path)
    scope = open_scope(model, request)
    types = ElementTypes(model.proto)
    importer = _GraphImporter(request, scope, TensorReader(model), types)
    graph = importer.run()
    _LOG.info(
        "%s: %d of %d ONNX nodes became %d operators",
        request.model_path,
        len(scope.nodes),
        len(model.proto.graph.node),
        len(graph.ops),
    )
    return graph


class _GraphImporter:
    """Imports the nodes that the outputs need."""

    def __init__(
        self,
        request: ImportRequest,
        scope: Scope,
        reader: TensorReader,
        types: ElementTypes,
    ) -> None:
        self._request = request
        self._scope = scope
        self._reader = reader
        self._types = types
        self._builder = GraphBuilder(request.name, "onnx")
        self._values: dict[str, Value] = {}
        self._unknown: set[str] = set()
        self._unsupported = UnsupportedNodes(str(request.model_path), request.journal)
        self._opset = scope.opset
        self._wanted = frozenset(
            [name for node in scope.nodes for name in reads(node)]
            + [output.name for output in request.outputs]
        )

    def run(self) -> Graph:
        for given in self._scope.inputs:
            self._values[given.name] = self._builder.input(
                given.name, given.dtype, given.shape, given.data_format
            )
        for node in self._scope.nodes:
            journal = self._request.journal
            with journal.node(_label(node), _type(node), self._builder.graph) as entry:
                self._import(node, entry)
        self._unsupported.raise_if_any()
        graph = self._builder.graph
        graph.external_files = self._reader.external_files
        for spec in self._request.outputs:
            value = self._value(spec.name)
            order = framework_format(spec.data_format, DataFormat.NCHW)
            self._builder.output(value, spec.name, order)
        graph.prune()
        self._unsupported.add_unfit(graph)
        self._unsupported.raise_if_any()
        graph.sort()
        return graph

    def _import(self, proto: onnx.NodeProto, entry: NodeEntry) -> None:
        known = HANDLERS.find(_type(proto)) is not None or _type(proto) == _IF
        skipped = any(name in self._unknown for name in reads(proto))
        if skipped and known:
            # It cannot be checked until the nodes that it reads are supported.
            self._unknown.update(proto.output)
            entry.outcome = Outcome.NOT_REACHED
            return
        try:
            self._check(proto)
            if skipped:
                raise _no_handler(proto)
            for name, value in self._convert(proto).items():
                self._values[name] = value
        except (UnsupportedNodeError, ShapeError) as error:
            self._unknown.update(proto.output)
            reason = error.reason if isinstance(error, UnsupportedNodeError) else error
            hint = error.hint if isinstance(error, UnsupportedNodeError) else ""
            self._unsupported.add(_label(proto), _type(proto), str(reason), hint)
            if self._request.check_all:
                self._stand_in(proto)

    def _stand_in(self, proto: onnx.NodeProto) -> None:
        """Gives the outputs of a refused node the types and shapes that ONNX infers, so
        that the nodes that read them can be checked.
        """
        if any(name in self._unknown for name in proto.input):
            return
        inputs = [self._value(name) if name else None for name in proto.input]
        outputs = inferred_outputs(proto, self._opset, inputs)
        graph = self._builder.graph
        for name, (dtype, shape) in outputs.items():
            free = graph.unique_name(name)
            self._values[name] = graph.add_value(free, dtype, shape)
            self._unknown.discard(name)

    def _check(self, proto: onnx.NodeProto) -> None:
        """Refuses nodes that violate the operator's own specification."""
        if any(entry.g.node or entry.graphs for entry in proto.attribute):
            # The checker needs to know every tensor outside a subgraph.
            return
        try:
            onnx.checker.check_node(_without_data(proto), self._scope.checker)
        except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[0] if str(error) else "unknown"
            raise UnsupportedNodeError(
                MALFORMED + reason, "export the model again"
            ) from error

    def _convert(self, proto: onnx.NodeProto) -> dict[str, Value]:
        inputs = [self._value(name) if name else None for name in proto.input]
        self._free_names(proto)
        if _type(proto) == _IF:
            return self._branch(proto, inputs[0] if inputs else None)
        node = Node(
            proto,
            self._opset,
            inputs,
            self._builder,
            self._reader,
            self._wanted,
            self._types,
        )
        handler = HANDLERS.find(_type(proto))
        reason = _no_handler(proto)
        if handler is not None:
            try:
                # Infinities and NaN are allowed in a model.
                counted = self._builder.counted
                with np.errstate(all="ignore"), counted.require_reads(inputs):
                    handler(node)
                return node.results
            except UnsupportedNodeError as error:
                reason = error
            except MaceError:
                raise
            except MALFORMED_NODE_ERRORS as error:
                raise malformed_node(error) from error
            self._discard(proto)
        folded = fold_node(proto, self._opset, inputs, self._builder)
        if folded is not None:
            return folded
        body = standard_body(proto, self._opset, inputs, _label(proto))
        if body is None:
            raise reason
        try:
            return self._expand(proto, body)
        except UnsupportedNodeError as error:
            # The reason of the operator's own handler says more to the user.
            raise (error if handler is None else reason) from error

    def _expand(self, proto: onnx.NodeProto, body: Body) -> dict[str, Value]:
        """The results of the nodes that a node consists of."""
        with self._inside(body.opset, body.nodes, proto.output):
            for inner in body.nodes:
                self._inline(inner)
        own = {name for name in proto.output if name}
        for inner in body.nodes:
            for name in inner.output:
                value = self._values.get(name)
                if value is not None and name not in own and value.source == name:
                    value.source = None  # no tensor of the framework's
        return {name: self._value(name) for name in own}

    def _branch(
        self, proto: onnx.NodeProto, condition: Value | None
    ) -> dict[str, Value]:
        """The results of the branch that is taken."""
        branches = {entry.name: entry.g for entry in proto.attribute}
        if condition is None or branches.keys() != {"then_branch", "else_branch"}:
            raise UnsupportedNodeError("its condition or a branch is missing")
        if not condition.is_constant:
            raise UnsupportedNodeError(
                f"the condition ({condition.name}) is computed at run time", STATIC_HINT
            )
        taken = bool(condition.numpy().all())
        graph = branches["then_branch" if taken else "else_branch"]
        for tensor in graph.initializer:
            data = self._reader.constant(tensor, f"initializer {tensor.name!r}")
            self._values[tensor.name] = self._builder.graph.add_constant(
                self._builder.graph.unique_name(tensor.name), data
            )
        results = [value.name for value in graph.output]
        with self._inside(self._opset, graph.node, results):
            for inner in graph.node:
                self._inline(inner)
        return {
            outer: self._builder.alias(self._value(name), outer)
            for outer, name in zip(proto.output, results)
            if outer
        }

    @contextlib.contextmanager
    def _inside(
        self, opset: int, nodes: Sequence[onnx.NodeProto], results: Sequence[str]
    ) -> Iterator[None]:
        """While other nodes take the place of one."""
        before = self._opset, self._wanted
        self._opset = opset
        self._wanted |= {name for node in nodes for name in reads(node)} | {*results}
        try:
            yield
        finally:
            self._opset, self._wanted = before

    def _inline(self, inner: onnx.NodeProto) -> None:
        """Imports a node that takes part in the place of another one."""
        try:
            self._values.update(self._convert(inner))
        except UnsupportedNodeError as error:
            raise UnsupportedNodeError(
                f"it computes {_type(inner)}: {error.reason}", error.hint
            ) from error

    def _free_names(self, proto: onnx.NodeProto) -> None:
        """Renames helper values that have one of the node's own names."""
        graph = self._builder.graph
        for name in filter(None, proto.output):
            if name in self._values or list(proto.output).count(name) > 1:
                raise ImportModelError(
                    f"{self._request.model_path}: two nodes make the tensor {name!r}"
                )
            if name in graph.values:
                graph.rename_value(
                    graph.values[name], graph.unique_name(f"{name}/helper")
                )

    def _discard(self, proto: onnx.NodeProto) -> None:
        """Removes outputs that a handler created before it failed."""
        graph = self._builder.graph
        for name in proto.output:
            value = graph.values.get(name)
            if value is not None and name not in self._values:
                graph.rename_value(value, graph.unique_name(f"{name}/discarded"))
                value.source = None

    def _value(self, name: str) -> Value:
        value = self._values.get(name)
        if value is None:
            tensor = self._scope.initializers.get(name)
            if tensor is None:
                raise ImportModelError(
                    f"{self._request.model_path}: nothing makes the tensor {name!r}"
                )
            data = self._reader.constant(tensor, f"initializer {name!r}")
            value = self._builder.graph.add_constant(name, data)
            self._values[name] = value
        return value


def _is_onnx(domain: str) -> bool:
    return domain in ("", "ai.onnx")


def _type(proto: onnx.NodeProto) -> str:
    if _is_onnx(proto.domain):
        return str(proto.op_type)
    return f"{proto.domain}.{proto.op_type}"


def _label(proto: onnx.NodeProto) -> str:
    return proto.name or next(_named(proto), "(unnamed)")


def _named(proto: onnx.NodeProto) -> Iterator[str]:
    return (name for name in proto.output if name)


def _without_data(proto: onnx.NodeProto) -> onnx.NodeProto:
    """The node without tensors whose bytes are in other files (mapped_file.py). The
    checker would look for the files; TensorReader checks them.
    """
    if not any(_is_external(entry.t) for entry in proto.attribute):
        return proto
    light = onnx.NodeProto()
    light.CopyFrom(proto)
    for entry in light.attribute:
        if _is_external(entry.t):
            entry.t.CopyFrom(onnx.TensorProto(data_type=entry.t.data_type, dims=[0]))
    return light


def _is_external(tensor: onnx.TensorProto) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def _no_handler(proto: onnx.NodeProto) -> UnsupportedNodeError:
    if not _is_onnx(proto.domain):
        return UnsupportedNodeError(
            f"the operator set {proto.domain!r} is not ONNX's own",
            "export the model with standard operators",
        )
    return UnsupportedNodeError(
        "MACE has no such operator",
        "cut the model before it with output_tensors and do this step in the app",
    )
