# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads an ONNX file without its weights, and tensors when they are needed.

Parsing a model with protobuf copies every weight. This module parses the wire
format of the fields that hold weights and removes the bytes of each large tensor.
In their place it writes ONNX's entries for external data, which say where in the
file the bytes are. Protobuf parses the rest; the weights stay in the mapped file
until their elements are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Union

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from mace.python.tools.importers.frame.budget import FLOOR_NODES, TIMES
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import (
    Buffer,
    leads_outside,
    map_file,
    other_format,
)
from mace.python.tools.importers.onnx.inner_graphs import graphs_of
from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    FOUR_BITS,
    element_type_name,
)
from mace.python.tools.ir.builder import narrow, narrow_constant
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.wording import on_one_line, shown

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


# Tensors -----------------------------------------------------------------------------

_T = onnx.TensorProto

# Smaller tensors are read immediately: they are axes, shapes and scalars.
_EAGER_ELEMENTS = 1 << 12
# Whether int32 holds their elements has to be known.
_MAY_SATURATE = (DataType.INT64, DataType.UINT32, DataType.UINT64)


class TensorReader:
    """Creates constants from the tensors of one model.

    External files are mapped once and shared by the tensors in them.
    """

    def __init__(self, model: MappedModel) -> None:
        self._model = model
        self._files: dict[str, Buffer] = {THIS_FILE: model.buffer}

    @property
    def external_files(self) -> tuple[str, ...]:
        """The external files that hold constants, as the model names them."""
        return tuple(sorted(self._files.keys() - {THIS_FILE}))

    def constant(self, tensor: onnx.TensorProto, what: str) -> Constant:
        """The tensor in the type MACE computes in.

        Args:
            tensor: an initializer or the value of an attribute.
            what: the tensor in words, for messages.

        Raises:
            ImportModelError: it has an element type MACE cannot read, its
                sizes contradict each other or its file cannot be read.
        """
        dtype = {**ELEMENT_TYPES, **FOUR_BITS}.get(tensor.data_type)
        if dtype is None:
            raise ImportModelError(
                f"{self._model.path}: {what} has elements of type "
                f"{element_type_name(tensor.data_type)}, which cannot be read"
            )
        shape = tuple(tensor.dims)
        if any(dim < 0 for dim in shape):
            raise ImportModelError(
                f"{self._model.path}: {what} has a negative dimension {list(shape)}"
            )
        if not _is_possible(shape, dtype):
            raise ImportModelError(
                f"{self._model.path}: {what} has the shape {shown(list(shape))}, which "
                "no array can have; the file is damaged"
            )
        read = self._reader(tensor, dtype, shape, what)
        target = dtype.narrowed
        stored = None if target is dtype else dtype
        if math.prod(shape) <= _EAGER_ELEMENTS or dtype in _MAY_SATURATE:
            small = narrow_constant(read(), what)
            return replace(small, narrowed_from=stored)
        if stored is None:
            return Constant(shape, dtype, read)
        return Constant(
            shape, target, lambda: narrow(read(), what), narrowed_from=stored
        )

    def _reader(
        self,
        tensor: onnx.TensorProto,
        dtype: DataType,
        shape: tuple[int, ...],
        what: str,
    ) -> Callable[[], Array]:
        if tensor.data_location == _T.EXTERNAL:
            return self._external(tensor, dtype, shape, what)
        if not tensor.raw_data:
            try:
                array = onnx.numpy_helper.to_array(tensor)
            except (ValueError, TypeError) as error:
                raise self._contradiction(what, shape) from error
            if array.shape != shape:
                raise self._contradiction(what, shape)
            plain = _widen(array) if dtype is DataType.BFLOAT16 else array
            if tensor.data_type in FOUR_BITS:
                plain = array.astype(dtype.numpy)
            return lambda: plain
        if len(tensor.raw_data) != _bytes(tensor, dtype, shape):
            raise self._contradiction(what, shape)
        return _viewer(tensor.raw_data, 0, tensor, dtype, shape)

    def _external(
        self,
        tensor: onnx.TensorProto,
        dtype: DataType,
        shape: tuple[int, ...],
        what: str,
    ) -> Callable[[], Array]:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        buffer = self._open(location, what)
        size = _bytes(tensor, dtype, shape)
        try:
            offset = int(entries.get("offset") or 0)
            length = int(entries.get("length") or size)
        except ValueError as error:
            raise ImportModelError(
                f"{self._model.path}: {what} has an offset or length that is not a "
                f"number: {shown(entries)}"
            ) from error
        if length != size:
            raise self._contradiction(what, shape)
        if offset < 0 or offset + length > len(buffer):
            raise ImportModelError(
                f"{_said(self._external_path(location))} ends before {what}, which "
                f"is at byte {offset} to {offset + length}; is the file complete?"
            )
        return _viewer(buffer, offset, tensor, dtype, shape)

    def _open(self, location: str, what: str) -> Buffer:
        if location not in self._files:
            self._files[location] = self._map(location, what)
        return self._files[location]

    def _map(self, location: str, what: str) -> Buffer:
        folder = self._model.path.parent
        path = self._external_path(location)
        # Models may come from untrusted sources: they may name files in their own
        # folder, but not other files of the user, neither directly nor through a link.
        relative = Path(location)
        inside = not relative.is_absolute() and ".." not in relative.parts
        if not location or "\0" in location or not inside:
            raise self._outside(what, location)
        try:
            if leads_outside(folder, path):
                raise self._outside(what, location)
            return map_file(path)
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ImportModelError(
                f"cannot read {_said(path)}, which holds {what} of "
                f"{self._model.path}: {_said(reason)}; put it beside the model"
            ) from error

    def _external_path(self, location: str) -> Path:
        if location == THIS_FILE:
            return self._model.path
        return self._model.path.parent / location

    def _outside(self, what: str, location: str) -> ImportModelError:
        return ImportModelError(
            f"{self._model.path}: {what} is in {location!r}, which is not in the "
            "model's folder; put the file beside the model and save the model with "
            "its plain name"
        )

    def _contradiction(self, what: str, shape: tuple[int, ...]) -> ImportModelError:
        return ImportModelError(
            f"{self._model.path}: {what} says it has the shape {list(shape)} but "
            "holds another number of elements; the file is damaged"
        )


