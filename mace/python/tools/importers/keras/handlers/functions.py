# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Activations: functions by their names, and layers that compute them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    count_variables,
)
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.graph import Value

# Attributes of the operator Activation.
_PLAIN: Mapping[str, Mapping[str, Any]] = {
    "relu": {"activation": "RELU"},
    "relu6": {"activation": "RELUX", "activation_limit": 6.0},
    "sigmoid": {"activation": "SIGMOID"},
    "tanh": {"activation": "TANH"},
    "softplus": {"activation": "SOFTPLUS"},
    "softsign": {"activation": "SOFTSIGN"},
    "swish": {"activation": "SWISH"},
    "silu": {"activation": "SWISH"},
    "hard_swish": {"activation": "HARD_SWISH"},
    "hard_silu": {"activation": "HARD_SWISH"},
    "elu": {"activation": "ELU", "activation_alpha": 1.0},
    "celu": {"activation": "ELU", "activation_alpha": 1.0},
    "gelu": {"activation": "GELU"},
    "leaky_relu": {"activation": "LEAKY_RELU", "activation_alpha": 0.2},
}
_SELU = (1.0507009873554805, 1.6732632423543772)
# Layers that compute nothing in inference but what an activation does.
_LAYERS = ("ReLU", "ELU", "LeakyReLU", "Softmax", "Activation")


def hard_slope(layer: Layer) -> float:
    """Of hard_sigmoid, which Keras 3 changed."""
    return 0.2 if layer.keras < 3 else 1 / 6


def activation_name(layer: Layer, key: str = "activation") -> str:
    """The name of the function that a key of the configuration gives."""
    value = layer.config.get(key)
    if value is None:
        return "linear"
    if isinstance(value, dict):
        inner = value.get("config")
        if value.get("class_name") in _LAYERS and isinstance(inner, dict):
            raise UnsupportedNodeError(
                f"{key} is a layer", "put the layer behind this one instead"
            )
        module = value.get("module")
        value = inner if value.get("class_name") == "function" else None
        if module not in (None, "builtins", "keras", "keras.activations"):
            value = None
    if not isinstance(value, str):
        raise UnsupportedNodeError(
            f"{key} is a function that is not of Keras",
            "use an activation of Keras, or layers",
        )
    return value.rpartition(">")[2]


def activated(context: Context, value: Value, key: str = "activation") -> Value:
    """What the activation that a key names makes of a value."""
    name = activation_name(context.layer, key)
    if key == "activation" and name != "linear":
        context.before_activation = value
    return function(context, value, name)


def function(context: Context, x: Value, name: str) -> Value:
    """What an activation makes of a value.

    Raises:
        UnsupportedNodeError: it is not known.
    """
    if name in _PLAIN:
        return context.step("Activation", [x], name, **_PLAIN[name])
    if name in ("softmax", "log_softmax"):
        return context.step("Softmax", [x], name, axis=-1, log=name == "log_softmax")
    if name not in _COMPOSED:
        raise UnsupportedNodeError(f"activation {name!r} is not supported")
    return _COMPOSED[name](context, x)


def _activation(context: Context, x: Value, kind: str, **numbers: float) -> Value:
    attrs = {f"activation_{name}": number for name, number in numbers.items()}
    return context.step("Activation", [x], kind.lower(), activation=kind, **attrs)


def _hard_sigmoid(context: Context, x: Value) -> Value:
    slope = hard_slope(context.layer)
    return _activation(context, x, "HARD_SIGMOID", alpha=slope, beta=0.5)


def _selu(context: Context, x: Value) -> Value:
    scale, alpha = _SELU
    return context.eltwise("MUL", _activation(context, x, "ELU", alpha=alpha), scale)


def _mish(context: Context, x: Value) -> Value:
    inner = function(context, function(context, x, "softplus"), "tanh")
    return context.eltwise("MUL", x, inner)


def _log_sigmoid(context: Context, x: Value) -> Value:
    inner = function(context, context.eltwise("NEG", x), "softplus")
    return context.eltwise("NEG", inner)


def _limited(context: Context, x: Value, limit: float) -> Value:
    return context.eltwise("MIN", context.eltwise("MAX", x, -limit), limit)


def _hard_shrink(context: Context, x: Value) -> Value:
    outside = context.eltwise("GREATER", context.eltwise("ABS", x), 0.5)
    return context.step("Where", [outside, x, context.scalar(0.0)], "hard_shrink")


