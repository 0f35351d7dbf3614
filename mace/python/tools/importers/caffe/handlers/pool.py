# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling."""

from __future__ import annotations

from typing import Any

from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape

_MAX, _AVERAGE, _STOCHASTIC = 0, 1, 2
_FLOOR = 1


@HANDLERS.register("Pooling")
def _pooling(layer: Layer) -> None:
    param = layer.proto.pooling_param
    _check(layer, param.pool)
    dims = _image(layer)
    if param.global_pooling:
        _global(layer, param)
        return
    kernel = _pair(param, "kernel_size", "kernel_h", "kernel_w")
    strides = _pair(param, "stride", "stride_h", "stride_w")
    pads = _pair(param, "pad", "pad_h", "pad_w")
    ceil = param.round_mode != _FLOOR and param.ceil_mode
    layer.emit(
        "Pooling",
        [layer.bottom()],
        **_attrs(param.pool, dims, (kernel, strides, pads), ceil),
    )


def _check(layer: Layer, pool: int) -> None:
    if pool == _STOCHASTIC:
        raise UnsupportedNodeError("pool is STOCHASTIC; MAX and AVE are supported")
    if len(layer.tops) > 1:
        raise UnsupportedNodeError("the second top, the positions of the maxima")


def _image(layer: Layer) -> Shape:
    dims = layer.shape(layer.bottom())
    if len(dims) != 4:
        raise UnsupportedNodeError(
            f"an input of {len(dims)} dimensions; images [N, C, H, W] are supported"
        )
    return dims


def _global(layer: Layer, param: Any) -> None:
    given = [
        name for name in ("kernel_size", "kernel_h", "kernel_w") if param.HasField(name)
    ]
    if given:
        raise UnsupportedNodeError(f"both global_pooling and {', '.join(given)}")
    others = [*_pair(param, "stride", "stride_h", "stride_w")]
    if others != [1, 1] or any(_pair(param, "pad", "pad_h", "pad_w")):
        raise UnsupportedNodeError("global_pooling with a stride or a pad")
    mode = "MAX" if param.pool == _MAX else "MEAN"
    layer.emit("Reduce", [layer.bottom()], mode=mode, axes=[2, 3], keep_dims=True)


def _pair(param: Any, name: str, vertical: str, horizontal: str) -> tuple[int, int]:
    apart = [param.HasField(entry) for entry in (vertical, horizontal)]
    if not any(apart):
        if name == "kernel_size" and not param.HasField(name):
            raise UnsupportedNodeError("kernel_size is missing")
        return getattr(param, name), getattr(param, name)
    if param.HasField(name) or (not all(apart) and name != "pad"):
        raise UnsupportedNodeError(
            f"give either {name}, or {vertical} and {horizontal}"
        )
    return getattr(param, vertical), getattr(param, horizontal)


def _attrs(
    pool: int,
    dims: Shape,
    window: tuple[tuple[int, int], tuple[int, int], tuple[int, int]],
    ceil: bool,
) -> dict[str, Any]:
    kernel, strides, pads = window
    if any(k < 1 or s < 1 for k, s in zip(kernel, strides)):
        raise UnsupportedNodeError("a kernel size or a stride is 0")
    if any(pad >= k for pad, k in zip(pads, kernel)):
        raise UnsupportedNodeError(
            f"pads {list(pads)} are not less than the kernel {list(kernel)}"
        )
    for dim, k, stride in zip(dims[2:], kernel, strides):
        # Without pads, Caffe also keeps a window that starts behind the image.
        if any(pads) or not ceil or not isinstance(dim, int) or dim < k:
            continue
        if -(-(dim - k) // stride) * stride >= dim:
            raise UnsupportedNodeError(
                f"with stride {stride}, the last window starts outside of the {dim} "
                "elements, where Caffe reads nothing"
            )
    attrs: dict[str, Any] = {
        **NCHW,
        "mode": "MAX" if pool == _MAX else "AVG",
        "kernels": kernel,
        "strides": strides,
        "ceil_mode": ceil,
    }
    if any(pads):
        attrs.update(padding="EXPLICIT", pads=[*pads, *pads])
    if pool == _AVERAGE:
        attrs["count_include_pad"] = True
    return attrs


@HANDLERS.register("SPP")
def _spp(layer: Layer) -> None:
    param = layer.proto.spp_param
    x, dims = layer.bottom(), _image(layer)
    _check(layer, param.pool)
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
        pads = tuple(
            (k * bins - size + 1) // 2 for k, size in zip(kernel, (height, width))
        )
        attrs = _attrs(param.pool, dims, (kernel, kernel, (pads[0], pads[1])), True)
        if levels == 1:
            layer.emit("Pooling", [x], **attrs)
            return
        part = layer.make("Pooling", [x], **attrs)
        pooled.append(layer.make("Reshape", [part], shape=[0, -1]))
    layer.emit("Concat", pooled, axis=1)
