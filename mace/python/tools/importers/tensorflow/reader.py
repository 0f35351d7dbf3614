# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a frozen GraphDef or a SavedModel into nodes, and says what it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import map_file, other_format
from mace.python.tools.importers.tensorflow.bundle import PROTO
from mace.python.tools.importers.tensorflow.node import (
    PLACEHOLDERS,
    Function,
    GraphNode,
    control_inputs,
    read_function,
    split_tensor_name,
)
from mace.python.tools.importers.tensorflow.saved_model import (
    Signature,
    Variables,
    called_nodes,
    model_file,
    read_variables,
    served_graph,
    signature,
)
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, Node
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.proto import load_proto

_FREEZE_HINT = (
    "name the folder of a SavedModel, or freeze the model: tensorflow.python.framework."
    "convert_to_constants.convert_variables_to_constants_v2"
)


# Nodes that end a graph, but are no results of it.
_NO_RESULTS = frozenset(
    ("Assert", "CheckNumerics", "Const", "NoOp", "Print", "PrintV2")
)


@dataclass(frozen=True)
class GraphFile:
    """The contents of a model.

    Attributes:
        nodes: by name, in the order of the file.
        functions: that nodes call, by name.
        signature: inputs and outputs of a SavedModel.
        variables: their values, of a SavedModel.
    """

    nodes: dict[str, GraphNode]
    functions: dict[str, Function]
    signature: Signature = field(default_factory=Signature)
    variables: Variables = field(default_factory=lambda: Variables({}))


def read_graph(path: Path) -> GraphFile:
    """The nodes and functions of a graph.

    Args:
        path: a frozen graph, binary (`.pb`) or as text (`.pbtxt`), or the folder of a
            SavedModel.

    Raises:
        ImportModelError: it is none of them.
    """
    if not path.is_dir():
        return frozen_graph(parse_graph(path))
    file = model_file(path)
    saved = load_proto(PROTO).SavedModel()
    _parse(file, "model_file_path", False, saved)
    meta = served_graph(path, saved)
    _check_nodes(meta.graph_def, file, "model_file_path")
    graph = frozen_graph(meta.graph_def)
    variables = read_variables(
        path, graph.nodes, graph.functions, meta.object_graph_def
    )
    return GraphFile(graph.nodes, graph.functions, signature(meta), variables)


def frozen_graph(graph: Any) -> GraphFile:
    """The nodes and functions of a GraphDef message."""
    nodes = {}
    for proto in graph.node:
        inputs = tuple(
            split_tensor_name(name) for name in proto.input if not name.startswith("^")
        )
        nodes[proto.name] = GraphNode(
            proto.name, proto.op, inputs, proto.attr, control_inputs(proto.input)
        )
    functions = [read_function(proto) for proto in graph.library.function]
    budget().nodes += len(nodes) + sum(len(f.nodes) for f in functions)
    return GraphFile(nodes, {function.name: function for function in functions})


def new_graph() -> Any:
    """An empty GraphDef message."""
    return load_proto(PROTO).GraphDef()


def is_text(path: Path) -> bool:
    """Whether a GraphDef file of this name is in the text form."""
    return path.suffix in (".pbtxt", ".prototxt")


def parse_graph(
    path: Path, key: str = "model_file_path", *, whole: bool = False
) -> Any:
    """The GraphDef message in a file, whose nodes have names of their own.

    Args:
        path: a binary GraphDef (`.pb`) or its text form (`.pbtxt`).
        key: what named the file, for messages.
        whole: refuse a text with fields that are not read. (Of a binary file, the
            message keeps them.)

    Raises:
        ImportModelError: the file is not a frozen graph.
    """
    if path.is_dir():
        raise ImportModelError(
            f"{key}: {path} is a folder (a SavedModel?), not a frozen graph file; "
            f"{_FREEZE_HINT}"
        )
    graph = new_graph()
    _parse(path, key, whole, graph)
    if not graph.node and _is_saved_model(path):
        raise _name_the_folder(path, key)
    _check_nodes(graph, path, key)
    return graph