# Those of Keras 3 have the numbers that their names stand for.
_COMPOSED: Mapping[str, Callable[[Context, Value], Value]] = {
    "linear": lambda context, x: x,
    "exponential": lambda context, x: context.eltwise("EXP", x),
    "hard_sigmoid": _hard_sigmoid,
    "selu": _selu,
    "mish": _mish,
    "log_sigmoid": _log_sigmoid,
    "hard_tanh": lambda context, x: _limited(context, x, 1.0),
    "hard_shrink": _hard_shrink,
    # What is left beyond 0.5 on both sides.
    "soft_shrink": lambda context, x: context.eltwise(
        "SUB", x, _limited(context, x, 0.5)
    ),
    "tanh_shrink": lambda context, x: context.eltwise(
        "SUB", x, function(context, x, "tanh")
    ),
}


@HANDLERS.register("Activation")
def activation(context: Context) -> None:
    """A function by its name."""
    context.give(activated(context, context.floats()))


@HANDLERS.register("ReLU")
def relu(context: Context) -> None:
    """With a limit, a slope and a threshold."""
    layer, x = context.layer, context.floats()
    slope = layer.number("negative_slope", 0.0)
    threshold = layer.number("threshold", 0.0)
    limit = layer.number("max_value", math.inf) if layer.has("max_value") else math.inf
    if not threshold and not slope:
        if math.isfinite(limit):
            x = _activation(context, x, "RELUX", limit=limit)
        else:
            x = function(context, x, "relu")
        context.give(x)
        return
    if threshold:
        # x from the threshold on, slope * (x - threshold) below.
        above = context.eltwise("GREATER_EQUAL", x, threshold)
        below = context.eltwise("MUL", context.eltwise("SUB", x, threshold), slope)
        x = context.step("Where", [above, x, below], "chosen")
    else:
        x = _activation(context, x, "LEAKY_RELU", alpha=slope)
    context.give(context.eltwise("MIN", x, limit) if math.isfinite(limit) else x)


@HANDLERS.register("LeakyReLU")
def leaky_relu(context: Context) -> None:
    """Keras 2 calls the slope alpha."""
    slope = context.layer.number("negative_slope", context.layer.number("alpha", 0.3))
    context.give(_activation(context, context.floats(), "LEAKY_RELU", alpha=slope))


@HANDLERS.register("ThresholdedReLU")
def thresholded_relu(context: Context) -> None:
    """x above theta, 0 elsewhere."""
    x = context.floats()
    above = context.eltwise("GREATER", x, context.layer.number("theta", 1.0))
    context.emit("Where", [above, x, context.scalar(0.0, "zero")])


@HANDLERS.register("ELU")
def elu(context: Context) -> None:
    """With any scale."""
    alpha = context.layer.number("alpha", 1.0)
    context.give(_activation(context, context.floats(), "ELU", alpha=alpha))


@HANDLERS.register("PReLU")
def prelu(context: Context) -> None:
    """A slope for each channel, or for each element of some axes."""
    x = context.floats()
    slope = context.variable(0)
    if slope.ndim != context.rank(x) - 1:
        raise UnsupportedNodeError(f"its slopes have the shape {list(slope.shape)}")
    if all(dim == 1 for dim in slope.shape[:-1]):
        slopes = context.constant(slope.reshape(-1), "slope")
        context.emit("Activation", [x, slopes], activation="PRELU")
        return
    sloped = context.eltwise("MUL", context.eltwise("MIN", x, 0.0), slope)
    context.emit_eltwise("ADD", function(context, x, "relu"), sloped)


count_variables("PReLU", count=1)


@HANDLERS.register("Softmax")
def softmax(context: Context) -> None:
    """Over one axis."""
    context.refuse_mask()
    context.no_keywords("mask")
    if len(context.inputs) > 1:
        raise UnsupportedNodeError("it is called with a mask")
    axes = context.layer.axes("axis")
    if len(axes) != 1:
        raise UnsupportedNodeError(f"softmax over the axes {axes}")
    x = context.floats()
    context.emit("Softmax", [x], axis=context.axis(axes[0], x))


@HANDLERS.register("Masking")
def masking(context: Context) -> None:
    """Steps whose elements all have one value become 0, and are masked."""
    x = context.floats()
    other = context.differs(x, context.layer.number("mask_value", 0.0))
    numbers = context.step("Cast", [other], "numbers", to="FLOAT32")
    kept = context.reduce("MAX", numbers, [-1])
    context.emit_eltwise("MUL", x, kept)
    last = context.rank(x) - 1
    steps = context.step("Squeeze", [kept], "steps", axes=[last])
    context.gives_mask = context.differs(steps, 0)
