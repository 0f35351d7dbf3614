# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of a graph's library, which nodes call.

In a function, ``node:name:1`` is the second tensor of the node's output called `name`.
A frozen graph says ``node:3`` for the fourth tensor of all outputs together, and so
does the importer; `_OUTPUTS` says where a named output begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.tensorflow.node import GraphNode, control_inputs

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

Tensor = tuple[str, int]


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
            tuple(_tensor(name, types) for name in node.input if name[:1] != "^"),
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
            _tensor(proto.ret[output.name], types)
            for output in proto.signature.output_arg
        ),
    )


def _tensor(text: str, types: Mapping[str, str]) -> Tensor:
    node, *place = text.split(":")
    if len(place) < 2 or not place[1].isdigit():
        return node, 0  # an argument
    names = _OUTPUTS.get(types.get(node, ""), ())
    first = names.index(place[0]) if place[0] in names else 0
    return node, first + int(place[1])
