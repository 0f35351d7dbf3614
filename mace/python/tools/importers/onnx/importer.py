# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports an ONNX file as a graph."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import onnx

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    MALFORMED,
    MALFORMED_NODE_ERRORS,
    ImportModelError,
    UnsupportedNodeError,
    UnsupportedNodes,
    malformed_node,
)
from mace.python.tools.importers.frame.journal import NodeEntry, Outcome
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    add_output,
)
from mace.python.tools.importers.onnx.inferred import ElementTypes, inferred_outputs
from mace.python.tools.importers.onnx.inner_graphs import reads
from mace.python.tools.importers.onnx.mapped_file import MappedModel, TensorReader
from mace.python.tools.importers.onnx.node import node_of
from mace.python.tools.importers.onnx.scope import Scope, open_scope
from mace.python.tools.importers.onnx.sequences import (
    Known,
    describe,
    find_handler,
    sequence_types,
)
from mace.python.tools.importers.onnx.subgraphs import RUN
from mace.python.tools.importers.standard.convert import Body, convert
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.evaluate import ShapeError
from mace.python.tools.ir.graph import DataFormat, Graph, Value

_LOG = logging.getLogger(__name__)

_KALDI = "kaldi"

# Operators in ONNX's domain that its specification does not have.
_OF_ONNXRUNTIME = frozenset({"SimplifiedLayerNormalization"})

# Operators without a handler, of which nothing but tensors is left.
STRUCTURES = tuple(sorted([*RUN, *sequence_types()]))


