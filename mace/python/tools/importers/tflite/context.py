# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a handler, and the table in which handlers register.

Most operators mean what those of TensorFlow mean: `Context.apply` calls TensorFlow's
handler, with the same inputs, and with the options as attributes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.tf_operators.context import HANDLERS as OF_TENSORFLOW
from mace.python.tools.importers.tf_operators.context import (
    Context as TensorFlowContext,
)
from mace.python.tools.importers.tf_operators.node import Node, upper_names
from mace.python.tools.importers.tflite.reader import Operator, Tensor
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.graph import Value

_PADDINGS = ("SAME", "VALID")
# The attributes of activations, by their number in the schema.
ACTIVATIONS: dict[int, dict[str, Any]] = {
    0: {},
    1: {"activation": "RELU"},
    3: {"activation": "RELUX", "activation_limit": 6.0},
    4: {"activation": "TANH"},
}


class Context(TensorFlowContext):
    """One operator under conversion.

    Handlers read and make the numbers that quantized tensors stand for; the importer
    puts Dequantize and Quantize around them, and adds the activation that an operator
    may have. The results need not have the names of the framework's tensors.

    Attributes:
        operator: the operator.
        tensors: of its outputs.
        inputs: values of its inputs, dequantized, without those that are left out.
        stored: the same as the file stores them.
    """

    def __init__(
        self,
        operator: Operator,
        builder: GraphBuilder,
        inputs: Sequence[Value | None],
        stored: Sequence[Value | None],
        tensors: Sequence[Tensor],
        names: Sequence[str],
        rounded: Callable[[Value, int], Value] | None = None,
    ) -> None:
        node = Node(tensors[0].name, operator.type, (), operator.options)
        super().__init__(node, builder, [v for v in inputs if v is not None])
        self.operator = operator
        self.tensors = tuple(tensors)
        self.stored = tuple(stored)
        self._given: tuple[Value | None, ...] = tuple(inputs)
        self._names = tuple(names)
        self._rounded = rounded

    @property
    def inputs(self) -> tuple[Value, ...]:
        return tuple(value for value in self._given if value is not None)

    def input(self, index: int) -> Value:
        value = self.optional(index)
        if value is None:
            raise UnsupportedNodeError(f"input {index} is missing")
        return value

    def optional(self, index: int) -> Value | None:
        """An input that may be left out."""
        return self._given[index] if 0 <= index < len(self._given) else None

    def stored_input(self, index: int) -> Value:
        """An input as the file stores it."""
        value = self.stored[index] if index < len(self.stored) else None
        if value is None:
            raise UnsupportedNodeError(f"input {index} is missing")
        return value

    def rounded(self, value: Value, place: int) -> Value:
        """A value of which only what the integers of an input stand for is kept; as it
        is, if the input has none.
        """
        return value if self._rounded is None else self._rounded(value, place)

    def output_name(self, index: int = 0) -> str:
        if index >= len(self._names):
            raise UnsupportedNodeError(f"output {index} is missing")
        return self._names[index]

    def like(
        self, op_type: str, inputs: Sequence[Value] | None = None, **attrs: Any
    ) -> Context:
        """This operator as one of TensorFlow, with the same results.

        Args:
            op_type: its type.
            inputs: in TensorFlow's order; None: those of this one.
            attrs: its attributes, besides those that are options of this one.
        """
        other = copy.copy(self)
        other.node = Node(self.node.name, op_type, (), {**self.node.attrs, **attrs})
        if inputs is not None:
            other._given = tuple(inputs)
            other.items = tuple(inputs)
        return other

    def apply(
        self, op_type: str, inputs: Sequence[Value] | None = None, **attrs: Any
    ) -> None:
        """Makes the results those of an operator of TensorFlow; see `like`."""
        handler = OF_TENSORFLOW.find(op_type)
        assert handler is not None, op_type
        handler(self.like(op_type, inputs, **attrs))

    def padding(self) -> str:
        """The padding of a window, as TensorFlow calls it."""
        number = self.node.integer("padding")
        if not 0 <= number < len(_PADDINGS):
            raise UnsupportedNodeError(f"padding is {number}")
        return _PADDINGS[number]

    def strides(self) -> list[int]:
        """Vertical and horizontal."""
        return [self.node.integer("stride_h"), self.node.integer("stride_w")]


def of_tensorflow(*same: str, **others: str) -> dict[str, str]:
    """A table of builtin operators that mean the same as TensorFlow's, with the options
    as attributes.

    Args:
        same: names in TensorFlow, from which those of the builtins follow.
        others: by builtin.
    """
    return {**{builtin: n for n, builtin in upper_names(*same).items()}, **others}


Handler = Callable[[Context], None]
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.tflite.handlers"
)
