# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What an ONNX file says of itself."""

from __future__ import annotations

from collections import Counter

import onnx
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.onnx.mapped_file import MappedModel
from mace.python.tools.importers.onnx.scope import declared_shape, free_inputs, opsets
from mace.python.tools.importers.standard.element_types import ELEMENT_TYPES
from mace.python.tools.ir.graph import DataFormat


def describe(file: MappedModel) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    graph = file.proto.graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = set(free_inputs(graph, constants))
    return ModelDescription(
        framework=f"ONNX, operator set {opsets(file)['']}",
        image_order=DataFormat.NCHW,
        inputs=tuple(_describe(v) for v in graph.input if v.name in inputs),
        outputs=tuple(_describe(value) for value in graph.output),
        operators=Counter(_type(node) for node in graph.node),
    )


def _describe(value: onnx.ValueInfoProto) -> TensorDescription:
    kind = value.type
    if kind.WhichOneof("value") == "optional_type":
        kind = kind.optional_type.elem_type
    if kind.WhichOneof("value") != "tensor_type":
        return TensorDescription(value.name)
    tensor = kind.tensor_type
    return TensorDescription(
        value.name, declared_shape(tensor), ELEMENT_TYPES.get(tensor.elem_type)
    )


def _type(node: onnx.NodeProto) -> str:
    own = node.domain in ("", "ai.onnx")
    return node.op_type if own else f"{node.domain}.{node.op_type}"
