# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators and values, the parts of a graph."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.catalogue import AttributeValue, default_catalogue
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import Shape, format_shape


class GraphError(Exception):
    """An invalid edit of the graph: a defect of an importer or a pass."""


class DataFormat(str, enum.Enum):
    """Meaning of the four dimensions of an image-like tensor."""

    NONE = "NONE"
    NHWC = "NHWC"
    NCHW = "NCHW"


class Value:
    """A tensor: a model input, a constant or an output of an operator.

    Attributes:
        name: unique in the graph.
        dtype, shape: as far as known; see `shapes`.
        quantization: what its integers stand for, None if for themselves. Stated
            by the framework's model and by Quantize; inference keeps it.
        constant: its elements if they are known.
        dims: its elements if they follow from shapes that the run determines: an array
            of `Dim`. The conditions that compare them are bool.
        producer: the operator whose output this is, None for inputs and
            constants.
        uses: (operator, input number) of every reader.
        source: name of the framework's tensor that has the same values up to
            the order of dimensions, None if there is none.
        source_axes: axis i of this value is axis source_axes[i] of that tensor; None
            for the framework's own order. A constant that is another one transposed
            has them without `source`.
    """

    def __init__(self, name: str, dtype: DataType, shape: Shape | None) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.constant: Constant | None = None
        self.dims: Array | None = None
        self.producer: Op | None = None
        self.uses: list[tuple[Op, int]] = []
        self.source: str | None = None
        self.source_axes: tuple[int, ...] | None = None
        self.quantization: Quantization | None = None

    @property
    def source_shape(self) -> Shape | None:
        """The shape in the order of dimensions of the framework's tensor."""
        if self.shape is None or self.source_axes is None:
            return self.shape
        placed = dict(zip(self.source_axes, self.shape))
        return tuple(placed[axis] for axis in range(len(self.shape)))

    @property
    def shown_shape(self) -> str:
        """The shape for messages: that of a constant as the framework has it; that of
        others as operators see it, with the framework's where that is another one.
        """
        known = format_shape(self.source_shape)
        if self.is_constant or self.source_axes is None:
            return known
        return f"{format_shape(self.shape)} ({known} in the framework)"

    def take_source(self, other: Value, perm: tuple[int, ...] | None = None) -> None:
        """Takes the framework's tensor of a value that has the same elements.

        Args:
            perm: this value is `other`, transposed by it.
        """
        self.source, self.source_axes = other.source, other.source_axes
        if perm is not None:
            axes = other.source_axes or tuple(range(len(perm)))
            self.source_axes = tuple(axes[axis] for axis in perm)

    @property
    def is_constant(self) -> bool:
        """Whether the elements are known now."""
        return self.constant is not None

    def numpy(self) -> Array:
        """The elements of a constant; do not write into the result."""
        if self.constant is None:
            raise GraphError(f"{self.name} is not a constant")
        return self.constant.numpy()

    @property
    def rank(self) -> int | None:
        """Number of dimensions, None if unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def consumers(self) -> list[Op]:
        """The operators that read this, each once, in no special order."""
        return list(dict.fromkeys(op for op, _ in self.uses))

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.dtype.value}, {self.shape})"


class Op:
    """An operator. Made by `Graph.add_op` or by `GraphBuilder.op`.

    Attributes:
        subgraph: index of the graph's subgraph that it belongs to; None for one
            that a pass added, see `subgraphs.assign_rest`.
    """

    def __init__(
        self, name: str, op_type: str, attrs: Mapping[str, AttributeValue]
    ) -> None:
        self.name = name
        self.type = op_type
        self.attrs: dict[str, AttributeValue] = dict(attrs)
        self.subgraph: int | None = None
        self._inputs: list[Value | None] = []
        self._outputs: list[Value] = []

    @property
    def inputs(self) -> tuple[Value | None, ...]:
        """Values in port order; None is an optional input left out."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """Values in port order."""
        return tuple(self._outputs)

    @property
    def output(self) -> Value:
        """The only output."""
        if len(self._outputs) != 1:
            raise GraphError(f"{self.name} has {len(self._outputs)} outputs")
        return self._outputs[0]

    def input(self, index: int) -> Value:
        """An input that must be connected."""
        value = self.get_input(index)
        if value is None:
            raise GraphError(f"{self.name} has no input {index}")
        return value

    def get_input(self, index: int) -> Value | None:
        """An input, None if it is not connected."""
        return self._inputs[index] if index < len(self._inputs) else None

    def attr(self, name: str) -> Any:
        """An attribute, or the default that its declaration gives."""
        if name in self.attrs:
            return self.attrs[name]
        schema = default_catalogue()[self.type]
        attribute = schema.attributes.get(name)
        if attribute is None or attribute.default is None:
            raise GraphError(f"{self.name} ({self.type}) has no {name!r}")
        return attribute.default

    def set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute; lists and NumPy numbers are accepted."""
        self.attrs[name] = normalize_attribute(value)

    def set_input(self, index: int, value: Value | None) -> None:
        """Connects an input port, adding ports up to it if needed."""
        while len(self._inputs) <= index:
            self._inputs.append(None)
        old = self._inputs[index]
        if old is not None:
            old.uses.remove((self, index))
        self._inputs[index] = value
        if value is not None:
            value.uses.append((self, index))
        while self._inputs and self._inputs[-1] is None:
            self._inputs.pop()

    def set_inputs(self, values: Sequence[Value | None]) -> None:
        """Replaces all inputs."""
        for index in reversed(range(len(self._inputs))):
            self.set_input(index, None)
        for index, value in enumerate(values):
            if value is not None:
                self.set_input(index, value)

    def __repr__(self) -> str:
        return f"Op({self.name!r}, {self.type})"


def normalize_attribute(value: Any) -> AttributeValue:
    """An attribute in the form the catalogue checks: plain and immutable."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return tuple(value.reshape(-1).tolist())
    if isinstance(value, Iterable):
        return tuple(normalize_attribute(v) for v in value)  # type: ignore
    raise TypeError(f"{value!r} cannot be an attribute")
