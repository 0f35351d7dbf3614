# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation: by statistics of the input, or by numbers that a layer has learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    apply,
    count_variables,
    has_variables,
)
from mace.python.tools.importers.keras.handlers.arrange import unit
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


@HANDLERS.register("BatchNormalization")
def batch_normalization(context: Context) -> None:
    """With the moving statistics."""
    layer, x = context.layer, context.floats()
    axes = layer.axes("axis")
    if len(axes) != 1:
        raise UnsupportedNodeError(f"the axes {axes}")
    context.refuse_training()
    axis = context.axis(axes[0], x)
    index, gamma, beta = 0, np.float32(1), np.float32(0)
    if layer.flag("scale", True):
        gamma, index = context.variable(index, [None]), index + 1
    if layer.flag("center", True):
        beta, index = context.variable(index, [None]), index + 1
    mean, variance = (context.variable(index + i, [None]) for i in range(2))
    deviation = np.sqrt(variance.astype(np.float64) + layer.number("epsilon", 1e-3))
    scale = gamma / deviation
    offset = beta - mean * scale
    scale, offset = scale.astype(np.float32), offset.astype(np.float32)
    rank = context.rank(x)
    if axis == rank - 1:
        parts = [context.constant(scale, "scale"), context.constant(offset, "offset")]
        context.emit("BatchNorm", [x, *parts])
        return
    shape = [-1] + [1] * (rank - 1 - axis)
    _scaled(context, x, scale.reshape(shape), offset.reshape(shape))


@has_variables("BatchNormalization")
def _batch_variables(layer: Layer) -> list[tuple[str, bool]]:
    own = layer.flag("scale", True) + layer.flag("center", True)
    return [(f"vars/{index}", index < own) for index in range(own + 2)]


@HANDLERS.register("LayerNormalization")
def layer_normalization(context: Context) -> None:
    """Over the last axis, or any others."""
    layer, x = context.layer, context.floats()
    axes, rank = sorted(context.axes(x)), context.rank(x)
    gamma, beta = _parameters(context)
    epsilon, is_rms = layer.number("epsilon", 1e-3), layer.flag("rms_scaling")
    if axes == [rank - 1] and not is_rms:
        parts = [
            None if array is None else context.constant(array.reshape(-1), name)
            for name, array in (("scale", gamma), ("offset", beta))
        ]
        context.emit("LayerNorm", [x, *parts], epsilon=epsilon)
        return
    centred, factor = _statistics(context, x, axes, epsilon)
    # Of rms_scaling, the mean is not subtracted, but it is from what the factor is of.
    x = context.eltwise("MUL", x if is_rms else centred, factor)
    shape = [-1 if axis in axes else 1 for axis in range(rank)]
    known = next((array for array in (gamma, beta) if array is not None), None)
    if shape.count(-1) > 1 and known is not None:
        sizes = iter(known.shape)
        shape = [next(sizes, 1) if dim == -1 else 1 for dim in shape]
    gamma, beta = (None if a is None else a.reshape(shape) for a in (gamma, beta))
    _scaled(context, x, gamma, beta)


def _has_offset(layer: Layer) -> bool:
    return layer.flag("center", True) and not layer.flag("rms_scaling")


def _parameters(context: Context) -> tuple[Array | None, Array | None]:
    """Gamma and beta, as far as the layer has them."""
    has_scale = context.layer.flag("scale", True)
    gamma = context.variable(0) if has_scale else None
    beta = context.variable(int(has_scale)) if _has_offset(context.layer) else None
    return gamma, beta


count_variables(
    *("LayerNormalization", "GroupNormalization"),
    count=lambda layer: layer.flag("scale", True) + _has_offset(layer),
)
count_variables("RMSNormalization", count=1)


@HANDLERS.register("RMSNormalization")
def rms_normalization(context: Context) -> None:
    """x / sqrt(mean of squares + epsilon) * scale, over the last axis."""
    x = context.floats()
    if context.axes(x) != [context.rank(x) - 1]:
        raise UnsupportedNodeError(f"the axes {context.axes(x)}, not the last one")
    scale = context.constant(context.variable(0, [None]), "scale")
    epsilon = context.layer.number("epsilon", 1e-6)
    context.emit("LayerNorm", [x, scale], epsilon=epsilon, subtract_mean=False)


@HANDLERS.register("UnitNormalization")
def unit_normalization(context: Context) -> None:
    """x divided by its length."""
    x = context.floats()
    context.give(unit(context, x, context.axes(x)))


