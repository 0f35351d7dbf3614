# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the tensors of a checkpoint, `NAME.index` and `NAME.data-00000-of-00001`.

The index is a sorted table of keys and values in the format of LevelDB: blocks, in
which a key says how many bytes it shares with the one before it, and at the end of the
file the places of the blocks. A value says where in the data files a tensor is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.model_file import Buffer, check_part, map_file
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, type_name
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.proto import load_proto

PROTO = "mace/python/tools/importers/tensorflow/graph_def.proto"
_FOOTER_BYTES = 48
_MAGIC = 0xDB4775248B80FB57
# Behind each block: how it is compressed, and a checksum.
_TRAILER_BYTES = 5


class _DamagedError(Exception):
    """The bytes are no table."""


class Bundle:
    """The tensors of a checkpoint by key.

    Args:
        prefix: the path of the files without their endings.
        folder: of the model, in which all of them must be.

    Raises:
        ImportModelError: there is no such checkpoint, or its index is damaged.
    """

    def __init__(self, prefix: Path, folder: Path) -> None:
        self._prefix = prefix
        self._folder = folder
        self._shards: dict[int, Buffer] = {}
        path = prefix.with_name(f"{prefix.name}.index")
        messages = load_proto(PROTO)
        self._entries: dict[str, Any] = {}
        self._header = messages.BundleHeaderProto()
        data = bytes(_mapped(path, folder))
        try:
            for key, value in _table(data):
                if key:
                    entry = messages.BundleEntryProto()
                    entry.ParseFromString(value)
                    self._entries[key.decode("utf-8", "replace")] = entry
                else:
                    self._header.ParseFromString(value)
        except (_DamagedError, DecodeError, IndexError) as error:
            raise ImportModelError(
                f"model_file_path: {path} is not the index of a checkpoint, or it is "
                f"damaged: {error}"
            ) from error
        if self._header.endianness:
            raise ImportModelError(
                f"model_file_path: {path} was written on a big-endian computer"
            )

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def read(self, key: str) -> Array:
        """A tensor, as a view of the file.

        Raises:
            UnsupportedNodeError: its type has no counterpart, it is stored in parts, or
                its place is not in the file.
        """
        if key not in self._entries:
            raise UnsupportedNodeError(
                f"the checkpoint {self._prefix} has no {key!r}", "save the model again"
            )
        entry = self._entries[key]
        dtype = ELEMENT_TYPES.get(entry.dtype)
        if dtype is None:
            raise UnsupportedNodeError(f"a variable of {type_name(entry.dtype)}")
        if entry.slices:
            raise UnsupportedNodeError(
                f"the checkpoint has {key!r} in several parts",
                "save the model without partitioned variables",
            )
        stored = np.dtype("uint16") if dtype is DataType.BFLOAT16 else dtype.numpy
        shape = tuple(dim.size for dim in entry.shape.dim)
        data = self._shard(entry.shard_id)
        fits = (
            all(dim >= 0 for dim in shape)
            and entry.size == math.prod(shape) * stored.itemsize
            and 0 <= entry.offset <= len(data) - entry.size
        )
        if not fits:
            raise UnsupportedNodeError(
                f"the checkpoint says that {key!r} is {list(shape)} {dtype.value} in "
                f"{entry.size} bytes at {entry.offset} of {len(data)}: it is damaged"
            )
        array: Array = np.frombuffer(
            data, stored.newbyteorder("<"), math.prod(shape), entry.offset
        ).reshape(shape)
        if dtype is DataType.BFLOAT16:
            return (array.astype(np.uint32) << 16).view(np.float32)
        return array

    def read_text(self, key: str) -> bytes:
        """A string without dimensions.

        Raises:
            ImportModelError: there is none.
        """
        entry = self._entries[key]
        data = self._shard(entry.shard_id)
        end = entry.offset + entry.size
        try:
            if not 0 <= entry.offset <= end <= len(data):
                raise _DamagedError("its place is not in the file")
            text = bytes(data[entry.offset : end])
            # A checksum of the lengths is between them and the strings.
            length, place = _varint(text, 0)
            if place + 4 + length != len(text):
                raise _DamagedError("it is no single string")
        except (_DamagedError, IndexError) as error:
            raise ImportModelError(
                f"model_file_path: the checkpoint {self._prefix} is damaged: {key}: "
                f"{error}"
            ) from error
        return text[place + 4 :]

    def _shard(self, number: int) -> Buffer:
        if number not in self._shards:
            name = f".data-{number:05d}-of-{self._header.num_shards:05d}"
            path = self._prefix.with_name(self._prefix.name + name)
            self._shards[number] = _mapped(path, self._folder)
        return self._shards[number]


def _mapped(path: Path, folder: Path) -> Buffer:
    check_part(folder, path)
    try:
        return map_file(path)
    except OSError as error:
        raise ImportModelError(
            f"model_file_path: {path} cannot be read: {error.strerror}"
        ) from error


def _table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values, in order."""
    footer = data[-_FOOTER_BYTES:]
    if len(footer) < _FOOTER_BYTES or int.from_bytes(footer[-8:], "little") != _MAGIC:
        raise _DamagedError("it does not end like one")
    place = 0
    for _ in range(2):  # of a block about the blocks, which nothing needs
        _, place = _varint(footer, place)
    offset, place = _varint(footer, place)
    size, place = _varint(footer, place)
    for _, handle in _block(data, offset, size):
        offset, place = _varint(handle, 0)
        size, place = _varint(handle, place)
        yield from _block(data, offset, size)


def _block(data: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    end = offset + size
    if size < 4 or end + _TRAILER_BYTES > len(data):
        raise _DamagedError("a block is outside of the file")
    if data[end]:
        raise _DamagedError("it is compressed, which TensorFlow does not do")
    wanted = int.from_bytes(data[end + 1 : end + 5], "little")
    if _masked(_crc32c(data[offset : end + 1])) != wanted:
        raise _DamagedError("the checksum of a block is wrong")
    block = data[offset:end]
    end = size - 4 - 4 * int.from_bytes(block[-4:], "little")
    key, place = b"", 0
    while place < end:
        shared, place = _varint(block, place)
        unshared, place = _varint(block, place)
        length, place = _varint(block, place)
        if shared > len(key) or place + unshared + length > end:
            raise _DamagedError("an entry is longer than its block")
        key = key[:shared] + block[place : place + unshared]
        place += unshared
        yield key, block[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise _DamagedError("a number has more than 64 bits")


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


_CRC_TABLE = _crc_table()


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    """As the format stores checksums, because data may contain some itself."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
