# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a graph, with typed access to their attributes, and functions they call.

In a function, ``node:name:1`` is the second tensor of the node's output called `name`.
A frozen graph says ``node:3`` for the fourth tensor of all outputs together, and so
does the importer; `_OUTPUTS` says where a named output begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, Node, type_name
from mace.python.tools.ir.dtypes import Array, DataType

Tensor = tuple[str, int]
# Nodes of inputs.
PLACEHOLDERS = {"Placeholder", "PlaceholderV2"}
# The outputs, in order, of operators that have several ones with names. Each is one
# tensor; an output of any number of tensors is the only one of its operator.
_OUTPUTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("FusedBatchNorm", "FusedBatchNormV2"),
        ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    ),
    "FusedBatchNormV3": (
        *("y", "batch_mean", "batch_variance"),
        *("reserve_space_1", "reserve_space_2", "reserve_space_3"),
    ),
    "Switch": ("output_false", "output_true"),
    "Merge": ("output", "value_index"),
    "TopK": ("values", "indices"),
    "TopKV2": ("values", "indices"),
    "Unique": ("y", "idx"),
    "UniqueV2": ("y", "idx"),
    "UniqueWithCounts": ("y", "idx", "count"),
    "UniqueWithCountsV2": ("y", "idx", "count"),
    "ListDiff": ("out", "idx"),
    "StatelessRandomGetKeyCounter": ("key", "counter"),
    "BroadcastGradientArgs": ("r0", "r1"),
    "MaxPoolWithArgmax": ("output", "argmax"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "CombinedNonMaxSuppression": (
        *("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"),
    ),
    "TensorListPopBack": ("output_handle", "tensor"),
    "TensorListConcat": ("tensor", "lengths"),
    "TensorListConcatV2": ("tensor", "lengths"),
    "Svd": ("s", "u", "v"),
    "Qr": ("q", "r"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
}


def split_tensor_name(name: str) -> Tensor:
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

    def _read(self, name: str, default: Any, read: Callable[[Any], Any]) -> Any:
        return read(self.attrs[name]) if name in self.attrs else default

    def integer(self, name: str, default: int = 0) -> int:
        def read(attr: Any) -> int:
            return int(attr.type if attr.WhichOneof("value") == "type" else attr.i)

        return int(self._read(name, default, read))

    def number(self, name: str, default: float = 0.0) -> float:
        return float(self._read(name, default, lambda attr: attr.f))

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self._read(name, default, lambda attr: attr.b))

    def string(self, name: str, default: str = "") -> str:
        def read(attr: Any) -> str:
            return bytes(attr.s).decode("utf-8", "replace")

        return str(self._read(name, default, read))

    def function(self, name: str) -> str:
        return str(self._read(name, "", lambda attr: attr.func.name))

    def ints(self, name: str) -> tuple[int, ...]:
        return tuple(self._read(name, (), lambda attr: attr.list.i))

    def numbers(self, name: str) -> tuple[float, ...]:
        return tuple(self._read(name, (), lambda attr: attr.list.f))

    def shape(self, name: str) -> tuple[int, ...] | None:
        shape = self._read(name, None, lambda attr: attr.shape)
        if shape is None or shape.unknown_rank:
            return None
        return tuple(dim.size for dim in shape.dim)

    def result_types(self) -> list[DataType | None]:
        for name in ("DstT", "out_type", "output_type", "dtype", "T"):
            if name in self.attrs and self.attrs[name].WhichOneof("value") == "type":
                return [ELEMENT_TYPES.get(int(self.attrs[name].type))]
        return []

    def tensor(self) -> Array:
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


@dataclass(frozen=True)
class Function:
    """A function of the library.

    Attributes:
        arguments: names of its inputs.
        nodes: by name.
        results: the tensor of each output.
    """

    name: str
    arguments: tuple[str, ...]
    nodes: Mapping[str, GraphNode]
    results: tuple[Tensor, ...]


def read_function(proto: Any) -> Function:
    """A function of a `FunctionDef`."""
    types = {node.name: node.op for node in proto.node_def}
    nodes = {
        node.name: GraphNode(
            node.name,
            node.op,
            tuple(_tensor_of(name, types) for name in node.input if name[:1] != "^"),
            node.attr,
            control_inputs(node.input),
        )
        for node in proto.node_def
    }
    return Function(
        proto.signature.name,
        tuple(argument.name for argument in proto.signature.input_arg),
        nodes,
        tuple(
            _tensor_of(proto.ret[output.name], types)
            for output in proto.signature.output_arg
        ),
    )


def _tensor_of(text: str, types: Mapping[str, str]) -> Tensor:
    node, *place = text.split(":")
    if len(place) < 2 or not place[1].isdigit():
        return node, 0  # an argument
    names = _OUTPUTS.get(types.get(node, ""), ())
    first = names.index(place[0]) if place[0] in names else 0
    return node, first + int(place[1])
