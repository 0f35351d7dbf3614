# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A node of a frozen graph, with typed access to its attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.node import (
    ELEMENT_TYPES,
    Node,
    type_name,
)
from mace.python.tools.ir.dtypes import Array, DataType


def split_tensor_name(name: str) -> tuple[str, int]:
    """`scope/node:1` -> (`scope/node`, 1); the output number defaults to 0."""
    node, separator, output = name.rpartition(":")
    if separator and output.isdigit():
        return node, int(output)
    return name, 0


def control_inputs(inputs: Iterable[str]) -> tuple[str, ...]:
    """The nodes that a NodeDef names as `^node`."""
    return tuple(name[1:] for name in inputs if name[:1] == "^")


@dataclass(frozen=True)
class GraphNode(Node):
    """One operator of the frozen graph, whose attributes are messages."""

    def integer(self, name: str, default: int = 0) -> int:
        """An integer or type attribute."""
        if name not in self.attrs:
            return default
        attr = self.attrs[name]
        return int(attr.type if attr.WhichOneof("value") == "type" else attr.i)

    def number(self, name: str, default: float = 0.0) -> float:
        """A float attribute."""
        return self.attrs[name].f if name in self.attrs else default

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean attribute."""
        return self.attrs[name].b if name in self.attrs else default

    def string(self, name: str, default: str = "") -> str:
        """A string attribute."""
        if name not in self.attrs:
            return default
        return bytes(self.attrs[name].s).decode("utf-8", "replace")

    def function(self, name: str) -> str:
        """The name of the function that an attribute names; '' for none."""
        return str(self.attrs[name].func.name) if name in self.attrs else ""

    def ints(self, name: str) -> tuple[int, ...]:
        """A list of integers; empty if it is not set."""
        return tuple(self.attrs[name].list.i) if name in self.attrs else ()

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of floats; empty if it is not set."""
        return tuple(self.attrs[name].list.f) if name in self.attrs else ()

    def shape(self, name: str) -> tuple[int, ...] | None:
        """A shape attribute with -1 for unknown; None for unknown rank."""
        if name not in self.attrs:
            return None
        shape = self.attrs[name].shape
        if shape.unknown_rank:
            return None
        return tuple(dim.size for dim in shape.dim)

    def result_types(self) -> list[DataType | None]:
        """The type of the results, as far as attributes say it."""
        for name in ("DstT", "out_type", "output_type", "dtype", "T"):
            if name in self.attrs and self.attrs[name].WhichOneof("value") == "type":
                return [ELEMENT_TYPES.get(int(self.attrs[name].type))]
        return []

    def tensor(self) -> Array:
        """The elements of a Const node, as a view where that is possible.

        Raises:
            UnsupportedNodeError: the element type or the contents are not usable.
        """
        return decode_tensor(self.attrs["value"].tensor)


_VALUE_FIELDS = {
    DataType.FLOAT32: "float_val",
    DataType.FLOAT64: "double_val",
    DataType.INT64: "int64_val",
    DataType.BOOL: "bool_val",
    DataType.UINT32: "uint32_val",
    DataType.UINT64: "uint64_val",
    DataType.FLOAT16: "half_val",
    DataType.BFLOAT16: "half_val",
}


def decode_tensor(proto: Any) -> Array:
    """The array of a TensorProto.

    Raises:
        UnsupportedNodeError: its type has no counterpart, or the number of elements
            does not fit its shape.
    """
    dtype = ELEMENT_TYPES.get(proto.dtype)
    if dtype is None:
        raise UnsupportedNodeError(f"constant of {type_name(proto.dtype)}")
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if any(dim < 0 for dim in shape):
        raise UnsupportedNodeError("constant without a complete shape")
    stored = np.dtype("uint16") if dtype is DataType.BFLOAT16 else dtype.numpy
    count = math.prod(shape)
    if proto.tensor_content:
        data = proto.tensor_content
        if len(data) != count * stored.itemsize:
            raise UnsupportedNodeError(
                f"constant of {list(shape)} {dtype.value} holds {len(data)} bytes, "
                f"not {count * stored.itemsize}: the file is damaged"
            )
        array: Array = np.frombuffer(data, stored.newbyteorder("<"))
    else:
        array = _from_values(proto, dtype, stored, count)
    array = array.reshape(shape)
    if dtype is DataType.BFLOAT16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _from_values(
    proto: Any, dtype: DataType, stored: np.dtype[Any], count: int
) -> Array:
    values = getattr(proto, _VALUE_FIELDS.get(dtype, "int_val"))
    if dtype in (DataType.FLOAT16, DataType.BFLOAT16):
        array: Array = np.array(values, np.uint16).view(stored)
    else:
        array = np.array(values, stored)
    if len(array) > count:
        raise UnsupportedNodeError(
            f"constant of {count} elements holds {len(array)}: the file is damaged"
        )
    if len(array) == count:
        return array
    # The last value fills the rest; without values, all are zeros.
    fill = array[-1] if len(array) else stored.type(0)
    if len(array) < 2:
        check_made(count, repeated=True)
        return np.broadcast_to(fill, count)
    check_made(count)
    whole = np.full(count, fill, stored)
    whole[: len(array)] = array
    return whole
