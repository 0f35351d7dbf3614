# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a TensorFlow graph says of itself."""

from __future__ import annotations

from collections import Counter
from typing import Any

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.tensorflow.importer import PLACEHOLDERS
from mace.python.tools.importers.tensorflow.reader import GraphFile
from mace.python.tools.importers.tensorflow.saved_model import called_nodes
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, Node
from mace.python.tools.ir.graph import DataFormat

# Nodes that end a graph, but are no results of it.
_NO_RESULTS = frozenset(
    ("Assert", "CheckNumerics", "Const", "NoOp", "Print", "PrintV2")
)


def describe(file: GraphFile) -> ModelDescription:
    """See `importers.frame.opened.Framework`. Results of a frozen graph are the nodes
    that no other node reads.
    """
    if file.signature.outputs:
        return _describe_saved(file)
    nodes = file.nodes
    read = {name for node in nodes.values() for name, _ in node.inputs}
    inputs = [node for node in nodes.values() if node.op in PLACEHOLDERS]
    ends = [
        node
        for node in nodes.values()
        if node.name not in read and node.op not in PLACEHOLDERS | _NO_RESULTS
    ]
    return ModelDescription(
        framework="TensorFlow, a frozen graph",
        image_order=DataFormat.NHWC,
        inputs=tuple(_describe(node) for node in inputs),
        outputs=tuple(TensorDescription(node.name) for node in ends),
        operators=Counter(node.op for node in nodes.values()),
    )


def _describe_saved(file: GraphFile) -> ModelDescription:
    return ModelDescription(
        framework="TensorFlow, a SavedModel",
        image_order=DataFormat.NHWC,
        inputs=tuple(_tensor(*item) for item in file.signature.inputs.items()),
        outputs=tuple(_tensor(*item) for item in file.signature.outputs.items()),
        operators=Counter(
            node.op for node in called_nodes(file.nodes, file.functions, file.signature)
        ),
    )


def _tensor(name: str, info: Any) -> TensorDescription:
    shape = info.tensor_shape
    dims = tuple(None if dim.size < 0 else dim.size for dim in shape.dim)
    return TensorDescription(
        name, None if shape.unknown_rank else dims, ELEMENT_TYPES.get(info.dtype)
    )


def _describe(node: Node) -> TensorDescription:
    shape = node.shape("shape")
    return TensorDescription(
        node.name,
        None if shape is None else tuple(None if dim < 0 else dim for dim in shape),
        ELEMENT_TYPES.get(node.integer("dtype")),
    )
