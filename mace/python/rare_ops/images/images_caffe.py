# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images: pyramids of pooling, the mean and variance of each, and images of a batch."""

from __future__ import annotations

from mace.python.tools.importers.caffe.handlers.conv import (
    Window,
    check_pool,
    pool_attrs,
)
from mace.python.tools.importers.caffe.handlers.normalise import moments
from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value


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


@HANDLERS.register("BatchReindex")
def _batch_reindex(layer: Layer) -> None:
    x, indices = layer.bottom(), layer.bottom(1)
    if len(layer.shape(indices)) != 1:
        raise UnsupportedNodeError("the second bottom must have one dimension")
    layer.emit("Gather", [x, layer.as_integers(indices)], axis=0)
