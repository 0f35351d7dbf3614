# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation, learned factors and offsets, softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_WITHIN_CHANNEL = 1


@HANDLERS.register("BatchNorm")
def _batch_norm(layer: Layer) -> None:
    x, param, channels = layer.bottom(), layer.proto.batch_norm_param, layer.channels()
    if param.HasField("use_global_stats") and not param.use_global_stats:
        axes = [axis for axis in range(len(layer.shape(x))) if axis != 1]
        centred, square = moments(layer, x, axes)
        below = layer.eltwise("ADD", square, param.eps)
        layer.emit_eltwise("MUL", centred, layer.eltwise("RSQRT", below))
        return
    mean, variance = (
        layer.blob(index, (channels,), what).numpy().astype(np.float64)
        for index, what in enumerate(("mean", "variance"))
    )
    total = float(layer.blob(2, (1,), "scale factor").numpy()[0])
    factor = 0.0 if total == 0 else 1 / total
    scale = 1 / np.sqrt(variance * factor + param.eps)
    _affine(layer, 1, scale, -mean * factor * scale)


def _affine(layer: Layer, axis: int, scale: Array | None, offset: Array | None) -> None:
    """x * scale + offset, whose first axis is `axis` of x."""
    x = layer.bottom()
    rank = len(layer.shape(x))
    given = {"MUL": scale, "ADD": offset}
    known = [array for array in given.values() if array is not None]
    if axis == 1 and known[0].ndim == 1 and rank in (2, 4):
        scale = np.ones_like(known[0]) if scale is None else scale
        offset = np.zeros_like(scale) if offset is None else offset
        inputs = [x, layer.literal(scale), layer.literal(offset)]
        layer.emit("BatchNorm", inputs, **(NCHW if rank == 4 else {}))
        return
    arrays = [(mode, array) for mode, array in given.items() if array is not None]
    layer.emit_chain(x, [(mode, _by_axis(a, axis, rank)) for mode, a in arrays])


def _by_axis(array: Array, axis: int, rank: int) -> Array:
    """In a shape that broadcasts over `rank` dimensions, of which the array has those
    from `axis` on."""
    if not array.ndim:
        return array
    return array.reshape((*array.shape, *(1,) * (rank - axis - array.ndim)))


@HANDLERS.register("Scale")
def _scale(layer: Layer) -> None:
    param = layer.proto.scale_param
    if len(layer.bottoms) > 1:
        _scale_by_bottom(layer)
        return
    axis, shape = _covered(layer, param)
    scale = layer.blob(0, shape, "scale").numpy()
    offset = layer.blob(1, shape, "offset").numpy() if param.bias_term else None
    _affine(layer, axis, scale, offset)


@HANDLERS.register("Bias")
def _bias(layer: Layer) -> None:
    param = layer.proto.bias_param
    if len(layer.bottoms) > 1:
        operand = _lined_up(layer, layer.bottom(1), param.axis)
        layer.emit_eltwise("ADD", layer.bottom(), operand)
        return
    axis, shape = _covered(layer, param)
    _affine(layer, axis, None, layer.blob(0, shape, "offset").numpy())


def _covered(layer: Layer, param: Any) -> tuple[int, tuple[int, ...]]:
    """The first axis that a learned operand covers, and its shape."""
    dims = layer.shape(layer.bottom())
    count = param.num_axes
    if count == 0:
        return 0, ()
    axis = layer.axis(param.axis, len(dims))
    end = len(dims) if count == -1 else axis + count
    if not axis < end <= len(dims):
        raise UnsupportedNodeError(
            f"num_axes {count} from axis {axis} for an input of {len(dims)} dimensions"
        )
    return axis, layer.known_dims(dims[axis:end], "the axes that it covers are")


def _lined_up(layer: Layer, operand: Value, axis: int) -> Value:
    """A second bottom in a shape that broadcasts over the first one."""
    rank, own = len(layer.shape(layer.bottom())), len(layer.shape(operand))
    if own == 0:
        return operand
    axis = layer.axis(axis, rank)
    after = rank - axis - own
    if after < 0:
        raise UnsupportedNodeError(
            f"a second bottom of {own} dimensions does not fit from axis {axis} on"
        )
    if after == 0:
        return operand
    return layer.make("ExpandDims", [operand], axes=list(range(own, own + after)))


