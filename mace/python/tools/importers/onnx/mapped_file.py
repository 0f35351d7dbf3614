# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads an ONNX file without reading its weights.

Parsing a model with protobuf copies every weight. This module parses the wire
format of the fields that hold weights and removes the bytes of each large tensor.
In their place it writes ONNX's entries for external data, which say where in the
file the bytes are. Protobuf parses the rest; the weights stay in the mapped file
until their elements are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

import onnx
from mace.python.tools.importers.frame.budget import FLOOR_NODES, TIMES
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import Buffer, map_file, other_format
from mace.python.tools.importers.onnx.inner_graphs import graphs_of

# The location in our entries: no file can have this name. A model that contains it
# would read its own bytes.
THIS_FILE = "\0this file"

# Smaller weights are faster to parse than to remove.
_SMALLEST_CUT = 4096

# The path from a model to its large fields, by field numbers of onnx.proto. The last
# number is TensorProto.raw_data.
_RAW_DATA = 9
_Tree = Union[int, "dict[int, _Tree]"]
_TREE: _Tree = {
    7: {  # ModelProto.graph
        5: _RAW_DATA,  # GraphProto.initializer
        1: {5: {5: _RAW_DATA}},  # GraphProto.node.attribute.t
    }
}

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class MappedModel:
    """A parsed model; entries for external data replace its large weights.

    Attributes:
        path: of the file.
        proto: the model.
        buffer: the file's bytes, which the notes point into.
    """

    path: Path
    proto: onnx.ModelProto
    buffer: Buffer


def read_model(path: Path) -> MappedModel:
    """Maps and parses a model file.

    Raises:
        ImportModelError: it cannot be read or is no ONNX model.
    """
    buffer = _map(path)
    other = other_format(path)
    if other:
        raise ImportModelError(f"{path} is {other}")
    try:
        reduced = b"".join(_cut(buffer, 0, len(buffer), _TREE))
    except _WireError:
        # The file is damaged. Protobuf will report it.
        reduced = bytes(buffer)
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(reduced)
    except (DecodeError, UnicodeDecodeError, ValueError) as error:
        raise ImportModelError(
            f"{path} is no ONNX model or is damaged (compare its sha256 with the "
            "publisher's)"
        ) from error
    _check_nesting(path, proto)
    if not _is_text(proto):
        raise ImportModelError(f"{path} is damaged: a name in it is no text")
    if not proto.graph.node and not proto.graph.output:
        raise ImportModelError(f"{path} holds no ONNX graph; is it an ONNX model?")
    _use_one_name(proto.opset_import)
    for function in proto.functions:
        _use_one_name(function.opset_import)
    for nodes in (proto.graph.node, *(function.node for function in proto.functions)):
        _use_one_name(nodes)
    return MappedModel(path, proto, buffer)


def _check_nesting(path: Path, proto: onnx.ModelProto) -> None:
    """Refuses a model with too many nodes in graphs of nodes.

    A node counts once for each graph that it lies in: it is copied so often when
    branches and bodies are put in place.
    """
    count = 0
    own = len(proto.graph.node) + sum(len(f.node) for f in proto.functions)
    most = FLOOR_NODES + TIMES * own
    waiting = [(proto.graph.node, 0), *((f.node, 0) for f in proto.functions)]
    while waiting:
        nodes, depth = waiting.pop()
        count += depth * len(nodes)
        if count > most:
            raise ImportModelError(
                f"{path}: its branches and loops, which lie in each other, take more "
                f"than {most} copies of nodes to put in place; with {own} nodes "
                "outside of them, a model may take no more"
            )
        waiting += [
            (graph.node, depth + 1) for node in nodes for graph in graphs_of(node)
        ]


def _use_one_name(entries: Iterable[Any]) -> None:
    """Gives ONNX's own domain the shorter of its names; not everything that reads
    models knows the other one.
    """
    for entry in entries:
        if entry.domain == "ai.onnx":
            entry.domain = ""
        for attribute in getattr(entry, "attribute", ()):
            for graph in (attribute.g, *attribute.graphs):
                _use_one_name(graph.node)


def _map(path: Path) -> Buffer:
    try:
        buffer = map_file(path)
    except OSError as error:
        raise ImportModelError(f"cannot read {path}: {error.strerror}") from error
    if not buffer:
        raise ImportModelError(f"{path} is empty; is the download complete?")
    return buffer


def _is_text(message: Message) -> bool:
    """Whether every string is UTF-8; protobuf returns bytes for others."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            single = isinstance(value, (str, bytes))
            if any(isinstance(s, bytes) for s in ([value] if single else value)):
                return False
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            single = isinstance(value, Message)
            if not all(_is_text(entry) for entry in ([value] if single else value)):
                return False
    return True


class _WireError(Exception):
    """The bytes are not in protobuf's wire format."""


def _cut(buffer: Buffer, begin: int, end: int, tree: _Tree) -> Iterator[bytes]:
    """The message in [begin, end) without the large fields of `tree`."""
    kept = begin
    # After all other fields: one of them may say that the bytes are in the tensor, as
    # those do that `onnx` read from external data.
    notes = b""
    for start, number, wire, payload, stop in _fields(buffer, begin, end):
        if isinstance(tree, int):
            if number == tree and wire == _BYTES and stop - payload >= _SMALLEST_CUT:
                yield bytes(buffer[kept:start])
                notes += _note(payload, stop - payload)
                kept = stop
        elif number in tree and wire == _BYTES and stop - payload >= _SMALLEST_CUT:
            inner = b"".join(_cut(buffer, payload, stop, tree[number]))
            yield bytes(buffer[kept:start])
            yield _varint(number << 3 | _BYTES) + _varint(len(inner)) + inner
            kept = stop
    yield bytes(buffer[kept:end])
    yield notes


def _fields(
    buffer: Buffer, begin: int, end: int
) -> Iterator[tuple[int, int, int, int, int]]:
    """(start, number, wire type, start of the payload, end) of each field."""
    at = begin
    while at < end:
        tag, payload = _read_varint(buffer, at, end)
        wire = tag & 7
        if wire == _VARINT:
            stop = _read_varint(buffer, payload, end)[1]
        elif wire == _BYTES:
            length, payload = _read_varint(buffer, payload, end)
            stop = payload + length
        elif wire in (_FIXED64, _FIXED32):
            stop = payload + (8 if wire == _FIXED64 else 4)
        else:
            raise _WireError
        if stop > end:
            raise _WireError
        yield at, tag >> 3, wire, payload, stop
        at = stop


def _read_varint(buffer: Buffer, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 64:
        byte = buffer[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise _WireError


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _note(offset: int, length: int) -> bytes:
    """The TensorProto fields that give the place of its bytes."""
    entries = (("location", THIS_FILE), ("offset", offset), ("length", length))
    note = onnx.TensorProto(data_location=onnx.TensorProto.EXTERNAL)
    for key, value in entries:
        note.external_data.add(key=key, value=str(value))
    data: bytes = note.SerializeToString()
    return data
