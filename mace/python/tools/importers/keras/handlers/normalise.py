# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context, has_variables
from mace.python.tools.importers.keras.formats import apply
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


@HANDLERS.register("BatchNormalization")
def batch_normalization(context: Context) -> None:
    """With the moving statistics."""
    layer, x = context.layer, context.floats()
    axes = layer.axes("axis")
    if len(axes) != 1:
        raise UnsupportedNodeError(f"the axes {axes}")
    # The call of a model of Keras 3 overrides this, that of Keras 2 does not.
    if layer.keras < 3 and context.keywords.get("training") is True:
        raise UnsupportedNodeError("it is called with training=True")
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
    axes = sorted(context.axis(axis, x) for axis in layer.axes("axis"))
    rank = context.rank(x)
    gamma, beta = _parameters(context)
    epsilon = layer.number("epsilon", 1e-3)
    if axes == [rank - 1] and not layer.flag("rms_scaling"):
        parts = [
            None if array is None else context.constant(array.reshape(-1), name)
            for name, array in (("scale", gamma), ("offset", beta))
        ]
        context.emit("LayerNorm", [x, *parts], epsilon=epsilon)
        return
    if layer.flag("rms_scaling"):
        # The mean is not subtracted, but it is from what the factor comes from.
        centred = _centred(context, x, axes)
        x = context.step(
            "Eltwise", [x, _factor(context, centred, axes, epsilon)], "y", mode="MUL"
        )
        beta = None
    else:
        centred = _centred(context, x, axes)
        factor = _factor(context, centred, axes, epsilon)
        x = context.step("Eltwise", [centred, factor], "y", mode="MUL")
    shape = [-1 if axis in axes else 1 for axis in range(rank)]
    known = next((array for array in (gamma, beta) if array is not None), None)
    if shape.count(-1) > 1 and known is not None:
        sizes = iter(known.shape)
        shape = [next(sizes, 1) if dim == -1 else 1 for dim in shape]
    _scaled(
        context,
        x,
        None if gamma is None else gamma.reshape(shape),
        None if beta is None else beta.reshape(shape),
    )


def _parameters(context: Context) -> tuple[Array | None, Array | None]:
    """Gamma and beta, as far as the layer has them."""
    layer = context.layer
    gamma = context.variable(0) if layer.flag("scale", True) else None
    has_beta = layer.flag("center", True) and not layer.flag("rms_scaling")
    beta = context.variable(0 if gamma is None else 1) if has_beta else None
    return gamma, beta


@has_variables("LayerNormalization", "GroupNormalization")
def _variables(layer: Layer) -> list[tuple[str, bool]]:
    has_beta = layer.flag("center", True) and not layer.flag("rms_scaling")
    own = layer.flag("scale", True) + has_beta
    return [(f"vars/{index}", True) for index in range(own)]


@HANDLERS.register("RMSNormalization")
def rms_normalization(context: Context) -> None:
    """x / sqrt(mean of squares + epsilon) * scale, over the last axis."""
    x, axes = context.floats(), context.layer.axes("axis")
    if [context.axis(axis, x) for axis in axes] != [context.rank(x) - 1]:
        raise UnsupportedNodeError(f"the axes {axes}, not the last one")
    context.emit(
        "LayerNorm",
        [x, context.constant(context.variable(0, [None]), "scale")],
        epsilon=context.layer.number("epsilon", 1e-6),
        subtract_mean=False,
    )


@has_variables("RMSNormalization")
def _rms_variables(layer: Layer) -> list[tuple[str, bool]]:
    del layer
    return [("vars/0", True)]


@HANDLERS.register("UnitNormalization")
def unit_normalization(context: Context) -> None:
    """x divided by its length."""
    x = context.floats()
    axes = [context.axis(axis, x) for axis in context.layer.axes("axis")]
    total = context.step("Reduce", [x], "total", mode="SUM_SQUARE", axes=axes)
    # As Keras: no length is less than this.
    total = context.step("Eltwise", [total, context.scalar(1e-12)], "most", mode="MAX")
    factor = context.step("Eltwise", [total], "factor", mode="RSQRT")
    context.emit("Eltwise", [x, factor], mode="MUL")


@HANDLERS.register("GroupNormalization")
def group_normalization(context: Context) -> None:
    """Over groups of channels of an image."""
    layer, x = context.layer, context.floats()
    if [context.axis(axis, x) for axis in layer.axes("axis")] != [context.rank(x) - 1]:
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
        parts = [
            np.full(channels, default, np.float32) if array is None else array
            for array, default in ((gamma, 1), (beta, 0))
        ]
        names = ("scale", "offset")
        context.emit(
            "InstanceNorm",
            [x, *(context.constant(a, n) for a, n in zip(parts, names))],
            epsilon=epsilon,
        )
        return
    batch = dims[0] if isinstance(dims[0], int) else -1
    inner = [dim for dim in dims[1:-1] if isinstance(dim, int)]
    if len(inner) != len(dims) - 2:
        raise UnsupportedNodeError(
            f"the shape of {x.name} is not known before the run",
            "give fixed input_shapes",
        )
    size = int(np.prod(inner))
    shape = [batch, size, groups, channels // groups]
    apart = context.step("Reshape", [x], "apart", shape=shape)
    centred = _centred(context, apart, [1, 3])
    factor = _factor(context, centred, [1, 3], epsilon)
    y = context.step("Eltwise", [centred, factor], "normal", mode="MUL")
    y = context.step("Reshape", [y], "together", shape=[batch, *inner, channels])
    _scaled(context, y, gamma, beta)


@HANDLERS.register("SpectralNormalization")
def spectral_normalization(context: Context) -> None:
    """Outside of training, it is the layer in it, whose weights were normalised."""
    inner = context.layer.children.get("layer")
    if inner is None or inner.network is not None:
        raise UnsupportedNodeError("it wraps no layer that is supported")
    for index, value in enumerate(
        apply(context, inner, list(context.arguments), "inside")
    ):
        context.give(value, index)


@has_variables("SpectralNormalization")
def _spectral_variables(layer: Layer) -> list[tuple[str, bool]]:
    del layer
    return [("vars/0", False)]


def _centred(context: Context, x: Value, axes: Sequence[int]) -> Value:
    mean = context.step("Reduce", [x], "mean", mode="MEAN", axes=list(axes))
    return context.step("Eltwise", [x, mean], "centred", mode="SUB")


def _factor(
    context: Context, centred: Value, axes: Sequence[int], epsilon: float
) -> Value:
    square = context.step("Eltwise", [centred], "square", mode="SQUARE")
    mean = context.step("Reduce", [square], "variance", mode="MEAN", axes=list(axes))
    total = context.step("Eltwise", [mean, context.scalar(epsilon)], "sum", mode="ADD")
    return context.step("Eltwise", [total], "factor", mode="RSQRT")


def _scaled(
    context: Context, x: Value, scale: Array | None, offset: Array | None
) -> None:
    if scale is not None:
        x = context.step(
            "Eltwise", [x, context.constant(scale, "scale")], "scaled", mode="MUL"
        )
    if offset is not None:
        x = context.step(
            "Eltwise", [x, context.constant(offset, "offset")], "moved", mode="ADD"
        )
    context.give(x)
