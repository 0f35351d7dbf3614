# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a TensorFlow Lite file says of itself."""

from __future__ import annotations

from collections import Counter

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.tflite.reader import (
    ELEMENT_TYPES,
    Network,
    Tensor,
)
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import from_ints


def describe(network: Network) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    tensors, states = network.tensors, network.states
    return ModelDescription(
        framework="TensorFlow Lite",
        image_order=DataFormat.NHWC,
        inputs=tuple(_describe(tensors[i]) for i in (*network.inputs, *states)),
        outputs=tuple(
            _describe(tensors[i]) for i in (*network.outputs, *states.values())
        ),
        states={tensors[i].name: tensors[after].name for i, after in states.items()},
        operators=Counter(op.custom or op.type for op in network.operators),
    )


def _describe(tensor: Tensor) -> TensorDescription:
    return TensorDescription(
        tensor.name, from_ints(tensor.shape), ELEMENT_TYPES.get(tensor.number)
    )
