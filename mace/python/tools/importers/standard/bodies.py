# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that ONNX's specification defines by simpler ones.

The specification has their bodies, some for given attributes and types of inputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import onnx

from mace.python.tools.importers.standard.element_types import tensor_type_of
from mace.python.tools.importers.standard.folding import RANDOM
from mace.python.tools.ir.graph import Value

# Names that have another meaning for the nodes of a body.
_Rename = Callable[[str], str]


@dataclass(frozen=True)
class Body:
    """Nodes that compute the outputs of another one from its inputs.

    Attributes:
        nodes: their inner tensors have names that begin with the label of the node.
        opset: version of the operator set that they belong to.
    """

    nodes: tuple[onnx.NodeProto, ...]
    opset: int


def standard_body(
    proto: onnx.NodeProto, opset: int, inputs: Sequence[Value | None], label: str
) -> Body | None:
    """What a node of ONNX's own operator set consists of; None if nothing is said.

    Args:
        opset: version of the operator set of the model.
        inputs: of the node, None for one left out.
        label: unique in the model.
    """
    if proto.domain not in ("", "ai.onnx") or proto.op_type in RANDOM:
        return None
    try:
        schema = onnx.defs.get_schema(proto.op_type, opset)
    except onnx.defs.SchemaError:
        return None
    found = _function(schema, proto, opset, inputs)
    if found is None:
        return None
    function, version = found
    names = dict(zip(function.input, proto.input))
    # Inputs that are left out at the end.
    names.update(dict.fromkeys(function.input[len(proto.input) :], ""))
    outputs = {
        inner: outer for inner, outer in zip(function.output, proto.output) if outer
    }
    names.update(outputs)

    def rename(name: str) -> str:
        return names.get(name, f"{label}/{name}") if name else ""

    given = {attribute.name: attribute for attribute in proto.attribute}
    defaults = {
        name: declared.default_value
        for name, declared in schema.attributes.items()
        if declared.default_value.type != onnx.AttributeProto.UNDEFINED
    }
    attributes = {**defaults, **given}
    nodes = tuple(renamed(node, rename, attributes) for node in function.node)
    return Body(nodes, version)


def _function(
    schema: onnx.defs.OpSchema,
    proto: onnx.NodeProto,
    opset: int,
    inputs: Sequence[Value | None],
) -> tuple[onnx.FunctionProto, int] | None:
    """The body that fits the operator set best, and its own version of that set."""
    version = _nearest(schema.function_opset_versions, opset)
    if version is not None:
        data = schema.get_function_with_opset_version(version)
    else:
        version = _nearest(schema.context_dependent_function_opset_versions, opset)
        if version is None:
            return None
        types = [tensor_type_of(value) for value in inputs]
        try:
            data = schema.get_context_dependent_function_with_opset_version(
                version, proto.SerializeToString(), types
            )
        except (RuntimeError, ValueError):
            return None  # not for these attributes
    function = onnx.FunctionProto.FromString(data)
    stated = [e.version for e in function.opset_import if e.domain in ("", "ai.onnx")]
    return (function, stated[0] if stated else version) if function.node else None


def _nearest(versions: Sequence[int], opset: int) -> int | None:
    """The newest of these up to `opset`, or else the oldest."""
    older = [version for version in versions if version <= opset]
    return max(older, default=min(versions, default=None))


def renamed(
    node: onnx.NodeProto,
    rename: _Rename,
    attributes: Mapping[str, onnx.AttributeProto],
) -> onnx.NodeProto:
    """A copy with other names of tensors, and with the attributes that it refers to."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.name = rename(node.output[0]) if node.output else ""
    copy.input[:] = [rename(name) for name in node.input]
    copy.output[:] = [rename(name) for name in node.output]
    del copy.attribute[:]
    for entry in node.attribute:
        if entry.ref_attr_name:
            if entry.ref_attr_name in attributes:
                own = copy.attribute.add()
                own.CopyFrom(attributes[entry.ref_attr_name])
                own.name = entry.name
            continue
        own = copy.attribute.add()
        own.CopyFrom(entry)
        for graph in (own.g, *own.graphs):
            _rename_graph(graph, rename, attributes)
    return copy


def _rename_graph(
    graph: onnx.GraphProto,
    rename: _Rename,
    attributes: Mapping[str, onnx.AttributeProto],
) -> None:
    nodes = [renamed(node, rename, attributes) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    for entry in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        entry.name = rename(entry.name)
