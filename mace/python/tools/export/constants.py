# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the layout of every constant and writes the data file."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO

import numpy as np

from mace.python.tools.catalogue import Packing, Port, default_catalogue
from mace.python.tools.export.packing import (
    FOUR,
    Layout,
    pack_n16_fours,
    pack_o16,
    pack_o16_fours,
    pack_o16_pairs,
    pack_rows_o16,
)
from mace.python.tools.export.storage import (
    SMALLEST_HALF,
    Noise,
    Storage,
    encode,
    fits,
    is_large,
    pack_o16_scaled,
    quantized_rows,
    stored_type,
)
from mace.python.tools.ir import Constant, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.quantized_ops import is_quantized

_LOG = logging.getLogger(__name__)

# Cache lines and the widest vectors; mace/proto/README.md requires it.
ALIGNMENT = 64
# Bytes that are written at a time: a multiple of the processor's large pages (2 MiB).
# Linux keeps the data of one call in pages as large as its size allows, and can then
# map these: 17 MB in 0.05 ms instead of 0.3. More than the processor's cache holds is
# slower both to write, 256 MB in 0.43 s of 32 MiB and in 0.12 s of 4 MiB, and to map
# (6.18, ext4).
WRITE_BYTES = 4 << 20


@dataclass(frozen=True)
class Form:
    """How a constant is stored."""

    packed: Packing | None
    groups: int
    storage: Storage
    # Only bfloat16 is stored in pairs.
    pairs: bool = False
    # Of a quantized operator.
    quantized: bool = False
    # In the integers that the model has.
    kept: bool = False

    @property
    def layout(self) -> Layout:
        """Its layout in the file."""
        if self.packed is None:
            return Layout.PLAIN
        if self.packed is Packing.INTEGER_MATRICES:
            return Layout.PACKED_N16_FOURS
        if self.quantized:
            return Layout.PACKED_O16_FOURS
        if self.storage is Storage.INT8:
            return Layout.PACKED_O16_SCALED
        in_pairs = self.pairs and self.storage is Storage.BFLOAT16
        return Layout.PACKED_O16_PAIRS if in_pairs else Layout.PACKED_O16

    @property
    def reads_rows(self) -> bool:
        """Whether the elements are stored as they are, some rows after the others."""
        return self.layout is Layout.PACKED_O16 and self.storage is Storage.FLOAT32

    def blocks(self, constant: Constant, array: Array, noise: Noise) -> Iterator[Array]:
        """The elements as they are stored, in the order of the file. The loss of 8-bit
        storage is added to `noise`.
        """
        if self.layout is Layout.PACKED_O16_SCALED:
            given = None
            if self.kept and constant.integers is not None:
                given = quantized_rows(constant.integers)
            yield from pack_o16_scaled(array, self.groups, noise, given)
            return
        for part in self._parts(array):
            is_float = part.dtype == np.float32
            yield encode(part, self.storage) if is_float else part

    def _parts(self, array: Array) -> Iterator[Array]:
        if self.layout is Layout.PLAIN:
            return iter([array])
        if self.layout is Layout.PACKED_N16_FOURS:
            return pack_n16_fours(array)
        return _FILTERS[self.layout](array, self.groups)


_FILTERS = {
    Layout.PACKED_O16: pack_o16,
    Layout.PACKED_O16_PAIRS: pack_o16_pairs,
    Layout.PACKED_O16_FOURS: pack_o16_fours,
}


@dataclass(frozen=True)
class PlannedConstant:
    """A constant of the file."""

    name: str
    value: Value
    form: Form

    @property
    def constant(self) -> Constant:
        """Its elements."""
        assert self.value.constant is not None
        return self.value.constant


@dataclass(frozen=True)
class WrittenConstant:
    """A constant and its place in the data file.

    Attributes:
        noise: what 8 bits lost; None in other types.
    """

    planned: PlannedConstant
    dtype: DataType
    layout: Layout
    offset: int
    size: int
    noise: Noise | None = None


