# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the wanted part of an ONNX graph, and its inputs and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import onnx

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import ImportModelError, unknown_tensor
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    border_type,
    framework_format,
    shape_conflict,
    user_to_framework,
)
from mace.python.tools.importers.onnx.inner_graphs import inline_functions, reads
from mace.python.tools.importers.onnx.mapped_file import MappedModel
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    element_type_name,
)
from mace.python.tools.ir.dims import Dim, formula
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import Shape, compatible, format_shape


@dataclass(frozen=True)
class GraphInput:
    """An input of the part that is imported, in ONNX's order of dimensions."""

    name: str
    dtype: DataType
    shape: Shape
    data_format: DataFormat


@dataclass(frozen=True)
class Scope:
    """The wanted part of a model.

    Attributes:
        inputs: in the order of the deployment file.
        nodes: those that the outputs need, producers first.
        initializers: every one of the graph, by name.
        opset: version of ONNX's own operator set.
        checker: for `onnx.checker`.
    """

    inputs: tuple[GraphInput, ...]
    nodes: tuple[onnx.NodeProto, ...]
    initializers: Mapping[str, onnx.TensorProto]
    opset: int
    checker: onnx.checker.C.CheckerContext


def open_scope(model: MappedModel, request: ImportRequest) -> Scope:
    """Finds what the request asks for.

    Raises:
        ImportModelError: a tensor is not in the model, an input is missing or
            a shape contradicts the model; tells all of them at once.
    """
    versions = opsets(model)
    proto = inline_functions(model.proto, model.path)
    graph = proto.graph
    if graph.sparse_initializer:
        raise ImportModelError(
            f"{model.path}: sparse initializers cannot be read; save them dense"
        )
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    producers = {name: node for node in graph.node for name in node.output if name}
    _check_names(model, request, initializers, producers)
    nodes, missing = _needed_nodes(model, request, initializers, producers)
    if missing:
        have = [name for name in missing if name in free_inputs(graph, initializers)]
        _refuse_missing(model, request, missing, have)
    checker = onnx.checker.C.CheckerContext()
    checker.ir_version = max(proto.ir_version, 3)
    checker.opset_imports = versions
    return Scope(
        inputs=_graph_inputs(model, request, producers),
        nodes=nodes,
        initializers=initializers,
        opset=versions[""],
        checker=checker,
    )


def opsets(model: MappedModel) -> dict[str, int]:
    """The versions of operator sets by domain; '' is ONNX's own.

    Raises:
        ImportModelError: that one is newer than the onnx package.
    """
    versions: dict[str, int] = {}
    for entry in model.proto.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        versions[domain] = entry.version
    # Before IR version 3, there was only one set, and no field for it.
    versions.setdefault("", 1)
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= versions[""] <= newest:
        raise ImportModelError(
            f"{model.path} uses operator set {versions['']}; 1 to {newest} can be "
            "read. Install a newer onnx package, or export the model for an older set"
        )
    return versions


def free_inputs(graph: onnx.GraphProto, initializers: Container[str]) -> list[str]:
    """The inputs that have to be given."""
    return [value.name for value in graph.input if value.name not in initializers]


def _check_names(
    model: MappedModel,
    request: ImportRequest,
    initializers: Mapping[str, onnx.TensorProto],
    producers: Mapping[str, onnx.NodeProto],
) -> None:
    graph = model.proto.graph
    inputs = free_inputs(graph, initializers)
    outputs = [value.name for value in graph.output]
    # The model's own names come first: users mean them most often.
    known = dict.fromkeys([*inputs, *outputs, *producers, *initializers])
    known.update(dict.fromkeys(value.name for value in graph.input))
    # Weights have names, too, that nobody means.
    offered = [name for name in known if name not in initializers]
    problems: list[str] = []
    for key, specs in (
        ("input_tensors", request.inputs),
        ("output_tensors", request.outputs),
    ):
        problems += [
            str(unknown_tensor(key, spec.name, model.path, offered))
            for spec in specs
            if spec.name not in known
        ]
    problems += request.name_problems()
    if not request.outputs:
        problems.append("output_tensors: at least one is needed")
    if problems:
        shapes = {value.name: _shown(value) for value in (*graph.input, *graph.output)}
        problems.append(
            f"inputs of the model: {', '.join(shapes[n] for n in inputs) or 'none'}; "
            f"outputs: {', '.join(shapes[n] for n in outputs) or 'none'}"
        )
        raise ImportModelError("\n".join(problems))