@HANDLERS.register("GroupNormalization")
def group_normalization(context: Context) -> None:
    """Over groups of channels of an image."""
    layer, x = context.layer, context.floats()
    if context.axes(x) != [context.rank(x) - 1]:
        raise UnsupportedNodeError("the axis is not the last one")
    dims = context.shape(x)
    channels = dims[-1]
    if not isinstance(channels, int):
        raise UnsupportedNodeError(f"the channels of {x.name} are not known")
    groups = layer.integer("groups", 32)
    groups = channels if groups == -1 else groups
    if groups < 1 or channels % groups:
        raise UnsupportedNodeError(f"{channels} channels in {groups} groups")
    gamma, beta = _parameters(context)
    epsilon = layer.number("epsilon", 1e-3)
    if groups == channels:
        gamma = np.ones(channels, np.float32) if gamma is None else gamma
        beta = np.zeros(channels, np.float32) if beta is None else beta
        parts = [context.constant(gamma, "scale"), context.constant(beta, "offset")]
        context.emit("InstanceNorm", [x, *parts], epsilon=epsilon)
        return
    batch = context.batch(x)
    inner = context.known_dims(dims[1:-1], f"the shape of {x.name} is")
    shape = [batch, int(np.prod(inner)), groups, channels // groups]
    apart = context.step("Reshape", [x], "apart", shape=shape)
    y = context.eltwise("MUL", *_statistics(context, apart, [1, 3], epsilon))
    y = context.step("Reshape", [y], "together", shape=[batch, *inner, channels])
    _scaled(context, y, gamma, beta)


@HANDLERS.register("SpectralNormalization")
def spectral_normalization(context: Context) -> None:
    """Outside of training, it is the layer in it, whose weights were normalised."""
    inner = context.layer.children.get("layer")
    if inner is None or inner.network is not None:
        raise UnsupportedNodeError("it wraps no layer that is supported")
    context.give_all(apply(context, inner, list(context.arguments), "inside"))


has_variables("SpectralNormalization")(lambda layer: [("vars/0", False)])


def _statistics(
    context: Context, x: Value, axes: Sequence[int], epsilon: float
) -> tuple[Value, Value]:
    """x - mean, and 1 / sqrt(variance + epsilon)."""
    centred = context.eltwise("SUB", x, context.reduce("MEAN", x, axes))
    variance = context.reduce("MEAN", context.eltwise("SQUARE", centred), axes)
    return centred, context.eltwise("RSQRT", context.eltwise("ADD", variance, epsilon))


def _scaled(
    context: Context, x: Value, scale: Array | None, offset: Array | None
) -> None:
    if scale is not None:
        x = context.eltwise("MUL", x, scale)
    if offset is not None:
        x = context.eltwise("ADD", x, offset)
    context.give(x)


@HANDLERS.register("Rescaling")
def rescaling(context: Context) -> None:
    """x * scale + offset."""
    config = context.layer.config
    scale = _numbers(config.get("scale"), "scale", 1.0)
    offset = _numbers(config.get("offset"), "offset", 0.0)
    _scaled(context, context.floats(), scale, offset if offset.any() else None)


def _numbers(value: Any, key: str, default: float) -> Array:
    if isinstance(value, dict):  # a NumPy array of Keras 3
        config = value.get("config")
        value = config.get("value") if isinstance(config, dict) else None
    try:
        return np.asarray(default if value is None else value, np.float32)
    except (TypeError, ValueError):
        raise UnsupportedNodeError(f"{key} is {value!r}, not numbers") from None


@HANDLERS.register("Normalization")
def normalization(context: Context) -> None:
    """(x - mean) / deviation, with those of the data that the layer was shown."""
    x, layer = context.floats(), context.layer
    rank = context.rank(x)
    if layer.has("mean"):
        mean = _numbers(layer.config["mean"], "mean", 0.0)
        variance = _numbers(layer.config.get("variance"), "variance", 1.0)
    else:
        mean, variance = context.variable(0), context.variable(1)
        if mean.ndim:
            axes, dims = sorted(context.axes(x)), context.shape(x)
            shape = [dims[a] if a in axes else 1 for a in range(rank)]
            if mean.size != np.prod([d for d in shape if isinstance(d, int)]):
                raise UnsupportedNodeError(f"its mean has the shape {list(mean.shape)}")
            shape = [d if isinstance(d, int) else -1 for d in shape]
            mean, variance = mean.reshape(shape), variance.reshape(shape)
    # As Keras: no deviation is less than this.
    deviation = np.maximum(np.sqrt(variance), np.float32(1e-7))
    mean, deviation = (_leading(a, rank) for a in (mean, deviation))
    if layer.flag("invert"):
        _scaled(context, x, deviation, mean)
    else:
        context.emit_eltwise("DIV", context.eltwise("SUB", x, mean), deviation)


def _leading(array: Array, rank: int) -> Array:
    """Without axes of length 1 that the input does not have."""
    while array.ndim > rank and array.shape[0] == 1:
        array = array[0]
    return array


@has_variables("Normalization")
def _normalization_variables(layer: Layer) -> list[tuple[str, bool]]:
    return [(f"vars/{index}", False) for index in range(0 if layer.has("mean") else 3)]