def _scale_by_bottom(layer: Layer) -> None:
    param, x = layer.proto.scale_param, layer.bottom()
    operand = _lined_up(layer, layer.bottom(1), param.axis)
    if not param.bias_term:
        layer.emit_eltwise("MUL", x, operand)
        return
    shape, rank = layer.static_shape(layer.bottom(1)), len(layer.shape(x))
    axis = layer.axis(param.axis, rank) if shape else 0
    offset = _by_axis(layer.blob(0, shape, "offset").numpy(), axis, rank)
    layer.emit_chain(x, [("MUL", operand), ("ADD", offset)])


@HANDLERS.register("Axpy")
def _axpy(layer: Layer) -> None:
    factor, x, y = (layer.bottom(index) for index in range(3))
    layer.emit_chain(x, [("MUL", _lined_up(layer, factor, 0)), ("ADD", y)])


@HANDLERS.register("LRN")
def _lrn(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.lrn_param
    layer.channels()
    size, rank = param.local_size, len(layer.shape(x))
    if size % 2 == 0 or rank != 4:
        raise UnsupportedNodeError(
            f"local_size {size} for an input of {rank} dimensions; odd sizes and "
            "images [N, C, H, W] are supported"
        )
    half = size // 2
    if param.norm_region != _WITHIN_CHANNEL:
        attrs = {**NCHW, "before": half, "after": half, "bias": param.k}
        attrs |= {"alpha": param.alpha / size, "beta": param.beta}
        layer.emit("LocalResponseNorm", [x], **attrs)
        return
    # Caffe ignores k here.
    attrs = {**NCHW, "mode": "AVG", "kernels": [size] * 2, "count_include_pad": True}
    if half:
        attrs.update(padding="EXPLICIT", pads=[half] * 4)
    mean = layer.make("Pooling", [layer.eltwise("SQUARE", x)], **attrs)
    below = layer.eltwise("ADD", layer.eltwise("MUL", mean, param.alpha), 1)
    layer.emit_eltwise("MUL", x, layer.eltwise("POW", below, -param.beta))


def moments(layer: Layer, x: Value, axes: Sequence[int]) -> tuple[Value, Value]:
    """x - mean, and the variance."""
    keep = {"axes": axes, "keep_dims": True}
    mean = layer.make("Reduce", [x], mode="MEAN", **keep)
    centred = layer.eltwise("SUB", x, mean)
    count = [layer.shape(x)[axis] for axis in axes]
    known = layer.known_dims(count, "the size of its images is")
    total = layer.make("Reduce", [centred], mode="SUM_SQUARE", **keep)
    return centred, layer.eltwise("DIV", total, math.prod(known))


@HANDLERS.register("Normalize")
def _normalize(layer: Layer) -> None:
    x, param, channels = layer.bottom(), layer.proto.norm_param, layer.channels()
    layer.image()
    axes = [1, 2, 3] if param.across_spatial else [1]
    total = layer.make("Reduce", [x], mode="SUM_SQUARE", axes=axes, keep_dims=True)
    below = layer.eltwise("ADD", total, param.eps)
    unit = layer.eltwise("MUL", x, layer.eltwise("RSQRT", below))
    if param.channel_shared:
        scale = layer.blob(0, (1,), "scale").numpy()
    else:
        scale = layer.blob(0, (channels,), "scale").numpy().reshape(-1, 1, 1)
    layer.emit_eltwise("MUL", unit, scale)


@HANDLERS.register("Softmax")
def _softmax(layer: Layer) -> None:
    layer.emit("Softmax", [layer.bottom()], axis=_softmax_axis(layer))


@HANDLERS.register("SoftmaxWithLoss")
def _softmax_with_loss(layer: Layer) -> None:
    """Only its second top, the probabilities."""
    axis = _softmax_axis(layer)
    if len(layer.tops) < 2:
        raise UnsupportedNodeError(
            "a loss, which Caffe computes in training",
            "name the tensor that it reads in output_tensors",
        )
    layer.set_top(1, layer.make("Softmax", [layer.bottom()], axis=axis))


def _softmax_axis(layer: Layer) -> int:
    rank = len(layer.shape(layer.bottom()))
    return layer.axis(layer.proto.softmax_param.axis, rank)
