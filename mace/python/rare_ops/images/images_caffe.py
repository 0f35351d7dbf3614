# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images: pyramids of pooling, their mean, variance and norm, images of a batch, and
the layers that only the fork of Caffe has from which the first MACE read networks.
"""

from __future__ import annotations

import math
from typing import Any

from mace.python.tools.importers.caffe.handlers.conv import (
    Window,
    check_pool,
    pool_attrs,
)
from mace.python.tools.importers.caffe.handlers.normalise import moments
from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value

# Keeps a norm of 0 from becoming a divisor.
_NORM_EPSILON = 1e-10
# Larger than images are; a damaged file may ask for more.
_MOST_PIXELS = 1 << 15


@HANDLERS.register("SPP")
def _spp(layer: Layer) -> None:
    param, x, dims = layer.proto.spp_param, layer.bottom(), layer.image()
    check_pool(layer, param.pool)
    height, width = layer.static_shape(x)[2:]
    levels = param.pyramid_height
    if levels < 1 or 2 ** (levels - 1) > min(height, width):
        raise UnsupportedNodeError(
            f"pyramid_height {levels} for an image of {height} x {width}"
        )
    pooled: list[Value] = []
    for level in range(levels):
        bins = 2**level
        kernel = (-(-height // bins), -(-width // bins))
        pads = (
            (kernel[0] * bins - height + 1) // 2,
            (kernel[1] * bins - width + 1) // 2,
        )
        attrs = pool_attrs(param.pool, dims, Window(kernel, kernel, pads), True)
        if levels == 1:
            layer.emit("Pooling", [x], **attrs)
            return
        part = layer.make("Pooling", [x], **attrs)
        pooled.append(layer.make("Reshape", [part], shape=[0, -1]))
    layer.emit("Concat", pooled, axis=1)


@HANDLERS.register("MVN")
def _mvn(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.mvn_param
    layer.channels()
    layer.image()
    axes = [1, 2, 3] if param.across_channels else [2, 3]
    if not param.normalize_variance:
        mean = layer.make("Reduce", [x], mode="MEAN", axes=axes, keep_dims=True)
        layer.emit_eltwise("SUB", x, mean)
        return
    centred, variance = moments(layer, x, axes)
    # Caffe adds eps to the deviation, not to the variance.
    below = layer.eltwise("ADD", layer.eltwise("SQRT", variance), param.eps)
    layer.emit_eltwise("DIV", centred, below)


@HANDLERS.register("GroupNorm")
def _group_norm(layer: Layer) -> None:
    """Groups of channels with mean 0 and variance 1; a Scale layer has the factors."""
    x, param = layer.bottom(), layer.proto.group_norm_param
    channels, groups = layer.channels(), param.group_num
    if groups < 1 or channels % groups:
        raise UnsupportedNodeError(
            f"{channels} channels in {groups} groups",
            "give a group_num by which the number of channels can be divided",
        )
    own = layer.static_image(x)
    grouped = layer.make("Reshape", [x], shape=[own[0], groups, -1])
    centred, variance = moments(layer, grouped, [2])
    factor = layer.eltwise("RSQRT", layer.eltwise("ADD", variance, param.eps))
    unit = layer.eltwise("MUL", centred, factor)
    layer.emit("Reshape", [unit], shape=own)


@HANDLERS.register("L1Normalization", "L2Normalization")
def _lp_normalization(layer: Layer) -> None:
    """Divided by the norm over `axis` and all axes behind it."""
    x, param = layer.bottom(), layer.proto.l2normalization_param
    rank = len(layer.shape(x))
    keep = {"axes": list(range(layer.axis(param.axis, rank), rank)), "keep_dims": True}
    if layer.type == "L1Normalization":
        total = layer.make("Reduce", [layer.eltwise("ABS", x)], mode="SUM", **keep)
        factor = layer.eltwise("RECIPROCAL", layer.eltwise("ADD", total, _NORM_EPSILON))
    else:
        total = layer.make("Reduce", [x], mode="SUM_SQUARE", **keep)
        factor = layer.eltwise("RSQRT", layer.eltwise("ADD", total, _NORM_EPSILON))
    layer.emit_eltwise("MUL", x, factor)


@HANDLERS.register("ResizeNearest")
def _resize_nearest(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.resize_nearest_param
    factors = (param.height_scale, param.width_scale)
    size = [int(n * factor) for n, factor in zip(layer.static_image(x)[2:], factors)]
    if any(not 0 < n <= _MOST_PIXELS for n in size):
        raise UnsupportedNodeError(
            f"height_scale {factors[0]:g} and width_scale {factors[1]:g} make the size "
            f"{size}"
        )
    attrs: dict[str, Any] = {"mode": "NEAREST", "coordinates": "ASYMMETRIC"}
    layer.emit("Resize", [x], **NCHW, **attrs, rounding="FLOOR", size=size)


@HANDLERS.register("Add")
def _add(layer: Layer) -> None:
    """The sum of all bottoms, of one shape."""
    x, others = layer.bottom(), layer.bottoms[1:]
    for other in others:
        if layer.shape(other) != layer.shape(x):
            raise UnsupportedNodeError(
                f"its bottoms have different shapes: {list(layer.shape(x))} and "
                f"{list(layer.shape(other))}"
            )
    layer.emit_chain(x, [("ADD", other) for other in others])


@HANDLERS.register("MatMul")
def _mat_mul(layer: Layer) -> None:
    param, operands = layer.proto.matmul_param, [layer.bottom(), layer.bottom(1)]
    for operand, name in zip(operands, ("first", "second")):
        if len(layer.shape(operand)) < 2:
            raise UnsupportedNodeError(f"the {name} bottom is no matrix")
    turned = {"transpose_a": param.transpose_a, "transpose_b": param.transpose_b}
    layer.emit("MatMul", operands, **turned)


@HANDLERS.register("NonlocalReshape")
def _nonlocal_reshape(layer: Layer) -> None:
    """As images of the size of the second bottom, which only its shape is of."""
    x, like = layer.bottom(), layer.bottom(1)
    own, size = layer.static_shape(x), layer.static_image(like)[2:]
    if len(own) < 2 or math.prod(own[2:]) != math.prod(size):
        raise UnsupportedNodeError(
            f"a bottom of {list(own)} as images of {size[0]} x {size[1]}",
            "the second bottom must have as many pixels as the first has elements in "
            "a channel",
        )
    layer.emit("Reshape", [x], shape=[*own[:2], *size])


@HANDLERS.register("BatchReindex")
def _batch_reindex(layer: Layer) -> None:
    x, indices = layer.bottom(), layer.bottom(1)
    if len(layer.shape(indices)) != 1:
        raise UnsupportedNodeError("the second bottom must have one dimension")
    layer.emit("Gather", [x, layer.as_integers(indices)], axis=0)
