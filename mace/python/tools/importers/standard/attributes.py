# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Types of elements, and attributes, as ONNX's own packages have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import onnx

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_T = onnx.TensorProto

# Element types the importer reads; the others (strings, complex, 8-bit
# floats) have no counterpart.
ELEMENT_TYPES = {
    _T.FLOAT: DataType.FLOAT32,
    _T.DOUBLE: DataType.FLOAT64,
    _T.FLOAT16: DataType.FLOAT16,
    _T.BFLOAT16: DataType.BFLOAT16,
    _T.INT8: DataType.INT8,
    _T.INT16: DataType.INT16,
    _T.INT32: DataType.INT32,
    _T.INT64: DataType.INT64,
    _T.UINT8: DataType.UINT8,
    _T.UINT16: DataType.UINT16,
    _T.UINT32: DataType.UINT32,
    _T.UINT64: DataType.UINT64,
    _T.BOOL: DataType.BOOL,
}

# Two in each byte, the first one in its lower half. Only weights may have them.
FOUR_BITS = {_T.INT4: DataType.INT8, _T.UINT4: DataType.UINT8}


def element_type_name(number: int) -> str:
    """The name of an element type number, for example 'FLOAT8E5M2'."""
    known = {value: name for name, value in _T.DataType.items()}
    return str(known.get(number, f"number {number}"))


def tensor_type_of(value: Value | None) -> bytes:
    """A serialized `TypeProto` of what an importer knows; an empty one for None."""
    if value is None:
        return bytes(onnx.TypeProto().SerializeToString())
    kinds = {dtype: kind for kind, dtype in ELEMENT_TYPES.items()}
    kinds[DataType.FLOAT32] = onnx.TensorProto.FLOAT
    # The converter keeps 64 bits in 32.
    kinds[DataType.INT32] = onnx.TensorProto.INT64
    shape = value.shape
    dims = None if shape is None else [d if isinstance(d, int) else None for d in shape]
    proto = onnx.helper.make_tensor_type_proto(kinds[value.dtype], dims)
    return bytes(proto.SerializeToString())


class Attributes(Mapping[str, Any]):
    """Numbers, texts and tensors, each when it is asked for; graphs as they are."""

    def __init__(
        self, node: onnx.NodeProto, constant: Callable[[onnx.TensorProto], Constant]
    ) -> None:
        """`constant`: reads a tensor."""
        self._protos = {attribute.name: attribute for attribute in node.attribute}
        self._constant = constant

    def __getitem__(self, name: str) -> Any:
        proto = self._protos[name]
        value = onnx.helper.get_attribute_value(proto)
        if isinstance(value, onnx.TensorProto):
            return self._constant(value)
        if proto.type == onnx.AttributeProto.STRING:
            return _text(value)
        if proto.type == onnx.AttributeProto.STRINGS:
            return [_text(item) for item in value]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._protos)

    def __len__(self) -> int:
        return len(self._protos)

    def __contains__(self, name: object) -> bool:
        return name in self._protos


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
