# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a handler, and the table in which handlers register."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from mace.python.tools.importers.frame.errors import (
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.known import (
    KnownShapes,
    known_elements,
)
from mace.python.tools.importers.tf_operators.node import Node, tensor_name
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

if TYPE_CHECKING:
    from mace.python.tools.importers.standard.operators import Operators


@dataclass(frozen=True)
class TensorList:
    """A list of tensors of TensorFlow, whose length the converter knows.

    Attributes:
        elements: None where nothing was stored.
        stacked: instead of them, one tensor whose slices along axis 0 they are.
        shape: of an element, -1 for what is not known; None for an unknown rank.
        dtype: of an element, by TensorFlow's number.
    """

    elements: tuple[Value | None, ...] = ()
    stacked: Value | None = None
    shape: tuple[int, ...] | None = None
    dtype: int = 1


@dataclass(frozen=True)
class Variable:
    """What stands for a variable, where TensorFlow reads it by a node of its own.

    Attributes:
        name: of the variable, see `variable_id`.
    """

    value: Value
    name: str


def variable_id(node: Node) -> str:
    """What is the same for two nodes that stand for one variable."""
    return node.string("shared_name") or node.name


# What a node gives.
Item = Union[Value, TensorList, Variable]
# The value of a variable by the name of its node; None if there is none.
ReadVariable = Callable[[str], Union[Array, None]]


def no_variables(name: str) -> Array | None:
    """Those of a frozen graph."""
    del name
    return None


