# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How layers are converted by their handlers: those on images with channels first
between transposes, since handlers know only channels last, and those inside of others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.importers.keras.network import Network
from mace.python.tools.ir.graph import DataFormat, Value
from mace.python.tools.ir.shapes import to_channels_first, to_channels_last

_KEY = "data_format"
_FIRST, _LAST = "channels_first", "channels_last"
# Below it, a tensor has no channels beside batch and elements.
_LEAST_RANK = 3


def image_order(network: Network) -> DataFormat:
    """The order of dimensions of the images that a model gets."""
    return DataFormat.NCHW if _has_first(network) else DataFormat.NHWC


def _has_first(network: Network) -> bool:
    return any(
        _is_first(part) or (part.network is not None and _has_first(part.network))
        for layer in network.layers.values()
        for part in (layer, *layer.children.values())
    )


def _is_first(layer: Layer) -> bool:
    return layer.config.get(_KEY) == _FIRST


def call_handler(handler: Callable[[Context], None], context: Context) -> None:
    """Converts a layer whose images may have any order."""
    layer = context.layer
    order = layer.text(_KEY, _LAST)
    if order == _LAST:
        handler(context)
        return
    if order != _FIRST:
        raise UnsupportedNodeError(f"data_format is {order!r}")
    turned = context.inside(
        replace(layer, config={**layer.config, _KEY: _LAST}),
        "channels_last",
        _turned(context, context.arguments),
        _turned(context, context.keywords),
    )
    rank = context.rank(context.input())
    handler(turned)
    context.gives_mask = turned.gives_mask
    for index, value in turned.results.items():
        # Without its last axes, it has no order any more.
        if value.rank == rank:
            perm = to_channels_first(rank)
            value = context.step("Transpose", [value], "channels_first", perm=perm)
        context.give(value, index)


def apply(
    context: Context,
    layer: Layer,
    arguments: Sequence[Any],
    suffix: str,
    keywords: Mapping[str, Any] | None = None,
) -> list[Value]:
    """The results of a layer inside of another one."""
    if layer.network is not None and not layer.custom:
        values = context.network_results(layer, suffix, arguments)
        context.has_made(values)
        return values
    handler = None if layer.custom else HANDLERS.find(layer.kind)
    if handler is None:
        raise UnsupportedNodeError(f"it wraps a layer {layer.kind}, not supported")
    inner = context.inside(layer, suffix, arguments, keywords or {})
    call_handler(handler, inner)
    values = [inner.results[index] for index in sorted(inner.results)]
    for value in values:
        value.source = ""
    context.has_made(values)
    return values


def _turned(context: Context, nested: Any) -> Any:
    if isinstance(nested, Value):
        rank = context.rank(nested)
        if rank < _LEAST_RANK:
            return nested
        perm = to_channels_last(rank)
        return context.step("Transpose", [nested], "channels_last", perm=perm)
    if isinstance(nested, (list, tuple)):
        return [_turned(context, item) for item in nested]
    if isinstance(nested, Mapping):
        return {key: _turned(context, item) for key, item in nested.items()}
    return nested
