# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a file of Keras says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.keras.formats import image_order
from mace.python.tools.importers.keras.importer import declared
from mace.python.tools.importers.keras.network import (
    INPUT,
    Network,
    Reference,
    call_name,
)
from mace.python.tools.ir.shapes import from_ints


def describe(network: Network) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    first = next(iter(network.layers.values()))
    return ModelDescription(
        framework=f"Keras {first.keras}",
        image_order=image_order(network),
        inputs=tuple(_input(network, item) for item in network.inputs),
        outputs=tuple(TensorDescription(_name(item)) for item in network.outputs),
        operators=Counter(_kinds(network)),
    )


def _input(network: Network, reference: Reference) -> TensorDescription:
    layer = network.layers[reference.layer]
    if layer.kind != INPUT:
        return TensorDescription(_name(reference))
    shape, dtype = declared(layer)
    return TensorDescription(
        _name(reference), None if shape is None else from_ints(shape), dtype
    )


def _name(reference: Reference) -> str:
    name = call_name(reference.layer, reference.call)
    return f"{name}:{reference.result}" if reference.result else name


def _kinds(network: Network) -> Iterator[str]:
    """The class of each call, and of those in inner models."""
    for call in network.calls.values():
        if call.layer.network is None:
            yield call.layer.kind
        else:
            yield from _kinds(call.layer.network)
