# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the weights of a caffemodel without copying them.

A caffemodel is a NetParameter in protobuf's wire format. Only the names of its layers
and their blobs are read; the numbers stay in the mapped file until they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import Buffer, map_file, other_format
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}

# Field numbers of NetParameter, and of a layer in each format.
_LAYERS_V1, _LAYERS = 2, 100
_DATA, _SHAPE, _DOUBLE_DATA, _RAW_DATA = 5, 7, 8, 12


@dataclass(frozen=True)
class _Format:
    name: int
    blobs: int
    inner: int = 0  # the layer of the format before, which this one wraps


_V0 = _Format(name=1, blobs=50)
_V1 = _Format(name=4, blobs=6, inner=1)
_CURRENT = _Format(name=1, blobs=7)


@dataclass(frozen=True)
class Blob:
    """Learned numbers of a layer.

    Attributes:
        shape: as the file says it.
        is_legacy: the shape has four dimensions whatever the blob has.
        problem: why the numbers cannot be used; '' if they can.
        flat: the numbers.
    """

    shape: tuple[int, ...]
    is_legacy: bool
    problem: str
    flat: Constant


class _WireError(Exception):
    """The bytes are not in protobuf's wire format."""


def read_weights(path: Path) -> dict[str, tuple[Blob, ...]]:
    """The blobs of each layer that has some, by name.

    Raises:
        ImportModelError: the file cannot be read or is no caffemodel.
    """
    try:
        buffer = map_file(path)
        other = other_format(path)
    except OSError as error:
        raise ImportModelError(
            f"weight_file_path: {path} cannot be read: {error.strerror}"
        ) from error
    if other:
        raise ImportModelError(f"weight_file_path: {path} is {other}")
    if not buffer:
        raise ImportModelError(
            f"weight_file_path: {path} is empty; is the download complete?"
        )
    found: dict[str, tuple[Blob, ...]] = {}
    count = 0
    try:
        for number, wire, begin, end in _fields(buffer, 0, len(buffer)):
            if number not in (_LAYERS, _LAYERS_V1) or wire != _BYTES:
                continue
            count += 1
            form = _CURRENT if number == _LAYERS else _V1
            name, blobs = _layer(buffer, begin, end, form)
            if blobs:
                found[name] = blobs
    except _WireError as error:
        raise ImportModelError(
            f"weight_file_path: {path} is no caffemodel, or it is damaged (compare its "
            f"sha256 with the publisher's): {error}"
        ) from error
    if not count:
        raise ImportModelError(
            f"weight_file_path: {path} has no layers; is it a caffemodel?"
        )
    return found


def _layer(
    buffer: Buffer, begin: int, end: int, form: _Format
) -> tuple[str, tuple[Blob, ...]]:
    name, blobs = "", []
    for number, wire, first, last in _fields(buffer, begin, end):
        if wire != _BYTES:
            continue
        if number == form.name:
            name = bytes(buffer[first:last]).decode("utf-8", "replace")
        elif number == form.blobs:
            blobs.append(_blob(buffer, first, last))
        elif form.inner and number == form.inner:
            own, inner = _layer(buffer, first, last, _V0)
            name, blobs = own or name, [*blobs, *inner]
    return name, tuple(blobs)


def _blob(buffer: Buffer, begin: int, end: int) -> Blob:
    legacy = [0, 0, 0, 0]
    shape: list[int] | None = None
    parts: list[Constant] = []
    raw = False
    position = begin
    while position < end:
        start = position
        number, wire, first, position = _field(buffer, position, end)
        if number <= 4 and wire == _VARINT:
            legacy[number - 1] = _varint(buffer, first, end)[0]
        elif number == _SHAPE and wire == _BYTES:
            shape = [*(shape or []), *_dims(buffer, first, position)]
        elif number in (_DATA, _DOUBLE_DATA):
            kind = np.dtype("<f4" if number == _DATA else "<f8")
            if wire == _BYTES:
                parts.append(_numbers(buffer, first, position, kind))
            elif _SIZES.get(wire) == kind.itemsize:
                position, constant = _loose(buffer, start, end, kind)
                parts.append(constant)
        raw = raw or number == _RAW_DATA
    flat = _joined(parts)
    dims = tuple(legacy if shape is None else shape)
    problem = ""
    if any(dim < 0 for dim in dims) or math.prod(dims) != flat.size:
        problem = f"a blob of {list(dims)} holds {flat.size} numbers"
        if raw and not flat.size:
            problem = "a blob holds raw data, as NVCaffe writes it"
    return Blob(dims, shape is None, problem, flat)


def _dims(buffer: Buffer, begin: int, end: int) -> Iterator[int]:
    for number, wire, first, last in _fields(buffer, begin, end):
        if number != 1:
            continue
        position = first
        while position < last:
            value, position = _varint(buffer, position, last)
            yield value - 2**64 if value >= 2**63 else value
            if wire == _VARINT:
                break


def _numbers(
    buffer: Buffer, begin: int, end: int, kind: np.dtype[np.generic]
) -> Constant:
    count, rest = divmod(end - begin, kind.itemsize)
    if rest:
        raise _WireError(f"{end - begin} bytes are not whole numbers")
    view = np.frombuffer(buffer, kind, count, begin)
    return _floats(view)


def _loose(
    buffer: Buffer, begin: int, end: int, kind: np.dtype[np.generic]
) -> tuple[int, Constant]:
    """Numbers of which each has its own tag of one byte, from `begin` on."""
    size = 1 + kind.itemsize
    rows = np.frombuffer(buffer, np.uint8, (end - begin) // size * size, begin)
    rows = rows.reshape(-1, size)
    other = np.flatnonzero(rows[:, 0] != buffer[begin])
    count = int(other[0]) if len(other) else len(rows)
    if count == 0:
        raise _WireError("a field ends too early")
    packed = np.ascontiguousarray(rows[:count, 1:]).view(kind).reshape(-1)
    return begin + count * size, _floats(packed)


def _floats(view: Array) -> Constant:
    if view.dtype.itemsize == 4:
        return Constant.of(view)
    return Constant(view.shape, DataType.FLOAT32, lambda: view.astype(np.float32))


def _joined(parts: list[Constant]) -> Constant:
    if len(parts) == 1:
        return parts[0]
    size = sum(part.size for part in parts)
    return Constant(
        (size,),
        DataType.FLOAT32,
        lambda: np.concatenate([np.empty(0, np.float32), *(p.numpy() for p in parts)]),
    )


def _fields(
    buffer: Buffer, begin: int, end: int
) -> Iterator[tuple[int, int, int, int]]:
    """Number, wire type, and the bounds of the value of each field of a message."""
    position = begin
    while position < end:
        number, wire, first, position = _field(buffer, position, end)
        yield number, wire, first, position


def _field(buffer: Buffer, position: int, end: int) -> tuple[int, int, int, int]:
    tag, first = _varint(buffer, position, end)
    number, wire = tag >> 3, tag & 7
    if number == 0:
        raise _WireError(f"field number 0 at byte {position}")
    if wire == _VARINT:
        last = _varint(buffer, first, end)[1]
    elif wire == _BYTES:
        length, first = _varint(buffer, first, end)
        last = first + length
    elif wire in _SIZES:
        last = first + _SIZES[wire]
    else:
        raise _WireError(f"wire type {wire} at byte {position}")
    if last > end:
        raise _WireError(f"a field ends {last - end} bytes after its message")
    return number, wire, first, last


def _varint(buffer: Buffer, position: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= end:
            raise _WireError("a number ends too early")
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), position
    raise _WireError("a number is too long")