class ConstantPlan:
    """All constants that operators read, once per layout."""

    def __init__(
        self,
        graph: Graph,
        storage: Storage,
        pairs: bool = False,
        eight_bit: bool = False,
        whatever_size: bool = False,
    ) -> None:
        self._storage = storage
        self._pairs = pairs
        self._eight_bit = eight_bit
        self._smallest = 0 if whatever_size else SMALLEST_HALF
        self._by_form: dict[tuple[Value, Form], PlannedConstant] = {}
        self._has_rows: dict[Value, bool] = {}
        self._taken = {name for name, v in graph.values.items() if not v.is_constant}
        for op in graph.ops:
            for index, value in enumerate(op.inputs):
                if value is not None and value.is_constant:
                    self._add(op, index, value)

    def __iter__(self) -> Iterator[PlannedConstant]:
        return iter(self._by_form.values())

    def name(self, op: Op, index: int) -> str:
        """The name in the file of the constant at an input of `op`."""
        value = op.input(index)
        return self._by_form[value, self._form(op, index, value)].name

    def _add(self, op: Op, index: int, value: Value) -> None:
        form = self._form(op, index, value)
        if (value, form) in self._by_form:
            return
        name, count = value.name, 0
        while name in self._taken:
            count += 1
            name = f"{value.name}#{count}"
        self._taken.add(name)
        self._by_form[value, form] = PlannedConstant(name, value, form)

    def _form(self, op: Op, index: int, value: Value) -> Form:
        port = default_catalogue()[op.type].input_port(index)
        quantized = is_quantized(op)
        packed = _packing(port, value, quantized)
        grouped = packed and "groups" in default_catalogue()[op.type].attributes
        groups = op.attr("groups") if grouped else 1
        kept = self._is_kept(port, value)
        storage = Storage.INT8 if kept else self._stored_as(op, port, value)
        return Form(
            packed, groups, storage, self._pairs, quantized and bool(packed), kept
        )

    def _is_kept(self, port: Port, value: Value) -> bool:
        """Whether the model has these weights in 8 bits, which they stay in."""
        constant = value.constant
        assert constant is not None
        # In 16 bits, operators may compute in them, which is faster.
        if constant.integers is None or self._storage is not Storage.FLOAT32:
            return False
        if port.packed is not Packing.FILTER or Storage.INT8.value not in port.types:
            return False
        if value.dtype is not DataType.FLOAT32 or not is_large(constant.shape):
            return False
        if value not in self._has_rows:
            self._has_rows[value] = quantized_rows(constant.integers) is not None
        return self._has_rows[value]

    def _stored_as(self, op: Op, port: Port, value: Value) -> Storage:
        assert value.constant is not None
        small = value.constant.size < self._smallest
        if value.dtype is not DataType.FLOAT32 or small:
            return Storage.FLOAT32
        filter_in_8_bits = port.packed is Packing.FILTER and self._eight_bit
        may_be_int8 = filter_in_8_bits and Storage.INT8.value in port.types
        if may_be_int8 and is_large(value.constant.shape):
            return Storage.INT8
        # An operator whose result has the type of its input, as Transpose, would pass
        # the smaller type on to operators that do not take it.
        results = default_catalogue()[op.type].outputs
        passes_on = any(self._storage.value in result.types for result in results)
        fits_port = self._storage.value in port.types and not passes_on
        return self._storage if fits_port else Storage.FLOAT32


def _packing(port: Port, value: Value, quantized: bool) -> Packing | None:
    assert value.constant is not None
    if quantized:
        is_filter = port.packed is Packing.FILTER
        in_fours = is_filter and value.constant.shape[-1] % FOUR == 0
        return port.packed if in_fours else None
    # Matrices without elements have no blocks.
    if port.packed is Packing.INTEGER_MATRICES and value.constant.size == 0:
        return None
    return port.packed


class DataFile:
    """Writes constants one after the other, aligned.

    The stream gets WRITE_BYTES at a time; `finish` writes the rest.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        # One buffer for the whole file: new memory costs more than a copy into it.
        self._waiting = np.empty(WRITE_BYTES, np.uint8).data
        self._count = 0
        self.size = 0
        self.crc32 = 0

    def write(self, planned: PlannedConstant) -> WrittenConstant:
        """Computes, packs and writes one constant."""
        constant, form = planned.constant, planned.form
        self._put(b"\0" * (-self.size % ALIGNMENT))
        offset = self.size
        noise = Noise()
        dtype = stored_type(constant.dtype, form.storage)
        if form.reads_rows:
            blocks = pack_rows_o16(constant.rows(), constant.shape[0], form.groups)
        else:
            array = constant.numpy()
            if constant.dtype is DataType.FLOAT32 and not fits(array, form.storage):
                _LOG.warning(
                    "%s holds numbers that %s cannot; it is stored as float32",
                    planned.name,
                    form.storage.value,
                )
                form = replace(form, storage=Storage.FLOAT32)
                dtype = constant.dtype
            blocks = form.blocks(constant, array, noise)
        for part in blocks:
            self._put_array(part)
        return WrittenConstant(
            planned,
            dtype,
            form.layout,
            offset,
            self.size - offset,
            noise if form.layout is Layout.PACKED_O16_SCALED else None,
        )

    def _put_array(self, array: Array) -> None:
        little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        flat = np.ascontiguousarray(little).reshape(-1).view(np.uint8)
        self._put(flat.data)

    def finish(self) -> None:
        """Writes the remaining bytes."""
        self._stream.write(self._waiting[: self._count])
        self._count = 0

    def _put(self, data: bytes | memoryview) -> None:
        self.crc32 = zlib.crc32(data, self.crc32)
        self.size += len(data)
        view = memoryview(data)
        while len(view) > 0:
            part = view[: WRITE_BYTES - self._count]
            self._waiting[self._count : self._count + len(part)] = part
            self._count += len(part)
            view = view[len(part) :]
            if self._count == WRITE_BYTES:
                self.finish()
