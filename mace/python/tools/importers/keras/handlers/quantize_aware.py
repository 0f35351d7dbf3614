# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of models that were trained for integers: they round like FakeQuant.

QuantizeLayer rounds the model's input. QuantizeWrapper and QuantizeWrapperV2 contain a
layer, round its weights, what its activation reads or makes, and its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    apply,
    has_variables,
)
from mace.python.tools.importers.keras.handlers.functions import function
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_WRAPPERS = ("QuantizeWrapper", "QuantizeWrapperV2")
_STEPS = 255
# Activations whose operand is rounded, those whose operand and result are, and what
# rounds nothing.
_BEFORE = ("softmax", "sigmoid", "tanh", "gelu")
_BOTH = ("gelu",)
_NEVER = "NoOpActivation"
_STEP = "optimizer_step"


@has_variables("QuantizeLayer")
def _layer_variables(layer: Layer) -> list[tuple[str, bool]]:
    count = 3 if layer.has("quantizer") else 1
    return [(f"vars/{index}", False) for index in range(count)]


@has_variables(*_WRAPPERS)
def _wrapper_variables(layer: Layer) -> list[tuple[str, bool]]:
    # Behind what can be trained, and the rounded variables once more.
    first = len(_listed(layer, "weight_attrs"))
    return [(f"vars/{first + i}", False) for i in range(len(_names(layer)))]


@HANDLERS.register("QuantizeLayer")
def quantize_layer(context: Context) -> None:
    """Rounds the input by the range in its variables 0 and 1."""
    if not context.layer.has("quantizer"):
        context.give(context.floats())
        return
    low, high = (float(context.variable(index).reshape(-1)[0]) for index in (0, 1))
    context.give(_rounded(context, context.floats(), low, high, "input"))


@HANDLERS.register(*_WRAPPERS)
def quantize_wrapper(context: Context) -> None:
    """A layer with rounded weights and results."""
    layer = context.layer
    inner = layer.children.get("layer")
    if inner is None:
        raise UnsupportedNodeError("it wraps no layer")
    names = _names(layer)

    def range_of(name: str) -> tuple[Array, Array]:
        ends = [context.variable(names.index(f"{name}_{e}")) for e in ("min", "max")]
        return ends[0], ends[1]

    activation = _activation(inner)
    has_own = "activation" in _listed(layer, "activation_attrs")
    config = {**inner.config, "activation": "linear" if has_own else activation}
    if "activation" not in inner.config:
        config = dict(inner.config)
    readers = list(inner.readers)
    for index, attribute in enumerate(_listed(layer, "weight_attrs")):
        if index >= len(readers):
            raise UnsupportedNodeError(f"{inner.name} has no {attribute}")
        readers[index] = _rounding(readers[index], range_of(attribute))
    wrapped = replace(inner, config=config, readers=readers)
    value, *more = apply(context, wrapped, context.arguments, "layer", context.keywords)
    if more:
        raise UnsupportedNodeError(f"{inner.name} has {len(more) + 1} results")
    for name in ("pre_activation", "activation", "post_activation", "output"):
        if name == "activation":
            if has_own and activation != "linear":
                context.before_activation = value
                value = function(context, value, activation)
        elif f"{name}_min" in names:
            low, high = (float(end.reshape(-1)[0]) for end in range_of(name))
            value = _rounded(context, value, low, high, name)
    context.give(value)


def _names(layer: Layer) -> list[str]:
    """The variables of the wrapper itself, in order."""
    names = [_STEP]
    for attribute in _listed(layer, "weight_attrs"):
        names += [f"{attribute}_min", f"{attribute}_max"]
    inner = layer.children.get("layer")
    kind = _activation(inner) if inner is not None else ""
    if "activation" in _listed(layer, "activation_attrs") and not _never(inner):
        if kind in _BEFORE:
            names += ["pre_activation_min", "pre_activation_max"]
        if kind in _BOTH or kind not in _BEFORE:
            names += ["post_activation_min", "post_activation_max"]
    if _config(layer).get("quantize_output"):
        names += ["output_min", "output_max"]
    return names


def _config(layer: Layer) -> Mapping[str, Any]:
    entry = layer.config.get("quantize_config")
    found = entry.get("config") if isinstance(entry, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _listed(layer: Layer, key: str) -> Sequence[str]:
    found = _config(layer).get(key)
    return [str(item) for item in found] if isinstance(found, list) else []


def _own(inner: Layer | None) -> Any:
    """What the wrapped layer's activation is a rounding form of."""
    found = None if inner is None else inner.config.get("activation")
    if isinstance(found, Mapping) and found.get("class_name") == (
        "QuantizeAwareActivation"
    ):
        config = found.get("config")
        found = config.get("activation") if isinstance(config, Mapping) else None
    return found


def _never(inner: Layer | None) -> bool:
    own = _own(inner)
    return isinstance(own, Mapping) and own.get("class_name") == _NEVER


def _activation(inner: Layer) -> str:
    """The name of the wrapped layer's activation."""
    own = _own(inner)
    if own is None or _never(inner):
        return "linear"
    if isinstance(own, Mapping):
        own = own.get("config")
    if not isinstance(own, str):
        raise UnsupportedNodeError(f"the activation of {inner.name} is not of Keras")
    return own


def _rounding(read: Callable[[], Array], limits: tuple[Array, Array]) -> Any:
    """Reads weights and rounds them to 255 numbers, for each last index if the limits
    have so many.
    """

    def rounded() -> Array:
        weights = read().astype(np.float32)
        low, high = limits
        scale = np.maximum((high - low) / np.float32(_STEPS - 1), np.float32(1e-30))
        zero = np.floor(np.clip(1 - low / scale, 1, _STEPS) + np.float32(0.5))
        least, most = (1 - zero) * scale, (_STEPS - zero) * scale
        steps = np.floor((np.clip(weights, least, most) - least) / scale + 0.5)
        return np.asarray(steps * scale + least, np.float32)

    return rounded


def _rounded(context: Context, x: Value, low: float, high: float, suffix: str) -> Value:
    """Rounds to the 256 numbers of a range, which is moved so that 0 is one of them."""
    if not low < high:
        raise UnsupportedNodeError(
            f"the range of {suffix} is {low:g} to {high:g}",
            "train the model further, so that the range follows its tensor",
        )
    scale = (high - low) / _STEPS
    zero = int(np.floor(np.clip(-low / scale, 0, _STEPS) + 0.5))
    parameters = [
        context.constant(np.array([scale], np.float32), f"{suffix}/scale"),
        context.constant(np.array([zero], np.uint8), f"{suffix}/zero"),
    ]
    q = context.step("Quantize", [x, *parameters], f"{suffix}/quantized", to="UINT8")
    return context.step("Dequantize", [q, *parameters], f"{suffix}/rounded")
