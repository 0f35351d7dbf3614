# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over axes, and the positions of maxima."""

from __future__ import annotations

import math

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.ir.graph import Value

_SUM, _ABSOLUTE, _SQUARES, _MEAN = 1, 2, 3, 4


@HANDLERS.register("Reduction")
def _reduction(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.reduction_param
    rank = len(layer.shape(x))
    axes = list(range(layer.axis(param.axis, rank), rank))
    mode = {_MEAN: "MEAN", _SQUARES: "SUM_SQUARE"}.get(param.operation, "SUM")
    if param.operation == _ABSOLUTE:
        x = layer.eltwise("ABS", x)
    attrs = {"mode": mode, "axes": axes, "keep_dims": False}
    if param.coeff == 1:
        layer.emit("Reduce", [x], **attrs)
        return
    total = layer.make("Reduce", [x], **attrs)
    layer.emit("Eltwise", [total, layer.literal(param.coeff)], mode="MUL")


@HANDLERS.register("ArgMax")
def _arg_max(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.argmax_param
    if param.top_k != 1:
        raise UnsupportedNodeError(f"top_k is {param.top_k}; 1 is supported")
    rank = len(layer.shape(x))
    if param.HasField("axis"):
        axis = layer.axis(param.axis, rank)
        if param.out_max_val:
            layer.emit("Reduce", [x], mode="MAX", axes=[axis], keep_dims=True)
        else:
            layer.emit("Cast", [_position(layer, x, axis)], to="FLOAT32")
        return
    # All elements of an image compete, whatever their number of dimensions.
    dims = layer.static_shape(x)
    if rank != 2:
        x = layer.make("Reshape", [x], shape=[dims[0], math.prod(dims[1:])])
    best = layer.make("Cast", [_position(layer, x, 1)], to="FLOAT32")
    if param.out_max_val:
        largest = layer.make("Reduce", [x], mode="MAX", axes=[1], keep_dims=True)
        best = layer.make("Concat", [best, largest], axis=1)
    count = 2 if param.out_max_val else 1
    shape = [dims[0], count, *[1] * max(rank - 2, 1)]
    layer.emit("Reshape", [best], shape=shape)


def _position(layer: Layer, x: Value, axis: int) -> Value:
    # Of equal elements, Caffe takes the last one.
    return layer.make("ArgMax", [x], axis=axis, last=True)
