# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of a TensorFlow Lite file that a network needs, and says what it is.

Not read: metadata and signatures. Subgraphs behind the first one are the bodies of
control flow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.model_file import Buffer, map_file, other_format
from mace.python.tools.importers.tflite.flatbuffer import DamagedError, Flat, Table
from mace.python.tools.importers.tflite.options import (
    BUILTINS,
    CUSTOM,
    NEWER,
    read_options,
)
from mace.python.tools.importers.tflite.sparse import Sparsity, read_sparsity
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import from_ints

MARK = b"TFL3"
# What is wrong with a tensor whose numbers last from one run to the next.
VARIABLE = "is a variable"
# Operators that compute one step of a layer, and change its state.
STEPS = frozenset({"LSTM", "RNN", "SVDF"})
# Behind the name of a state: the tensor of its value after the run.
AFTER = "/next"
_VERSION = 3

FLOAT32, COMPLEX64 = 0, 8
# The types that a tensor can have, by the number in the schema.
ELEMENT_TYPES = {
    0: DataType.FLOAT32,
    1: DataType.FLOAT16,
    2: DataType.INT32,
    3: DataType.UINT8,
    4: DataType.INT64,
    6: DataType.BOOL,
    7: DataType.INT16,
    9: DataType.INT8,
    10: DataType.FLOAT64,
    12: DataType.UINT64,
    15: DataType.UINT32,
    16: DataType.UINT16,
    17: DataType.INT8,
    18: DataType.BFLOAT16,
    19: DataType.INT8,
}
_OTHER_TYPES = {
    5: "string",
    COMPLEX64: "complex64",
    11: "complex128",
    13: "resource",
    14: "variant",
    20: "uint4",
}
# Integers of fewer bits, the lowest bits of a byte first.
_BITS = {17: 4, 19: 2}
_BLOCKWISE = 2


@dataclass(frozen=True)
class Scales:
    """What the integers of a tensor stand for: scale * (q - zero point).

    Attributes:
        scales: one, or one for each index of the axis; of float32.
        zeros: as many, of int64.
        axis: of several scales.
    """

    scales: Array
    zeros: Array
    axis: int


