# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of regions between elements.

Forks of Caffe define these layers differently, and tell by a parameter that they take
samples as the definitions below do. `ROIAlign` is that of Detectron, with
`sampling_ratio`; `PSROIAlign` that of R-FCN with aligned regions, with `sample_num`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.handlers.detection import part
from mace.python.tools.importers.caffe.handlers.regions import (
    check_groups,
    pooled,
    regions_of,
)
from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_MOST_SAMPLES = 64
# Of the sides of a region.
_LEAST = 0.1


@HANDLERS.register("ROIAlign")
def _roi_align(layer: Layer) -> None:
    param = layer.proto.roi_align_param
    samples = _stated(param, "sampling_ratio")
    corners, images = regions_of(layer)
    layer.emit(
        "RoiAlign",
        [layer.bottom(), corners, images],
        **NCHW,
        **pooled((param.pooled_h, param.pooled_w)),
        scale=param.spatial_scale,
        # One for each element.
        samples=max(samples, 0),
    )


@HANDLERS.register("PSROIAlign")
def _psroi_align(layer: Layer) -> None:
    """y[r, d, i, j] = sum over h, w of rows[r, i, h] * columns[r, j, w] * x[h, w] in
    channel (d * group_size + i) * group_size + j.
    """
    param = layer.proto.psroi_align_param
    if _stated(param, "sample_num") < 1:
        raise UnsupportedNodeError(f"sample_num: {param.sample_num}")
    check_groups(layer, param)
    group, dim = param.group_size, param.output_dim
    pooled((group, group))
    corners, images = regions_of(layer)
    count = layer.static_shape(images)[0]
    batch, _, height, width = layer.static_shape(layer.bottom())
    rows = _weights(layer, corners, 1, height)
    columns = _weights(layer, corners, 0, width)
    # All rows of images that a column of the result reads, by the column.
    x = layer.make(
        "Reshape", [layer.bottom()], shape=[batch * dim * group, group, height, width]
    )
    x = layer.make("Transpose", [x], perm=[1, 0, 2, 3])
    x = layer.make("Reshape", [x], shape=[group, batch * dim * group * height, width])
    columns = layer.make("Transpose", [columns], perm=[1, 2, 0])
    y = layer.make("MatMul", [x, columns])
    y = layer.make("Reshape", [y], shape=[group * batch * dim, group, height, count])
    y = layer.eltwise("MUL", y, layer.make("Transpose", [rows], perm=[1, 2, 0]))
    y = layer.make("Reduce", [y], mode="SUM", axes=[2], keep_dims=False)
    y = layer.make("Reshape", [y], shape=[group, batch, dim * group, count])
    numbers = layer.literal(np.arange(batch)[:, None, None], DataType.INT32)
    own = layer.make("Cast", [layer.eltwise("EQUAL", numbers, images)], to="FLOAT32")
    y = layer.eltwise("MUL", y, own)
    y = layer.make("Reduce", [y], mode="SUM", axes=[1], keep_dims=False)
    y = layer.make("Reshape", [y], shape=[group, dim, group, count])
    layer.emit("Transpose", [y], perm=[3, 1, 2, 0])


def _stated(param: Any, name: str) -> int:
    """The number of samples along an axis."""
    if not param.HasField(name):
        raise UnsupportedNodeError(
            f"forks of Caffe define it differently; only that with {name} is known",
            f"state {name}, if the network was trained with such a layer",
        )
    value = int(getattr(param, name))
    if value > _MOST_SAMPLES:
        raise UnsupportedNodeError(f"{name}: {value} is more than {_MOST_SAMPLES}")
    return value


def _weights(layer: Layer, corners: Value, axis: int, length: int) -> Value:
    """[R, group, length]: the share of each element of an axis in each mean of samples.

    Args:
        axis: 0 for x, 1 for y.
    """
    param = layer.proto.psroi_align_param
    group, samples = param.group_size, param.sample_num
    scale, last = layer.literal(param.spatial_scale), layer.literal(length - 1)
    zero, one = layer.literal(0), layer.literal(1)
    low = layer.eltwise("MUL", part(layer, corners, 1, axis, axis + 1), scale)
    high = layer.eltwise("ADD", part(layer, corners, 1, axis + 2, axis + 3), one)
    side = layer.eltwise("SUB", layer.eltwise("MUL", high, scale), low)
    side = layer.eltwise("MAX", side, layer.literal(_LEAST))
    step = layer.eltwise("DIV", side, layer.literal(group))
    ends = layer.literal(np.arange(group + 1))
    ends = layer.eltwise("ADD", layer.eltwise("MUL", step, ends), low)
    ends = layer.eltwise("MAX", layer.eltwise("MIN", ends, last), zero)
    begin = _spread(layer, part(layer, ends, 1, 0, group))
    end = _spread(layer, part(layer, ends, 1, 1, group + 1))
    # [R, group, samples]
    between = layer.eltwise("DIV", _spread(layer, step), layer.literal(samples + 1))
    between = layer.eltwise("MUL", between, layer.literal(np.arange(samples) + 1))
    places = layer.eltwise("ADD", begin, between)
    inside = layer.make("Cast", [layer.eltwise("LESS", places, end)], to="FLOAT32")
    # [R, group, samples, length]: linear from 1 at the element to 0 at the next.
    distance = layer.eltwise(
        "SUB", _spread(layer, places), layer.literal(np.arange(length))
    )
    near = layer.eltwise("SUB", one, layer.eltwise("ABS", distance))
    near = layer.eltwise("MAX", near, zero)
    near = layer.eltwise("MUL", near, _spread(layer, inside))
    return layer.make("Reduce", [near], mode="MEAN", axes=[2], keep_dims=False)


def _spread(layer: Layer, value: Value) -> Value:
    """With a last dimension of 1."""
    rank = len(layer.static_shape(value))
    return layer.make("ExpandDims", [value], axes=[rank])
