# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a frozen GraphDef file into nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from mace.python.tools.importers.base import ImportModelError
from mace.python.tools.importers.model_file import map_file, other_format
from mace.python.tools.importers.tensorflow.functions import Function, read_function
from mace.python.tools.importers.tensorflow.node import (
    Node,
    split_tensor_name,
)
from mace.python.tools.proto import load_proto

_PROTO = "mace/python/tools/importers/tensorflow/graph_def.proto"
_FREEZE_HINT = (
    "freeze the model first: tensorflow.python.framework."
    "convert_to_constants.convert_variables_to_constants_v2"
)


@dataclass(frozen=True)
class FrozenGraph:
    """The contents of a file.

    Attributes:
        nodes: by name, in the order of the file.
        functions: that nodes call, by name.
    """

    nodes: dict[str, Node]
    functions: dict[str, Function]


def read_graph(path: Path) -> FrozenGraph:
    """The nodes and functions of a frozen graph.

    Args:
        path: a binary GraphDef (`.pb`) or its text form (`.pbtxt`).

    Raises:
        ImportModelError: the file is not a frozen graph.
    """
    return frozen_graph(parse_graph(path))


def frozen_graph(graph: Any) -> FrozenGraph:
    """The nodes and functions of a GraphDef message."""
    nodes = {}
    for proto in graph.node:
        inputs = tuple(
            split_tensor_name(name) for name in proto.input if not name.startswith("^")
        )
        nodes[proto.name] = Node(proto.name, proto.op, inputs, proto.attr)
    functions = [read_function(proto) for proto in graph.library.function]
    return FrozenGraph(nodes, {function.name: function for function in functions})


def new_graph() -> Any:
    """An empty GraphDef message."""
    return load_proto(_PROTO).GraphDef()


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
    graph = _parse(path, key, whole)
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
    return graph


def _parse(path: Path, key: str, whole: bool) -> Any:
    if path.is_dir():
        raise ImportModelError(
            f"{key}: {path} is a folder (a SavedModel?), not a "
            f"frozen graph file; {_FREEZE_HINT}"
        )
    graph = new_graph()
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
            text_format.Parse(data, graph, allow_unknown_field=not whole)
        else:
            graph.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise ImportModelError(
            f"{key}: {path} is not a frozen TensorFlow graph "
            f"(GraphDef), or it is damaged: {error}; {_FREEZE_HINT}"
        ) from error
    return graph


def data_types() -> dict[str, int]:
    """The numbers of TensorFlow's element types, by names such as `float`."""
    names = load_proto(_PROTO).enum_names("DataType")
    return {
        name.removeprefix("DT_").lower(): number
        for number, name in names.items()
        if number
    }
