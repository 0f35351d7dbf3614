# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over axes, and the positions of maxima."""

from __future__ import annotations

import math

from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import DataType
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
    rank = len(layer.shape(x))
    if param.HasField("axis"):
        axis = layer.axis(param.axis, rank)
        places, values = _largest(layer, x, axis, param.top_k)
        layer.set_top(0, values if param.out_max_val else places)
        return
    # All elements of an image compete, whatever their number of dimensions.
    dims = layer.static_shape(x)
    if rank != 2:
        x = layer.make("Reshape", [x], shape=[dims[0], math.prod(dims[1:])])
    best, values = _largest(layer, x, 1, param.top_k)
    if param.out_max_val:
        best = layer.make("Concat", [best, values], axis=1)
    count = 2 if param.out_max_val else 1
    shape = [dims[0], count, param.top_k, *[1] * max(rank - 3, 0)]
    layer.emit("Reshape", [best], shape=shape)


def _largest(layer: Layer, x: Value, axis: int, count: int) -> tuple[Value, Value]:
    """Positions, as floats, and values of the largest elements along an axis. Of equal
    elements, Caffe takes the last ones first.
    """
    if count == 1:
        place = layer.make("ArgMax", [x], axis=axis, last=True)
        largest = layer.make("Reduce", [x], mode="MAX", axes=[axis], keep_dims=True)
        return layer.make("Cast", [place], to="FLOAT32"), largest
    length = layer.shape(x)[axis]
    if not isinstance(length, int) or not 1 <= count <= length:
        raise UnsupportedNodeError(f"top_k is {count} of {length} elements")
    attrs = {"axes": [axis], "begins": [-1], "ends": [-length - 1], "strides": [-1]}
    turned = layer.make("StridedSlice", [x], **attrs)
    graph = layer.builder.graph
    names = [graph.unique_name(f"{layer.name}/TopK/{i}") for i in range(2)]
    values, places = layer.builder.op(
        "TopK", [turned], names, {"k": count, "axis": axis}, source=False
    )
    last = layer.literal(length - 1, DataType.INT32)
    places = layer.eltwise("SUB", last, places)
    return layer.make("Cast", [places], to="FLOAT32"), values
