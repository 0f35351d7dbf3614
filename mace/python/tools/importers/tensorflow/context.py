# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a handler, and the table in which handlers register."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.base import HandlerTable, UnsupportedNodeError
from mace.python.tools.importers.tensorflow.node import Node, tensor_name
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


class Context:
    """One node under conversion.

    Attributes:
        node: the node.
        builder: where its operators go.
        inputs: values of its data inputs.
        results: values of its outputs, filled by `set`.
    """

    def __init__(
        self, node: Node, builder: GraphBuilder, inputs: Sequence[Value]
    ) -> None:
        self.node = node
        self.builder = builder
        self.inputs = tuple(inputs)
        self.results: dict[int, Value] = {}

    def input(self, index: int) -> Value:
        """An input that must be there."""
        if not 0 <= index < len(self.inputs):
            raise UnsupportedNodeError(f"input {index} is missing")
        return self.inputs[index]

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

    def step(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        suffix: str,
        **attrs: Any,
    ) -> Value:
        """Adds a helper operator that TensorFlow does not have."""
        name = f"{self.node.name}/{suffix}"
        return self.builder.one(op_type, inputs, None, attrs, name)

    def constant(self, array: Array, suffix: str = "value") -> Value:
        """Adds a constant that belongs to this node."""
        return self.builder.constant(f"{self.node.name}/{suffix}", array)

    def values(self, index: int, what: str) -> Array:
        """The elements of an input that must be known now.

        Raises:
            UnsupportedNodeError: they are computed at run time.
        """
        value = self.input(index)
        if not value.is_constant:
            raise UnsupportedNodeError(
                f"{what} ({value.name}) is computed at run time",
                "make it a constant, or fix the input shapes it follows from",
            )
        return value.numpy()

    def ints(self, index: int, what: str) -> list[int]:
        """As `values`, flat, as integers."""
        return [int(v) for v in np.asarray(self.values(index, what)).flat]

    def rank(self, index: int) -> int:
        """The rank of an input, which must be known."""
        rank = self.input(index).rank
        if rank is None:
            raise UnsupportedNodeError(f"rank of {self.input(index).name} unknown")
        return rank

    def is_nchw(self) -> bool:
        """Whether the node works on channels-first images."""
        wanted = self.node.string("data_format", "NHWC")
        if wanted not in ("NHWC", "NCHW"):
            raise UnsupportedNodeError(f"data_format is {wanted}")
        return wanted == "NCHW"


Handler = Callable[[Context], None]
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.tensorflow.handlers"
)