@dataclass(frozen=True)
class Tensor:
    """A tensor of the file.

    Attributes:
        name: no other tensor has it.
        number: of its type in the schema.
        shape: with -1 for what is known at run time only.
        quantization: None if it is not quantized.
        buffer: its elements; empty if they are computed.
        problem: what of it cannot be read; '' if all can.
        sparsity: where the elements are, if those that are 0 are left out.
    """

    name: str
    number: int
    shape: tuple[int, ...]
    quantization: Scales | None
    buffer: Array
    problem: str
    sparsity: Sparsity | None = None

    @property
    def dtype(self) -> DataType:
        """Its element type.

        Raises:
            UnsupportedNodeError: MACE has none.
        """
        if self.number not in ELEMENT_TYPES:
            raise UnsupportedNodeError(f"{self.name} is of {type_name(self.number)}")
        return ELEMENT_TYPES[self.number]

    def array(self) -> Array:
        """The elements of a constant, as a view where that is possible.

        Raises:
            UnsupportedNodeError: they do not fit its shape, or are not plain.
        """
        if self.problem:
            raise UnsupportedNodeError(f"{self.name} {self.problem}")
        if self.number == COMPLEX64:
            pairs = replace(self, number=FLOAT32, shape=(*self.shape, 2)).array()
            return np.asarray(pairs[..., 0] + 1j * pairs[..., 1])
        dtype, data = self.dtype, self.buffer
        bits = _BITS.get(self.number)
        stored = np.dtype("uint16") if dtype is DataType.BFLOAT16 else dtype.numpy
        if self.sparsity is not None and min(self.shape, default=0) >= 0:
            return self._dense(self.sparsity, stored)
        count = math.prod(self.shape)
        size = -(-count * bits // 8) if bits else count * stored.itemsize
        if min(self.shape, default=0) < 0 or len(data) != size:
            raise UnsupportedNodeError(
                f"{self.name} of {list(self.shape)} {type_name(self.number)} holds "
                f"{len(data)} bytes, not {size}: the file is damaged"
            )
        if bits:
            return np.reshape(_unpacked(data, bits)[:count], self.shape)
        array: Array = data.view(stored.newbyteorder("<")).reshape(self.shape)
        if dtype is DataType.BFLOAT16:
            return np.asarray((array.astype(np.uint32) << 16).view(np.float32))
        return array

    def _dense(self, sparsity: Sparsity, stored: np.dtype[Any]) -> Array:
        if self.number in _BITS or self.dtype is DataType.BFLOAT16:
            raise UnsupportedNodeError(
                f"{self.name} is sparse {type_name(self.number)}"
            )
        if len(self.buffer) % stored.itemsize:
            raise UnsupportedNodeError(f"{self.name} holds a part of an element")
        values = self.buffer.view(stored.newbyteorder("<"))
        try:
            return sparsity.dense(values, self.shape)
        except UnsupportedNodeError as error:
            raise UnsupportedNodeError(f"{self.name} {error.reason}") from error


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes:
        type: of a builtin, or `CUSTOM`.
        custom: the name of a custom operator.
        inputs: tensors by number; -1 for one that is left out.
        outputs: likewise. Behind those of the file are the states after the run.
        options: by name.
        states: the output after the run, by the place of the input before it.
    """

    type: str
    custom: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]
    states: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Network:
    """A subgraph of a file; the first one is the network.

    Attributes:
        inputs, outputs: tensors by number.
        subgraphs: all of the file, known to the first one.
        states: tensors that last from one run to the next, by number, and the tensors
            of their values after the run, which the file does not have.
    """

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    subgraphs: tuple[Network, ...] = ()
    states: Mapping[int, int] = field(default_factory=dict)


def type_name(number: int) -> str:
    """The schema's name of an element type, for messages."""
    if number in _BITS:
        return f"int{_BITS[number]}"
    if number in ELEMENT_TYPES:
        return ELEMENT_TYPES[number].value
    return _OTHER_TYPES.get(number, f"type {number}")


def unique_names(names: Iterable[str]) -> list[str]:
    """The names of tensors, by which a deployment file calls them. Files may repeat
    names, or leave them out: such a tensor has its number at the end.
    """
    names = list(names)
    taken = set(names)
    found, seen = [], set()
    for index, name in enumerate(names):
        if not name or name in seen:
            name = f"{name or 'tensor'}#{index}"
            while name in taken:
                name += "#"
            taken.add(name)
        seen.add(name)
        found.append(name)
    return found


def read_network(path: Path) -> Network:
    """The network of a `.tflite` file.

    Raises:
        ImportModelError: the file is none, or is damaged.
    """
    try:
        data = map_file(path)
        other = other_format(path)
    except OSError as error:
        raise ImportModelError(
            f"model_file_path: {path} cannot be read: {error.strerror}"
        ) from error
    if data[4:8] != MARK:
        what = f"is {other}" if other else "is not a TensorFlow Lite model"
        raise ImportModelError(f"model_file_path: {path} {what}")
    try:
        return _network(data)
    except DamagedError as error:
        raise ImportModelError(
            f"model_file_path: {path} is cut off or damaged: {error}; export it again"
        ) from error


def _network(data: Buffer) -> Network:
    flat = Flat(data)
    model = flat.root()
    version = model.number(0, "I")
    if version != _VERSION:
        raise DamagedError(f"the version of its schema is {version}, not {_VERSION}")
    subgraphs = model.tables(2)
    if not subgraphs:
        raise DamagedError("it has no subgraph")
    codes = [_code(table) for table in model.tables(1)]
    buffers = model.tables(4)
    networks = tuple(_subgraph(flat, table, codes, buffers) for table in subgraphs)
    budget().nodes += sum(len(network.operators) for network in networks)
    return replace(_with_states(networks[0]), subgraphs=networks)


def _with_states(network: Network) -> Network:
    """With an output for each state that an operator changes."""
    tensors, states = [*network.tensors], dict[int, int]()
    names = {tensor.name for tensor in tensors}
    operators = []
    for operator in network.operators:
        places: dict[int, int] = {}
        after: list[int] = []
        for place, index in enumerate(operator.inputs):
            if operator.type not in STEPS or index < 0 or index in states:
                continue
            state = tensors[index]
            if state.problem != VARIABLE:
                continue
            name = f"{state.name}{AFTER}"
            while name in names:
                name += "#"
            names.add(name)
            places[place] = len(operator.outputs) + len(after)
            states[index] = len(tensors)
            after.append(len(tensors))
            tensors.append(replace(state, name=name, problem=""))
        operators.append(
            replace(operator, outputs=(*operator.outputs, *after), states=places)
            if after
            else operator
        )
    return replace(
        network, tensors=tuple(tensors), operators=tuple(operators), states=states
    )


def _subgraph(
    flat: Flat, table: Table, codes: list[tuple[str, str]], buffers: list[Table]
) -> Network:
    tables = table.tables(0)
    names = unique_names(entry.text(3) for entry in tables)
    tensors = tuple(
        _tensor(flat, entry, name, buffers) for entry, name in zip(tables, names)
    )
    return Network(
        tensors,
        tuple(_operator(entry, codes, len(tensors)) for entry in table.tables(3)),
        _numbers(table, 1, len(tensors), 0),
        _numbers(table, 2, len(tensors), 0),
    )


def _code(table: Table) -> tuple[str, str]:
    """The type of an operator, and its name if that is `CUSTOM`."""
    # Old files have only the first field; new ones fill it, too.
    number = max(table.number(0, "b"), table.number(3, "i"))
    if not 0 <= number < len(BUILTINS):
        return f"BUILTIN_{number}", ""
    return BUILTINS[number], table.text(1)


def _operator(table: Table, codes: list[tuple[str, str]], count: int) -> Operator:
    index = table.number(0, "I")
    if index >= len(codes):
        raise DamagedError(f"an operator has code {index} of {len(codes)}")
    kind, custom = codes[index]
    return Operator(
        kind,
        custom if kind == CUSTOM else "",
        _numbers(table, 1, count, -1),
        _numbers(table, 2, count, 0),
        read_options(kind, table.table(12 if kind in NEWER else 4)),
    )


def _numbers(table: Table, index: int, count: int, least: int) -> tuple[int, ...]:
    """A list of tensors."""
    found = tuple(table.vector(index, np.int32).tolist())
    for number in found:
        if not least <= number < count:
            raise DamagedError(f"it names tensor {number} of {count}")
    return found


def _tensor(flat: Flat, table: Table, name: str, buffers: list[Table]) -> Tensor:
    index = table.number(2, "I")
    if index >= len(buffers):
        raise DamagedError(f"tensor {name} has buffer {index} of {len(buffers)}")
    scales, problem = _scales(table.table(4))
    sparsity = table.table(6)
    if table.number(5, "?"):
        problem = VARIABLE
    elif table.number(10, "I"):
        problem = "is in another file"
    shape = table.vector(7, np.int32)
    if not shape.size:
        shape = table.vector(0, np.int32)
    return Tensor(
        name,
        table.number(1, "b"),
        tuple(shape.tolist()),
        scales,
        _elements(flat, buffers[index]) if index else np.zeros(0, np.uint8),
        problem,
        None if sparsity is None else read_sparsity(sparsity),
    )


def _elements(flat: Flat, buffer: Table) -> Array:
    """The bytes of a buffer; those of large files are behind all tables."""
    at, count = buffer.number(1, "Q"), buffer.number(2, "Q")
    if at <= 1:
        return buffer.vector(0, np.uint8)
    flat.check(at, count)
    return np.frombuffer(flat.data, np.uint8, count, at)


def _scales(table: Table | None) -> tuple[Scales | None, str]:
    """What integers stand for, and what of it cannot be read."""
    if table is None:
        return None, ""
    if table.number(4, "B") == _BLOCKWISE:
        return None, "has a scale for each block; one for each channel can be read"
    scales = table.vector(2, np.float32)
    if not scales.size:
        return None, ""
    zeros = table.vector(3, np.int64)
    if zeros.size != scales.size:
        # Zero points that are left out are 0.
        if zeros.size > 1:
            return None, f"has {scales.size} scales and {zeros.size} zero points"
        zeros = np.broadcast_to(zeros if zeros.size else np.int64(0), scales.shape)
    return Scales(scales, zeros, table.number(6, "i")), ""


def _unpacked(data: Array, bits: int) -> Array:
    """Integers of few bits as int8."""
    each = 8 // bits
    parts = [data << (8 - bits * (i + 1)) for i in range(each)]
    wide = np.stack(parts, axis=-1).reshape(-1).view(np.int8)
    return np.asarray(wide >> (8 - bits))


def describe(network: Network) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    tensors, states = network.tensors, network.states
    return ModelDescription(
        framework="TensorFlow Lite",
        image_order=DataFormat.NHWC,
        inputs=tuple(_describe(tensors[i]) for i in (*network.inputs, *states)),
        outputs=tuple(
            _describe(tensors[i]) for i in (*network.outputs, *states.values())
        ),
        states={tensors[i].name: tensors[after].name for i, after in states.items()},
        operators=Counter(op.custom or op.type for op in network.operators),
    )


def _describe(tensor: Tensor) -> TensorDescription:
    return TensorDescription(
        tensor.name, from_ints(tensor.shape), ELEMENT_TYPES.get(tensor.number)
    )
