# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation, learned factors and offsets, softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.caffe.layer import (
    HANDLERS,
    NCHW,
    STATIC_HINT,
    Layer,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value

_WITHIN_CHANNEL = 1


@HANDLERS.register("BatchNorm")
def _batch_norm(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.batch_norm_param
    rank, channels = _channels(layer)
    if param.HasField("use_global_stats") and not param.use_global_stats:
        axes = [axis for axis in range(rank) if axis != 1]
        centred, square = _moments(layer, x, axes)
        below = layer.eltwise("ADD", square, layer.literal(param.eps))
        layer.emit("Eltwise", [centred, layer.eltwise("RSQRT", below)], mode="MUL")
        return
    mean, variance = (
        layer.blob(index, (channels,), what).numpy().astype(np.float64)
        for index, what in enumerate(("mean", "variance"))
    )
    total = float(layer.blob(2, (1,), "scale factor").numpy()[0])
    factor = 0.0 if total == 0 else 1 / total
    scale = 1 / np.sqrt(variance * factor + param.eps)
    _affine(layer, x, scale, -mean * factor * scale)


def _channels(layer: Layer) -> tuple[int, int]:
    dims = layer.shape(layer.bottom())
    if len(dims) < 2 or not isinstance(dims[1], int):
        raise UnsupportedNodeError("the number of channels is not known")
    return len(dims), dims[1]


def _affine(
    layer: Layer, x: Value, scale: np.ndarray, offset: np.ndarray | None
) -> None:
    """x * scale + offset by channel, the second dimension."""
    rank = len(layer.shape(x))
    if rank in (2, 4):
        offset = np.zeros_like(scale) if offset is None else offset
        inputs = [x, layer.literal(scale), layer.literal(offset)]
        layer.emit("BatchNorm", inputs, **(NCHW if rank == 4 else {}))
        return
    _scaled(
        layer,
        x,
        *(None if a is None else _by_axis(a, 1, rank) for a in (scale, offset)),
    )


def _by_axis(array: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """In a shape that broadcasts over `rank` dimensions, of which the array has those
    from `axis` on."""
    return array.reshape((*array.shape, *(1,) * (rank - axis - array.ndim)))


def _scaled(
    layer: Layer, x: Value, scale: np.ndarray | None, offset: np.ndarray | None
) -> None:
    steps = [
        (layer.literal(array), mode)
        for array, mode in ((scale, "MUL"), (offset, "ADD"))
        if array is not None
    ]
    for value, mode in steps[:-1]:
        x = layer.eltwise(mode, x, value)
    value, mode = steps[-1]
    layer.emit("Eltwise", [x, value], mode=mode)


@HANDLERS.register("Scale")
def _scale(layer: Layer) -> None:
    param = layer.proto.scale_param
    if len(layer.bottoms) > 1:
        _scale_by_bottom(layer)
        return
    axis, shape = _covered(layer, param)
    scale = layer.blob(0, shape, "scale").numpy()
    offset = layer.blob(1, shape, "offset").numpy() if param.bias_term else None
    _learned(layer, axis, scale, offset)


@HANDLERS.register("Bias")
def _bias(layer: Layer) -> None:
    param = layer.proto.bias_param
    if len(layer.bottoms) > 1:
        operand = _lined_up(layer, layer.bottom(1), param.axis)
        layer.emit("Eltwise", [layer.bottom(), operand], mode="ADD")
        return
    axis, shape = _covered(layer, param)
    _learned(layer, axis, None, layer.blob(0, shape, "offset").numpy())


def _covered(layer: Layer, param: object) -> tuple[int, tuple[int, ...]]:
    """The first axis that a learned operand covers, and its shape."""
    dims = layer.shape(layer.bottom())
    count = param.num_axes  # type: ignore[attr-defined]
    if count == 0:
        return 0, ()
    axis = layer.axis(param.axis, len(dims))  # type: ignore[attr-defined]
    end = len(dims) if count == -1 else axis + count
    if not axis < end <= len(dims):
        raise UnsupportedNodeError(
            f"num_axes {count} from axis {axis} for an input of {len(dims)} dimensions"
        )
    shape = tuple(dim for dim in dims[axis:end] if isinstance(dim, int))
    if len(shape) < end - axis:
        raise UnsupportedNodeError("the axes that it covers are not known", STATIC_HINT)
    return axis, shape


def _learned(
    layer: Layer, axis: int, scale: np.ndarray | None, offset: np.ndarray | None
) -> None:
    x = layer.bottom()
    rank = len(layer.shape(x))
    given = next(array for array in (scale, offset) if array is not None)
    if axis == 1 and given.ndim == 1 and rank in (2, 4):
        _affine(layer, x, np.ones_like(given) if scale is None else scale, offset)
        return
    if given.ndim == 0:
        _scaled(layer, x, scale, offset)
        return
    _scaled(
        layer,
        x,
        *(None if a is None else _by_axis(a, axis, rank) for a in (scale, offset)),
    )


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
    param = layer.proto.scale_param
    x = layer.bottom()
    operand = _lined_up(layer, layer.bottom(1), param.axis)
    if not param.bias_term:
        layer.emit("Eltwise", [x, operand], mode="MUL")
        return
    shape = layer.static_shape(layer.bottom(1))
    axis = layer.axis(param.axis, len(layer.shape(x))) if shape else 0
    offset = layer.blob(0, shape, "offset").numpy()
    if shape:
        offset = _by_axis(offset, axis, len(layer.shape(x)))
    product = layer.eltwise("MUL", x, operand)
    layer.emit("Eltwise", [product, layer.literal(offset)], mode="ADD")


@HANDLERS.register("Axpy")
def _axpy(layer: Layer) -> None:
    factor, x, y = (layer.bottom(index) for index in range(3))
    product = layer.eltwise("MUL", x, _lined_up(layer, factor, 0))
    layer.emit("Eltwise", [product, y], mode="ADD")


@HANDLERS.register("LRN")
def _lrn(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.lrn_param
    rank, _ = _channels(layer)
    size = param.local_size
    if size % 2 == 0 or rank != 4:
        raise UnsupportedNodeError(
            f"local_size {size} for an input of {rank} dimensions; odd sizes and "
            "images [N, C, H, W] are supported"
        )
    half = size // 2
    if param.norm_region != _WITHIN_CHANNEL:
        layer.emit(
            "LocalResponseNorm",
            [x],
            **NCHW,
            before=half,
            after=half,
            alpha=param.alpha / size,
            beta=param.beta,
            bias=param.k,
        )
        return
    # Caffe ignores k here.
    attrs = {**NCHW, "mode": "AVG", "kernels": [size] * 2, "count_include_pad": True}
    if half:
        attrs.update(padding="EXPLICIT", pads=[half] * 4)
    mean = layer.make("Pooling", [layer.eltwise("SQUARE", x)], **attrs)
    below = layer.eltwise("MUL", mean, layer.literal(param.alpha))
    below = layer.eltwise("ADD", below, layer.literal(1))
    power = layer.eltwise("POW", below, layer.literal(-param.beta))
    layer.emit("Eltwise", [x, power], mode="MUL")


def _moments(layer: Layer, x: Value, axes: Sequence[int]) -> tuple[Value, Value]:
    """x - mean, and the variance."""
    keep = {"axes": axes, "keep_dims": True}
    mean = layer.make("Reduce", [x], mode="MEAN", **keep)
    centred = layer.eltwise("SUB", x, mean)
    count = [layer.shape(x)[axis] for axis in axes]
    known = [dim for dim in count if isinstance(dim, int)]
    if len(known) < len(count):
        raise UnsupportedNodeError("the size of its images is not known", STATIC_HINT)
    total = layer.make("Reduce", [centred], mode="SUM_SQUARE", **keep)
    return centred, layer.eltwise("DIV", total, layer.literal(math.prod(known)))


@HANDLERS.register("MVN")
def _mvn(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.mvn_param
    rank, _ = _channels(layer)
    if rank != 4:
        raise UnsupportedNodeError(
            f"an input of {rank} dimensions; images [N, C, H, W] are supported"
        )
    axes = [1, 2, 3] if param.across_channels else [2, 3]
    if not param.normalize_variance:
        mean = layer.make("Reduce", [x], mode="MEAN", axes=axes, keep_dims=True)
        layer.emit("Eltwise", [x, mean], mode="SUB")
        return
    centred, variance = _moments(layer, x, axes)
    # Caffe adds eps to the deviation, not to the variance.
    deviation = layer.eltwise("SQRT", variance)
    below = layer.eltwise("ADD", deviation, layer.literal(param.eps))
    layer.emit("Eltwise", [centred, below], mode="DIV")


@HANDLERS.register("Normalize")
def _normalize(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.norm_param
    rank, channels = _channels(layer)
    if rank != 4:
        raise UnsupportedNodeError(
            f"an input of {rank} dimensions; images [N, C, H, W] are supported"
        )
    axes = [1, 2, 3] if param.across_spatial else [1]
    total = layer.make("Reduce", [x], mode="SUM_SQUARE", axes=axes, keep_dims=True)
    below = layer.eltwise("ADD", total, layer.literal(param.eps))
    unit = layer.eltwise("MUL", x, layer.eltwise("RSQRT", below))
    if param.channel_shared:
        scale = layer.blob(0, (1,), "scale").numpy()
    else:
        scale = layer.blob(0, (channels,), "scale").numpy().reshape(-1, 1, 1)
    layer.emit("Eltwise", [unit, layer.literal(scale)], mode="MUL")


@HANDLERS.register("Softmax")
def _softmax(layer: Layer) -> None:
    x = layer.bottom()
    axis = layer.axis(layer.proto.softmax_param.axis, len(layer.shape(x)))
    layer.emit("Softmax", [x], axis=axis)


@HANDLERS.register("SoftmaxWithLoss")
def _softmax_with_loss(layer: Layer) -> None:
    """Only its second top, the probabilities."""
    x = layer.bottom()
    axis = layer.axis(layer.proto.softmax_param.axis, len(layer.shape(x)))
    if len(layer.tops) < 2:
        raise UnsupportedNodeError(
            "a loss, which Caffe computes in training",
            "name the tensor that it reads in output_tensors",
        )
    layer.set_top(1, layer.make("Softmax", [x], axis=axis))
