# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A node of an operator with TensorFlow's meaning: attributes as plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mace.python.tools.ir.dtypes import Array, DataType

# The types that a model can have, by the number in TensorFlow's enumeration.
ELEMENT_TYPES = {
    1: DataType.FLOAT32,
    2: DataType.FLOAT64,
    3: DataType.INT32,
    4: DataType.UINT8,
    5: DataType.INT16,
    6: DataType.INT8,
    9: DataType.INT64,
    10: DataType.BOOL,
    11: DataType.INT8,  # qint8, integers of a range that other tensors give
    12: DataType.UINT8,  # quint8
    14: DataType.BFLOAT16,
    17: DataType.UINT16,
    19: DataType.FLOAT16,
    22: DataType.UINT32,
    23: DataType.UINT64,
}
_OTHER_TYPES = {7: "string", 8: "complex64", 20: "resource"}


def type_name(number: int) -> str:
    """TensorFlow's name of an element type, for messages."""
    if number in ELEMENT_TYPES:
        return ELEMENT_TYPES[number].value
    return _OTHER_TYPES.get(number, f"type {number}")


def upper_names(*names: str) -> dict[str, str]:
    """By the names of operators, those in the style of constants: FLOOR_DIV."""
    return {n: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", n).upper() for n in names}


def tensor_name(node: str, output: int) -> str:
    """The full name of a tensor, `node:output`."""
    return f"{node}:{output}"


@dataclass(frozen=True)
class Node:
    """One operator, as a file or another framework's operator describes it.

    Attributes:
        name, op: TensorFlow's.
        inputs: (node, output number) of every data input, in order.
        attrs: by name, as a file has them; numbers, texts and lists here.
        controls: names of the nodes that run before this one, though it reads nothing
            of them.
    """

    name: str
    op: str
    inputs: tuple[tuple[str, int], ...]
    attrs: Mapping[str, Any]
    controls: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether the attribute is set."""
        return name in self.attrs

    def integer(self, name: str, default: int = 0) -> int:
        """An integer or type attribute."""
        return int(self.attrs.get(name, default))

    def number(self, name: str, default: float = 0.0) -> float:
        """A float attribute."""
        return float(self.attrs.get(name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean attribute."""
        return bool(self.attrs.get(name, default))

    def string(self, name: str, default: str = "") -> str:
        """A string attribute."""
        return str(self.attrs.get(name, default))

    def function(self, name: str) -> str:
        """The name of the function that an attribute names; '' for none."""
        return self.string(name)

    def result_types(self) -> list[DataType | None]:
        """The type of the results, as far as attributes say it."""
        return []

    def ints(self, name: str) -> tuple[int, ...]:
        """A list of integers; empty if it is not set."""
        return tuple(self.attrs.get(name, ()))

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of floats; empty if it is not set."""
        return tuple(self.attrs.get(name, ()))

    def shape(self, name: str) -> tuple[int, ...] | None:
        """A shape attribute with -1 for unknown; None for unknown rank."""
        return self.attrs.get(name)

    def tensor(self) -> Array:
        """The elements of a Const node, as a view where that is possible.

        Raises:
            UnsupportedNodeError: the element type or the contents are not usable.
        """
        array: Array = self.attrs["value"]
        return array
