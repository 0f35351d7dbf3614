# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a node to operators of MACE: its handler, its result, or simpler nodes.

A node without a handler whose inputs are all known is computed during conversion, by
ONNX's own reference implementation: exporters compute shapes and tables with operators
that no network needs at run time (Range, NonZero, Trilu, ...). Others are replaced by
the simpler nodes that they consist of by ONNX's specification.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import onnx

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    MALFORMED_NODE_ERRORS,
    UnsupportedNodeError,
    malformed_node,
)
from mace.python.tools.importers.standard.attributes import tensor_type_of
from mace.python.tools.importers.standard.counts import settle
from mace.python.tools.importers.standard.node import Handler, Node
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# What nodes of a body may have besides tensors.
_Result = TypeVar("_Result")


def convert(
    node: Node,
    handler: Handler | None,
    lacking: UnsupportedNodeError,
    proto: Callable[[], onnx.NodeProto],
    expand: Callable[[onnx.NodeProto, Body], Mapping[str, _Result]],
) -> Mapping[str, Value | _Result]:
    """The results of a node by the names of its outputs.

    Args:
        handler: of its type; None if there is none.
        lacking: what to say then.
        proto: makes the node as ONNX's own packages take it.
        expand: converts the nodes that it, as `proto` made it, consists of.

    Raises:
        UnsupportedNodeError: MACE cannot compute it.
    """
    reason = lacking
    if handler is not None:
        try:
            # Infinities and NaN are allowed in a model.
            with np.errstate(all="ignore"):
                settle(node)
                with node.builder.counted.require_reads(node.inputs):
                    handler(node)
            return {**node.results}
        except UnsupportedNodeError as error:
            reason = error
        except MaceError:
            raise
        except MALFORMED_NODE_ERRORS as error:
            raise malformed_node(error) from error
        node.discard_outputs()
    form = proto()
    folded = fold_node(form, node.opset, node.inputs, node.builder)
    if folded is not None:
        return {**folded}
    body = standard_body(form, node.opset, node.inputs, node.label)
    if body is None:
        raise reason
    try:
        return {**expand(form, body)}
    except UnsupportedNodeError as error:
        # The reason of the operator's own handler says more to the user.
        raise (error if handler is None else reason) from error


# Results that are known --------------------------------------------------------------

# Their results differ from run to run, so they must not become constants.
RANDOM = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)

# The shapes of their results depend on the elements, but they are never larger than the
# input.
_NEVER_GROWS = frozenset({"Compress", "NonZero", "Unique"})

# Anything larger is not a shape or table, and would be stored in the model.
_LARGEST_RESULT = 1 << 24


def fold_node(
    proto: onnx.NodeProto,
    opset: int,
    inputs: Sequence[Value | None],
    builder: GraphBuilder,
) -> dict[str, Value] | None:
    """The outputs of a node as constants, None if they are not known."""
    if any(value is not None and not value.is_constant for value in inputs):
        return None
    if sum(math.prod(static(v.shape) or ()) for v in inputs if v) > _LARGEST_RESULT:
        return None
    feeds = {
        name: _as_onnx(value.numpy())
        for name, value in zip(proto.input, inputs)
        if value is not None
    }
    results = evaluate_node(proto, opset, feeds)
    if results is None:
        return None
    return {name: builder.constant(name, array) for name, array in results.items()}


def _as_onnx(array: Array) -> Array:
    # The builder has narrowed values that ONNX computes in 64 bits.
    return array.astype(np.int64) if array.dtype == np.int32 else array


def evaluate_node(
    proto: onnx.NodeProto, opset: int, feeds: Mapping[str, Array]
) -> dict[str, Array] | None:
    """The named outputs of a node, None if they are large or no numbers."""
    if proto.domain not in ("", "ai.onnx") or proto.op_type in RANDOM:
        return None
    if any(attribute.g.node or attribute.graphs for attribute in proto.attribute):
        return None
    names = [name for name in proto.output if name]
    graph = onnx.GraphProto(name="fold")
    graph.node.append(proto)
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in feeds)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)]
    )
    if proto.op_type not in _NEVER_GROWS and not _is_small(model, feeds):
        return None
    # Late: it describes all operators of ONNX to itself, and most models need none.
    from onnx.reference import ReferenceEvaluator

    try:
        with np.errstate(all="ignore"):
            arrays = ReferenceEvaluator(model).run(names, dict(feeds))
    except Exception:
        # Whatever the error is, the node is not computed here; it is reported with the
        # reason from its handler.
        return None
    if not all(_is_numeric(array) for array in arrays):
        return None
    return {name: np.asarray(array) for name, array in zip(names, arrays)}


def _is_small(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> bool:
    """Whether the results are known to be small before they are computed. A few numbers
    (the end of a range, a shape) can request any size.
    """
    sized = onnx.ModelProto()
    sized.CopyFrom(model)
    del sized.graph.input[:]
    for name, array in feeds.items():
        sized.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    try:
        inferred = onnx.shape_inference.infer_shapes(
            sized, check_type=False, strict_mode=True, data_prop=True
        )
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return False
    for value in inferred.graph.output:
        kind = value.type.tensor_type
        if not kind.HasField("shape"):
            return False
        if not all(dim.HasField("dim_value") for dim in kind.shape.dim):
            return False
        if math.prod(dim.dim_value for dim in kind.shape.dim) > _LARGEST_RESULT:
            return False
    return True


def _is_numeric(array: object) -> bool:
    if not isinstance(array, (np.ndarray, np.generic)):
        return False
    if array.size > _LARGEST_RESULT:
        return False
    try:
        DataType.of(array.dtype)
    except ValueError:
        return False
    return True


# Nodes that operators consist of -----------------------------------------------------

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
