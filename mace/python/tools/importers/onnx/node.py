# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A node of an ONNX file, as a handler sees it."""

from __future__ import annotations

from collections.abc import Sequence, Set

import onnx

from mace.python.tools.importers.onnx.inferred import ElementTypes
from mace.python.tools.importers.onnx.mapped_file import TensorReader
from mace.python.tools.importers.standard.attributes import Attributes
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# Handlers of users' own are written with these.
__all__ = ["HANDLERS", "Node", "node_of"]


def node_of(
    proto: onnx.NodeProto,
    opset: int,
    inputs: Sequence[Value | None],
    builder: GraphBuilder,
    reader: TensorReader,
    wanted: Set[str],
    types: ElementTypes,
) -> Node:
    """What a handler is called with.

    Args:
        reader: of the tensors in its attributes.
        wanted: the tensors of the model that somebody reads.
        types: of the model's tensors.
    """
    label = str(proto.name or next(filter(None, proto.output), proto.op_type))
    return Node(
        proto.op_type,
        opset,
        inputs,
        list(proto.output),
        Attributes(proto, lambda tensor: reader.constant(tensor, f"node {label!r}")),
        builder,
        label=label,
        wanted=wanted,
        stated=_Stated(proto.input, types),
    )


class _Stated:
    """What the model says of a node's inputs."""

    def __init__(self, names: Sequence[str], types: ElementTypes) -> None:
        self._names = names
        self._types = types

    def integer_type(self, index: int) -> DataType | None:
        return self._types.find(self._names[index])

    def has_four_bits(self, index: int) -> bool:
        return index < len(self._names) and self._types.has_four_bits(
            self._names[index]
        )