def _said(text: object) -> str:
    """What a file says, or the name of one that it names, in a message."""
    return on_one_line(str(text))


def _bytes(tensor: onnx.TensorProto, dtype: DataType, shape: tuple[int, ...]) -> int:
    count = math.prod(shape)
    if tensor.data_type in FOUR_BITS:
        return -(-count // 2)
    return count * (2 if dtype is DataType.BFLOAT16 else dtype.numpy.itemsize)


def _viewer(
    buffer: Buffer,
    offset: int,
    tensor: onnx.TensorProto,
    dtype: DataType,
    shape: tuple[int, ...],
) -> Callable[[], Array]:
    if tensor.data_type in FOUR_BITS:
        return lambda: _unpacked(buffer, offset, dtype, shape)
    return lambda: _view(buffer, offset, dtype, shape)


def _unpacked(
    buffer: Buffer, offset: int, dtype: DataType, shape: tuple[int, ...]
) -> Array:
    """Integers of 4 bits."""
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype.numpy)
    pairs = np.frombuffer(buffer, np.uint8, -(-count // 2), offset)
    both: Array = np.stack([pairs & 15, pairs >> 4], 1)
    numbers = both.reshape(-1)[:count].reshape(shape)
    if dtype is DataType.UINT8:
        return numbers
    signed: Array = (numbers.astype(np.int8) ^ 8) - np.int8(8)
    return signed


def _is_possible(shape: tuple[int, ...], dtype: DataType) -> bool:
    """Whether NumPy has arrays of a shape: it has not of more than 64 dimensions, or of
    lengths beyond 63 bits, even if there are no elements.
    """
    try:
        np.broadcast_to(np.zeros((), dtype.numpy), shape)
    except (OverflowError, ValueError):
        return False
    return True


def _view(
    buffer: Buffer, offset: int, dtype: DataType, shape: tuple[int, ...]
) -> Array:
    count = math.prod(shape)
    if count == 0:
        return np.zeros(shape, dtype.numpy)
    stored = np.dtype(np.uint16) if dtype is DataType.BFLOAT16 else dtype.numpy
    # ONNX stores little-endian on every machine.
    flat: Array = np.frombuffer(buffer, stored.newbyteorder("<"), count, offset)
    if dtype is DataType.BFLOAT16:
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.reshape(shape)


def _widen(array: Array) -> Array:
    return array.astype(np.float32)
