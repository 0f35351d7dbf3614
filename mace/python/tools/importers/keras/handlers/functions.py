# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Activations, as layers and as arguments of other layers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    has_variables,
    trainable,
)
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.importers.keras.masks import differs
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
    "gelu": {"activation": "GELU"},
    "leaky_relu": {"activation": "LEAKY_RELU", "activation_alpha": 0.2},
}
_SELU = (1.0507009873554805, 1.6732632423543772)
# Of hard_sigmoid, by the major version of Keras.
HARD_SLOPES = {2: 0.2, 3: 1 / 6}
# Layers that compute nothing in inference but what an activation does.
_LAYERS = {
    "ReLU": "relu",
    "ELU": "elu",
    "LeakyReLU": "leaky_relu",
    "Softmax": "softmax",
    "Activation": "",
}


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
    if name == "linear":
        return x
    if name in _PLAIN:
        return context.step("Activation", [x], name, **_PLAIN[name])
    if name == "hard_sigmoid":
        slope = HARD_SLOPES[min(max(context.layer.keras, 2), 3)]
        return context.step(
            "Activation",
            [x],
            name,
            activation="HARD_SIGMOID",
            activation_alpha=slope,
            activation_beta=0.5,
        )
    if name == "exponential":
        return context.step("Eltwise", [x], name, mode="EXP")
    if name in ("softmax", "log_softmax"):
        return context.step("Softmax", [x], name, axis=-1, log=name == "log_softmax")
    if name == "selu":
        scale, alpha = _SELU
        elu = context.step(
            "Activation", [x], "elu", activation="ELU", activation_alpha=alpha
        )
        number = context.scalar(scale)
        return context.step("Eltwise", [elu, number], name, mode="MUL")
    if name == "mish":
        inner = function(context, function(context, x, "softplus"), "tanh")
        return context.step("Eltwise", [x, inner], name, mode="MUL")
    if name == "log_sigmoid":
        negative = context.step("Eltwise", [x], "negative", mode="NEG")
        inner = function(context, negative, "softplus")
        return context.step("Eltwise", [inner], name, mode="NEG")
    if name in ("hard_tanh", "celu", "hard_shrink", "soft_shrink", "tanh_shrink"):
        return _less_common(context, x, name)
    raise UnsupportedNodeError(f"activation {name!r} is not supported")


def _less_common(context: Context, x: Value, name: str) -> Value:
    """Of Keras 3, with the numbers that their names stand for."""

    def pair(mode: str, a: Value, b: Value | float) -> Value:
        operand = b if isinstance(b, Value) else context.scalar(b)
        return context.step("Eltwise", [a, operand], name, mode=mode)

    if name == "tanh_shrink":
        return pair("SUB", x, function(context, x, "tanh"))
    if name == "celu":
        return function(context, x, "elu")  # its alpha is 1
    if name == "hard_tanh":
        return pair("MIN", pair("MAX", x, -1.0), 1.0)
    # What is left beyond 0.5 on both sides.
    if name == "soft_shrink":
        inside = pair("MIN", pair("MAX", x, -0.5), 0.5)
        return pair("SUB", x, inside)
    size = context.step("Eltwise", [x], "size", mode="ABS")
    outside = pair("GREATER", size, 0.5)
    return context.step("Where", [outside, x, context.scalar(0.0)], name)


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
    if threshold:
        # x from the threshold on, slope * (x - threshold) below.
        number = context.scalar(threshold, "threshold")
        above = context.step("Eltwise", [x, number], "above", mode="GREATER_EQUAL")
        below = context.step("Eltwise", [x, number], "below", mode="SUB")
        slope_value = context.scalar(slope, "slope")
        below = context.step("Eltwise", [below, slope_value], "sloped", mode="MUL")
        x = context.step("Where", [above, x, below], "chosen")
        if math.isfinite(limit):
            most = context.scalar(limit, "limit")
            x = context.step("Eltwise", [x, most], "limited", mode="MIN")
    elif slope:
        x = _leaky(context, x, slope)
        if math.isfinite(limit):
            most = context.scalar(limit, "limit")
            x = context.step("Eltwise", [x, most], "limited", mode="MIN")
    elif math.isfinite(limit):
        x = context.step(
            "Activation", [x], "relux", activation="RELUX", activation_limit=limit
        )
    else:
        x = function(context, x, "relu")
    context.give(x)


def _leaky(context: Context, x: Value, slope: float) -> Value:
    return context.step(
        "Activation", [x], "leaky", activation="LEAKY_RELU", activation_alpha=slope
    )


@HANDLERS.register("LeakyReLU")
def leaky_relu(context: Context) -> None:
    """Keras 2 calls the slope alpha."""
    slope = context.layer.number("negative_slope", context.layer.number("alpha", 0.3))
    context.give(_leaky(context, context.floats(), slope))


@HANDLERS.register("ThresholdedReLU")
def thresholded_relu(context: Context) -> None:
    """x above theta, 0 elsewhere."""
    x, theta = context.floats(), context.scalar(context.layer.number("theta", 1.0))
    above = context.step("Eltwise", [x, theta], "above", mode="GREATER")
    context.emit("Where", [above, x, context.scalar(0.0, "zero")])


@HANDLERS.register("ELU")
def elu(context: Context) -> None:
    """With any scale."""
    alpha = context.layer.number("alpha", 1.0)
    context.emit(
        "Activation", [context.floats()], activation="ELU", activation_alpha=alpha
    )


@HANDLERS.register("PReLU")
def prelu(context: Context) -> None:
    """A slope for each channel, or for each element of some axes."""
    x = context.floats()
    rank = context.rank(x)
    slope = context.variable(0)
    if slope.ndim != rank - 1:
        raise UnsupportedNodeError(f"its slopes have the shape {list(slope.shape)}")
    if all(dim == 1 for dim in slope.shape[:-1]):
        context.emit(
            "Activation",
            [x, context.constant(slope.reshape(-1), "slope")],
            activation="PRELU",
        )
        return
    positive = function(context, x, "relu")
    negative = context.step("Eltwise", [x, context.scalar(0.0)], "negative", mode="MIN")
    sloped = context.step(
        "Eltwise", [negative, context.constant(slope, "slope")], "sloped", mode="MUL"
    )
    context.emit("Eltwise", [positive, sloped], mode="ADD")


@has_variables("PReLU")
def _prelu_variables(layer: Layer) -> list[tuple[str, bool]]:
    del layer
    return trainable(1)


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
    value = context.scalar(context.layer.number("mask_value", 0.0))
    other = context.step("Eltwise", [x, value], "other", mode="NOT_EQUAL")
    numbers = context.step("Cast", [other], "numbers", to="FLOAT32")
    kept = context.step("Reduce", [numbers], "kept", mode="MAX", axes=[-1])
    context.emit("Eltwise", [x, kept], mode="MUL")
    last = context.rank(x) - 1
    steps = context.step("Squeeze", [kept], "steps", axes=[last])
    context.gives_mask = differs(context, steps, 0)