def _shown(value: onnx.ValueInfoProto) -> str:
    """A name with its shape."""
    name = str(value.name)
    if not value.type.HasField("tensor_type"):
        return name
    shape = declared_shape(value.type.tensor_type)
    return name if shape is None else f"{name} {format_shape(shape)}"


def _needed_nodes(
    model: MappedModel,
    request: ImportRequest,
    initializers: Mapping[str, onnx.TensorProto],
    producers: Mapping[str, onnx.NodeProto],
) -> tuple[tuple[onnx.NodeProto, ...], list[str]]:
    """The nodes between inputs and outputs, and the tensors that no node produces."""
    given = {spec.name for spec in request.inputs}
    ordered: dict[int, onnx.NodeProto] = {}
    missing: dict[str, None] = {}
    open_nodes: set[int] = set()
    stack = [(spec.name, False) for spec in reversed(request.outputs)]
    while stack:
        name, done = stack.pop()
        node = producers.get(name)
        if name in given or not name:
            continue
        if node is None:
            if name not in initializers:
                missing[name] = None
            continue
        if id(node) in ordered:
            continue
        if done:
            open_nodes.discard(id(node))
            ordered[id(node)] = node
            continue
        if id(node) in open_nodes:
            raise ImportModelError(
                f"{model.path}: the tensor {name!r} depends on itself"
            )
        open_nodes.add(id(node))
        stack.append((name, True))
        stack += [(entry, False) for entry in reversed(reads(node))]
    return tuple(ordered.values()), list(missing)


def _refuse_missing(
    model: MappedModel,
    request: ImportRequest,
    missing: Iterable[str],
    inputs: Sequence[str],
) -> None:
    asked = [spec.name for spec in request.outputs]
    own = ", ".join(repr(value.name) for value in model.proto.graph.output)
    taken = [name for name in inputs if name in asked]
    if taken:
        names = ", ".join(repr(name) for name in taken)
        raise ImportModelError(
            f"output_tensors: {names} is an input of {model.path}, whose outputs are "
            f"{own}"
        )
    outputs = ", ".join(map(repr, asked))
    lost = [name for name in missing if name not in set(inputs)]
    problems = []
    if inputs:
        names = ", ".join(repr(name) for name in inputs)
        problems.append(f"input_tensors: {outputs} also needs {names} of {model.path}")
    if lost:
        names = ", ".join(repr(name) for name in lost)
        problems.append(f"{model.path}: nothing makes the tensor {names}")
    raise ImportModelError("\n".join(problems))


def _graph_inputs(
    model: MappedModel,
    request: ImportRequest,
    producers: Mapping[str, onnx.NodeProto],
) -> tuple[GraphInput, ...]:
    graph = model.proto.graph
    declared = {value.name: value.type for value in (*graph.value_info, *graph.input)}
    for tensor in graph.initializer:
        kind = declared.setdefault(tensor.name, onnx.TypeProto())
        if not kind.tensor_type.elem_type:
            kind.tensor_type.elem_type = tensor.data_type
    problems: list[str] = []
    inputs = []
    symbols = _symbols(graph)
    for spec in request.inputs:
        kind = declared.get(spec.name)
        try:
            inputs.append(_with_formulas(_graph_input(model, spec, kind), symbols))
        except ImportModelError as error:
            problems.append(str(error))
    if problems:
        raise ImportModelError("\n".join(problems))
    return tuple(inputs)


def _symbols(graph: onnx.GraphProto) -> set[str]:
    """The names of open dimensions of the model's inputs."""
    return {
        dim.dim_param
        for value in graph.input
        for dim in value.type.tensor_type.shape.dim
        if dim.dim_param
    }


