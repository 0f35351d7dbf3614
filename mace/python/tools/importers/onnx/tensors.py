# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of an ONNX file as constants that are read when they are needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import onnx
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import Buffer, leads_outside, map_file
from mace.python.tools.importers.onnx.mapped_file import THIS_FILE, MappedModel
from mace.python.tools.importers.standard.element_types import (
    ELEMENT_TYPES,
    FOUR_BITS,
    element_type_name,
)
from mace.python.tools.ir.builder import narrow, narrow_constant
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.wording import on_one_line, shown

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