def build(request: ImportRequest, model: MappedModel) -> Graph:
    """See `importers.frame.opened.Framework`."""
    scope = open_scope(model, request)
    types = ElementTypes(model.proto)
    importer = _GraphImporter(request, scope, TensorReader(model), types)
    graph = importer.import_graph()
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
        self._builder = request.builder("onnx")
        self._values: dict[str, Known] = {}
        self._unknown: set[str] = set()
        self._unsupported = UnsupportedNodes(str(request.model_path), request.journal)
        self._opset = scope.opset
        # Grows with nodes that take the place of another one; their names are their
        # own.
        self._wanted = {name for node in scope.nodes for name in reads(node)}
        self._wanted.update(output.name for output in request.outputs)

    def import_graph(self) -> Graph:
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
            value = self._output(spec.name)
            own = self._types.declared_output(spec.name) or value.dtype
            add_output(self._builder, value, spec, DataFormat.NCHW, own)
        return self._unsupported.finish(graph)

    def _import(self, proto: onnx.NodeProto, entry: NodeEntry) -> None:
        kind = _type(proto)
        known = HANDLERS.find(kind) is not None or kind in STRUCTURES
        skipped = any(name in self._unknown for name in reads(proto))
        if skipped and known:
            # It cannot be checked until the nodes that it reads are supported.
            self._unknown.update(_named(proto))
            entry.outcome = Outcome.NOT_REACHED
            return
        try:
            self._check(proto)
            if skipped:
                raise _no_handler(proto)
            for name, value in self._convert(proto).items():
                self._values[name] = value
        except (UnsupportedNodeError, ShapeError) as error:
            self._unknown.update(_named(proto))
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
        inputs: list[Value | None] = []
        for name in proto.input:
            value = self.known(name) if name else None
            if value is not None and not isinstance(value, Value):
                return
            inputs.append(value)
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
        if _is_onnx(proto.domain) and (
            proto.op_type in _OF_ONNXRUNTIME
            # Somebody's own, in ONNX's domain.
            or not onnx.defs.has(proto.op_type)
            or self._is_deprecated(proto.op_type)
        ):
            return
        try:
            onnx.checker.check_node(_without_data(proto), self._scope.checker)
        except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[0] if str(error) else "unknown"
            raise UnsupportedNodeError(
                MALFORMED + reason, "export the model again"
            ) from error

    def _is_deprecated(self, op_type: str) -> bool:
        """Whether its version was withdrawn, so that the checker refuses each node of
        it; runtimes compute it all the same.
        """
        try:
            return bool(onnx.defs.get_schema(op_type, self._opset).deprecated)
        except onnx.defs.SchemaError:
            return False

    def _convert(self, proto: onnx.NodeProto) -> dict[str, Known]:
        given = [self.known(name) if name else None for name in proto.input]
        self._free_names(proto)
        inputs = [value if isinstance(value, Value) else None for value in given]
        with self._builder.results_of(
            lambda: [self._types.find(name) for name in proto.output if name]
        ):
            return self._convert_given(proto, given, inputs)

    def _convert_given(
        self,
        proto: onnx.NodeProto,
        given: Sequence[Known | None],
        inputs: Sequence[Value | None],
    ) -> dict[str, Known]:
        node = node_of(
            proto,
            self._opset,
            inputs,
            self._builder,
            self._reader,
            self._wanted,
            self._types,
        )
        of_sequences = find_handler(_type(proto), given)
        try:
            if _type(proto) in RUN:
                return self._named(proto, RUN[_type(proto)](self, node, given))
            if of_sequences is not None:
                return self._named(proto, [of_sequences(node, given)])
        except MaceError:
            raise
        except MALFORMED_NODE_ERRORS as error:
            raise malformed_node(error) from error
        for index, value in enumerate(given):
            if value is not None and not isinstance(value, Value):
                raise UnsupportedNodeError(f"input {index} is {describe(value)}")
        return self._convert_tensors(proto, node)

    def _convert_tensors(self, proto: onnx.NodeProto, node: Node) -> dict[str, Known]:
        handler = HANDLERS.find(_type(proto))
        lacking = _no_handler(proto)
        return {**convert(node, handler, lacking, lambda: proto, self._expand)}

    def _expand(self, proto: onnx.NodeProto, body: Body) -> dict[str, Known]:
        """The results of the nodes that a node consists of."""
        before, self._opset = self._opset, body.opset
        try:
            self._run(body.nodes, proto.output, frozenset(proto.output))
        finally:
            self._opset = before
        return {name: self.known(name) for name in _named(proto)}

    def run(self, nodes: Sequence[onnx.NodeProto], results: Sequence[str]) -> None:
        """Imports nodes in place of another one (subgraphs.py)."""
        self._run(nodes, results, frozenset())

    def _run(
        self,
        nodes: Sequence[onnx.NodeProto],
        results: Sequence[str],
        sources: frozenset[str],
    ) -> None:
        self._wanted.update(name for node in nodes for name in reads(node))
        self._wanted.update(filter(None, results))
        for node in nodes:
            self._inline(node)
            for name in _named(node):
                value = self._values.get(name)
                if name in sources or not isinstance(value, Value):
                    continue
                if value.source == name:
                    value.source = None  # no tensor of the framework's

    def _named(
        self, proto: onnx.NodeProto, results: Sequence[Known]
    ) -> dict[str, Known]:
        """The results of a node by its own names."""
        if len(results) < len(proto.output):
            raise UnsupportedNodeError(
                f"it has {len(proto.output)} outputs, but makes {len(results)}"
            )
        return {
            name: self._builder.alias(value, name)
            if isinstance(value, Value)
            else value
            for name, value in zip(proto.output, results)
            if name
        }

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
        for name in _named(proto):
            if name in self._values or list(proto.output).count(name) > 1:
                raise ImportModelError(
                    f"{self._request.model_path}: two nodes make the tensor {name!r}"
                )
            if name in graph.values:
                graph.rename_value(
                    graph.values[name], graph.unique_name(f"{name}/helper")
                )

    def bind(self, name: str, value: Known) -> None:
        """Gives a value a new name (subgraphs.py)."""
        self._values[name] = value

    def bind_constant(self, name: str, data: onnx.TensorProto) -> None:
        """Names an initializer of a subgraph (subgraphs.py)."""
        constant = self._reader.constant(data, f"initializer {data.name!r}")
        graph = self._builder.graph
        self._values[name] = graph.add_constant(graph.unique_name(name), constant)

    def _output(self, name: str) -> Value:
        value = self.known(name)
        if not isinstance(value, Value):
            raise ImportModelError(
                f"output_tensors: {name!r} of {self._request.model_path} is "
                f"{describe(value)}, not a tensor"
            )
        return value

    def known(self, name: str) -> Known:
        """What a name stands for."""
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
    if _KALDI in proto.domain:  # its versions have different names
        return f"{_KALDI}.{proto.op_type}"
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
    if _KALDI in proto.domain:
        return UnsupportedNodeError(
            "MACE has no such component of Kaldi", "end the model before it"
        )
    if proto.domain == "ai.onnx.ml":
        return UnsupportedNodeError(
            "an operator of classical machine learning",
            "end the model before it with output_tensors, and do this step in the app",
        )
    if not _is_onnx(proto.domain):
        return UnsupportedNodeError(
            f"the operator set {proto.domain!r} is not ONNX's own",
            "export the model with standard operators, or convert it with a handler of "
            "your own (custom_ops)",
        )
    return UnsupportedNodeError(
        "MACE has no such operator",
        "cut the model before it with output_tensors and do this step in the app",
    )