def _with_formulas(given: GraphInput, symbols: Container[str]) -> GraphInput:
    """An input whose dimensions may be sums of those of others: exporters write the
    length of a mask as `past_sequence_length + sequence_length`.
    """
    shape = tuple(
        formula(symbols, dim) if isinstance(dim, str) else dim for dim in given.shape
    )
    return replace(given, shape=shape)


def _graph_input(
    model: MappedModel, spec: InputSpec, kind: onnx.TypeProto | None
) -> GraphInput:
    dtype = spec.dtype
    own: Shape | None = None
    if kind is not None and kind.WhichOneof("value") == "optional_type":
        kind = kind.optional_type.elem_type  # whoever names the input gives it
    if kind is not None and kind.WhichOneof("value") == "tensor_type":
        dtype = _element_type(model, spec.name, kind.tensor_type.elem_type, dtype)
        own = declared_shape(kind.tensor_type)
    elif kind is not None and kind.WhichOneof("value"):
        raise ImportModelError(
            f"input_tensors: {spec.name!r} of {model.path} is no tensor but a "
            f"{kind.WhichOneof('value').replace('_type', '')}"
        )
    shape = _wanted_shape(model, spec, own)
    order = framework_format(spec.data_format, DataFormat.NCHW)
    return GraphInput(spec.name, border_type(dtype, spec), shape, order)


def _element_type(
    model: MappedModel, name: str, number: int, default: DataType
) -> DataType:
    if number == onnx.TensorProto.UNDEFINED:
        return default
    if number not in ELEMENT_TYPES:
        raise ImportModelError(
            f"input_tensors: {name!r} of {model.path} has elements of type "
            f"{element_type_name(number)}, which MACE does not compute with"
        )
    return ELEMENT_TYPES[number]


def declared_shape(kind: onnx.TypeProto.Tensor) -> Shape | None:
    """What a type says of the shape."""
    return tuple(map(_declared, kind.shape.dim)) if kind.HasField("shape") else None


def _declared(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    # PyTorch writes a number as a name where the network allows no other one.
    return int(dim.dim_param) if dim.dim_param.isdecimal() else dim.dim_param or None


def _wanted_shape(model: MappedModel, spec: InputSpec, own: Shape | None) -> Shape:
    if not spec.shape:
        if own is None:
            raise ImportModelError(
                f"input_shapes: {model.path} does not say the shape of "
                f"{spec.name!r}; give it"
            )
        return own
    asked = user_to_framework(spec.shape, spec.data_format, DataFormat.NCHW)
    shape: Shape = tuple(None if dim < 0 else dim for dim in asked)
    if not compatible(shape, own):
        raise shape_conflict(model.path, spec, shape, own)
    if own is None:
        return shape
    return tuple(theirs if dim is None else dim for dim, theirs in zip(shape, own))


# What a file says of itself ----------------------------------------------------------


def describe(file: MappedModel) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    graph = file.proto.graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = set(free_inputs(graph, constants))
    return ModelDescription(
        framework=f"ONNX, operator set {opsets(file)['']}",
        image_order=DataFormat.NCHW,
        inputs=tuple(_describe(v) for v in graph.input if v.name in inputs),
        outputs=tuple(_describe(value) for value in graph.output),
        operators=Counter(_type(node) for node in graph.node),
    )


def _describe(value: onnx.ValueInfoProto) -> TensorDescription:
    kind = value.type
    if kind.WhichOneof("value") == "optional_type":
        kind = kind.optional_type.elem_type
    if kind.WhichOneof("value") != "tensor_type":
        return TensorDescription(value.name)
    tensor = kind.tensor_type
    return TensorDescription(
        value.name, declared_shape(tensor), ELEMENT_TYPES.get(tensor.elem_type)
    )


def _type(node: onnx.NodeProto) -> str:
    own = node.domain in ("", "ai.onnx")
    return node.op_type if own else f"{node.domain}.{node.op_type}"