class Context(KnownShapes):
    """One node under conversion.

    Attributes:
        node: the node.
        builder: where its operators go.
        items: its data inputs.
        results: its outputs, filled by handlers.
        reads: the names of variables whose values the node uses, filled likewise.
    """

    def __init__(
        self,
        node: Node,
        builder: GraphBuilder,
        items: Sequence[Item],
        read: ReadVariable = no_variables,
    ) -> None:
        self.node = node
        self.builder = builder
        self.items = tuple(items)
        self.results: dict[int, Item] = {}
        self.reads: set[str] = set()
        self._read = read

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The data inputs, which must be tensors."""
        return tuple(self.input(index) for index in range(len(self.items)))

    def input(self, index: int) -> Value:
        """An input that must be there."""
        item = self._item(index)
        if isinstance(item, TensorList):
            raise UnsupportedNodeError(f"input {index} is a list of tensors")
        if isinstance(item, Variable):
            raise UnsupportedNodeError(
                f"input {index} is a variable, which can only be read"
            )
        return item

    def tensor_list(self, index: int) -> TensorList:
        """An input that must be a list of tensors."""
        item = self._item(index)
        if not isinstance(item, TensorList):
            raise UnsupportedNodeError(f"input {index} is no list of tensors")
        return item

    def variable(self) -> Array | None:
        """The value of the variable that the node is; None if there is none."""
        return self._read(self.node.name)

    def expect_variable(self, index: int) -> Variable:
        """An input that must be a variable, and whose value does not matter."""
        item = self._item(index)
        if not isinstance(item, Variable):
            raise UnsupportedNodeError(f"input {index} is no variable")
        return item

    def read_variable(self, index: int) -> Value:
        """The value of an input that must be a variable."""
        variable = self.expect_variable(index)
        self.reads.add(variable.name)
        return variable.value

    def _item(self, index: int) -> Item:
        if not 0 <= index < len(self.items):
            raise UnsupportedNodeError(f"input {index} is missing")
        return self.items[index]

    def output_name(self, index: int = 0) -> str:
        """TensorFlow's name of an output."""
        return tensor_name(self.node.name, index)

    def emit(self, op_type: str, inputs: Sequence[Value | None], **attrs: Any) -> Value:
        """Adds an operator that gives output 0 of this node."""
        value = self.builder.one(
            op_type, inputs, self.output_name(), attrs, self.node.name
        )
        self.results[0] = value
        return value

    def emit_eltwise(self, mode: str, *operands: Value | float) -> None:
        """As `eltwise`, for output 0 of this node."""
        self.emit("Eltwise", self._values(operands), mode=mode)

    def pass_on(self, value: Value, index: int = 0) -> None:
        """Makes a value an output of this node."""
        self.results[index] = self.builder.alias(value, self.output_name(index))

    def give(self, array: Array, index: int = 0) -> None:
        """Makes what is known now an output of this node."""
        name = self.output_name(index)
        self.results[index] = self.builder.constant(name, np.asarray(array))

    def step(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        suffix: str = "",
        /,
        **attrs: Any,
    ) -> Value:
        """Adds a helper operator that TensorFlow does not have."""
        name = f"{self.node.name}/{suffix or op_type}"
        return self.builder.one(op_type, inputs, None, attrs, name)

    def make(
        self, op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
    ) -> Value:
        """The same for functions that know no node, as those of `importers.emit`."""
        return self.step(op_type, inputs, **attrs)

    def eltwise(self, mode: str, *operands: Value | float) -> Value:
        """Adds arithmetic on elements; numbers have the type of the first tensor."""
        return self.step("Eltwise", self._values(operands), mode.lower(), mode=mode)

    def cast(self, value: Value, dtype: DataType) -> Value:
        """A value in another type."""
        if value.dtype is dtype:
            return value
        return self.step("Cast", [value], dtype.value, to=dtype.name)

    def cut(
        self, value: Value, axis: int, begin: int, end: int, *, shrink: bool = False
    ) -> Value:
        """The elements from `begin` to the one before `end` along an axis; with
        `shrink`, without the axis.
        """
        attrs = {"axes": [axis], "begins": [begin], "ends": [end], "strides": [1]}
        shrunk = [axis] if shrink else []
        return self.step("StridedSlice", [value], "part", **attrs, shrink_axes=shrunk)

    def _values(self, operands: Sequence[Value | float]) -> list[Value]:
        like = next(value for value in operands if isinstance(value, Value))
        return [v if isinstance(v, Value) else self.number(v, like) for v in operands]

    def number(self, number: float, like: Value | None = None) -> Value:
        """A constant without dimensions in the type of a value, or a float."""
        dtype = DataType.FLOAT32 if like is None else like.dtype
        return self.constant(np.asarray(number, dtype.numpy), "number")

    @property
    def standard(self) -> Operators:
        """Operators of ONNX, for what means the same, and is several of MACE."""
        # Imports ONNX itself, which takes half a second: for rare operators.
        from mace.python.tools.importers.standard.operators import Operators

        return Operators(self.builder, self.node.name, self.static_hint)

    def constant(self, array: Array, suffix: str = "value") -> Value:
        """Adds a constant that belongs to this node."""
        return self.builder.constant(f"{self.node.name}/{suffix}", array)

    def values(self, index: int, what: str) -> Array:
        """The elements of an input that must be known now.

        Raises:
            UnsupportedNodeError: they are computed at run time.
        """
        hint = "make it a constant, or fix the input shapes it follows from"
        return known_elements(self.input(index), what, hint).numpy()

    def ints(self, index: int, what: str) -> list[int]:
        """As `values`, flat, as integers."""
        return [int(v) for v in np.asarray(self.values(index, what)).flat]

    def integer(self, index: int, what: str) -> int:
        """As `ints`, of one element."""
        return int(self.element(index, what))

    def element(self, index: int, what: str) -> Any:
        """The number in `values` of one element."""
        found = np.asarray(self.values(index, what))
        if found.size != 1:
            raise UnsupportedNodeError(f"{what} has {found.size} elements, not 1")
        return found.item()

    def rank(self, index: int) -> int:
        """The rank of an input, which must be known."""
        rank = self.input(index).rank
        if rank is None:
            raise UnsupportedNodeError(f"rank of {self.input(index).name} unknown")
        return rank

    def is_nchw(self) -> bool:
        """Whether the node works on images or volumes with channels first."""
        wanted = self.node.string("data_format", "NHWC")
        if wanted not in ("NHWC", "NCHW", "NDHWC", "NCDHW"):
            raise UnsupportedNodeError(f"data_format is {wanted}")
        return wanted.startswith("NC")


Handler = Callable[[Context], None]
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.tf_operators.handlers", "tensorflow"
)
