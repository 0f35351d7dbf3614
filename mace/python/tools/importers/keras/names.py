# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which tensor of a Keras model a name means.

A tensor is called like the layer that makes it. Keras 2, and deployment files of its
time, call it like the node of TensorFlow's graph that makes it inside of the layer:

    dense_1/Softmax:0       the result of dense_1, whose activation is softmax
    dense_1/BiasAdd:0       what dense_1 has before its activation
    flatten/Reshape:0       the result of flatten

`:0`, the first result, may be left out of any name, or added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

# Behind the name of a layer: what it has before its activation.
BEFORE_ACTIVATION = "BiasAdd"
# The nodes that add or multiply last in layers with and without biases.
_SUM = "biasadd"
_PRODUCTS = (
    *("matmul", "tensordot", "conv1d", "conv2d", "conv3d", "convolution"),
    *("conv2dtranspose", "depthwise", "separableconv2d"),
)
# The nodes of activations that are called otherwise.
_NODES = {
    "swish": ("mul", "identityn"),
    "silu": ("mul", "identityn"),
    "gelu": ("mul",),
    "hardsigmoid": ("clipbyvalue",),
    "exponential": ("exp",),
}


class Meaning(NamedTuple):
    """The tensor that a name means.

    Attributes:
        name: as the importer calls it.
        layer: which has this value before its activation; None: it is a result.
        is_old: whether the name is that of a node.
    """

    name: str
    layer: str | None = None
    is_old: bool = False


def meaning(
    name: str,
    results: Collection[str],
    config: Callable[[str], Mapping[str, Any] | None],
) -> Meaning | None:
    """The tensor that a name means; None if there is none.

    Args:
        results: the names of the layers' results.
        config: the configuration of the layer that has a result of this name; None for
            an inner model, whose tensors have names with `/`.
    """
    bare = name[:-2] if name.endswith(":0") else name
    for known in (name, bare):
        if known in results:
            return Meaning(known)
    layer, slash, node = bare.rpartition("/")
    found = config(layer) if slash and layer in results else None
    if found is None:
        return None
    node = _plain(node)
    activation = _plain(_text(found.get("activation")))
    if activation in ("", "linear") or "recurrent_activation" in found:
        return Meaning(layer, is_old=True)
    if node in (activation, *_NODES.get(activation, ())):
        return Meaning(layer, is_old=True)
    last = (_SUM,) if found.get("use_bias") else _PRODUCTS
    if "use_bias" in found and node in last:
        return Meaning(f"{layer}/{BEFORE_ACTIVATION}", layer, is_old=True)
    return None


def _text(activation: Any) -> str:
    if isinstance(activation, Mapping):
        activation = activation.get("config")
    return activation if isinstance(activation, str) else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