def _check_nodes(graph: Any, path: Path, key: str) -> None:
    if not graph.node:
        raise ImportModelError(
            f"{key}: {path} is not a frozen TensorFlow graph "
            f"(GraphDef): it has no nodes; {_FREEZE_HINT}"
        )
    names: set[str] = set()
    for proto in graph.node:
        if proto.name in names:
            raise ImportModelError(
                f"{key}: {path}: two nodes are called "
                f"{proto.name!r}: the file is damaged"
            )
        names.add(proto.name)


def _is_saved_model(path: Path) -> bool:
    model = load_proto(PROTO).SavedModel()
    try:
        model.ParseFromString(path.read_bytes())
    except (OSError, DecodeError):
        return False
    return any(graph.graph_def.node for graph in model.meta_graphs)


def _name_the_folder(path: Path, key: str) -> ImportModelError:
    return ImportModelError(
        f"{key}: {path} is the graph of a SavedModel, whose weights "
        f"are in other files; name its folder: {path.parent}"
    )


def _parse(path: Path, key: str, whole: bool, message: Any) -> None:
    try:
        data = bytes(map_file(path))
        other = other_format(path)
    except OSError as error:
        raise ImportModelError(
            f"{key}: {path} cannot be read: {error.strerror}"
        ) from error
    if other:
        raise ImportModelError(f"{key}: {path} is {other}")
    try:
        if is_text(path):
            text_format.Parse(data, message, allow_unknown_field=not whole)
        else:
            message.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        if _is_saved_model(path):
            raise _name_the_folder(path, key) from error
        raise ImportModelError(
            f"{key}: {path} is not a frozen TensorFlow graph "
            f"(GraphDef) or SavedModel, or it is damaged: {error}; {_FREEZE_HINT}"
        ) from error


def data_types() -> dict[str, int]:
    """The numbers of TensorFlow's element types, by names such as `float`."""
    names = load_proto(PROTO).enum_names("DataType")
    return {
        name.removeprefix("DT_").lower(): number
        for number, name in names.items()
        if number
    }


def describe(file: GraphFile) -> ModelDescription:
    """See `importers.frame.opened.Framework`. Results of a frozen graph are the nodes
    that no other node reads.
    """
    if file.signature.outputs:
        return _describe_saved(file)
    nodes = file.nodes
    read = {name for node in nodes.values() for name, _ in node.inputs}
    inputs = [node for node in nodes.values() if node.op in PLACEHOLDERS]
    ends = [
        node
        for node in nodes.values()
        if node.name not in read and node.op not in PLACEHOLDERS | _NO_RESULTS
    ]
    return ModelDescription(
        framework="TensorFlow, a frozen graph",
        image_order=DataFormat.NHWC,
        inputs=tuple(_describe(node) for node in inputs),
        outputs=tuple(TensorDescription(node.name) for node in ends),
        operators=Counter(node.op for node in nodes.values()),
    )


def _describe_saved(file: GraphFile) -> ModelDescription:
    return ModelDescription(
        framework="TensorFlow, a SavedModel",
        image_order=DataFormat.NHWC,
        inputs=tuple(_tensor(*item) for item in file.signature.inputs.items()),
        outputs=tuple(_tensor(*item) for item in file.signature.outputs.items()),
        operators=Counter(
            node.op for node in called_nodes(file.nodes, file.functions, file.signature)
        ),
    )


def _tensor(name: str, info: Any) -> TensorDescription:
    shape = info.tensor_shape
    dims = tuple(None if dim.size < 0 else dim.size for dim in shape.dim)
    return TensorDescription(
        name, None if shape.unknown_rank else dims, ELEMENT_TYPES.get(info.dtype)
    )


def _describe(node: Node) -> TensorDescription:
    shape = node.shape("shape")
    return TensorDescription(
        node.name,
        None if shape is None else tuple(None if dim < 0 else dim for dim in shape),
        ELEMENT_TYPES.get(node.integer("dtype")),
    )
