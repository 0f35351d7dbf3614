# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution, transposed convolution and pooling of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.conv import outputs_first
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, Shape

# Of Pooling.
_MAX, _AVERAGE, _STOCHASTIC = 0, 1, 2
_FLOOR = 1


@dataclass(frozen=True)
class Window:
    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int]
    dilations: tuple[int, int] = (1, 1)

    @property
    def attrs(self) -> dict[str, Any]:
        """What both convolutions take."""
        return {**NCHW, "strides": self.strides, "dilations": self.dilations}

    @property
    def borders(self) -> list[int]:
        return [*self.pads, *self.pads]

    @property
    def padding(self) -> dict[str, Any]:
        """Of operators that have no pads unless they say so."""
        explicit = {"padding": "EXPLICIT", "pads": self.borders}
        return explicit if any(self.pads) else {}


@HANDLERS.register("Convolution")
def _convolution(layer: Layer) -> None:
    _convolve(layer, layer.proto.convolution_param.group)


@HANDLERS.register("ConvolutionDepthwise", "DepthwiseConvolution")
def _depthwise(layer: Layer) -> None:
    # In some forks, the layer ignores the group, which may be 1 in the file.
    _convolve(layer, _channels(layer))


def _convolve(layer: Layer, groups: int) -> None:
    x, param, window = layer.bottom(), layer.proto.convolution_param, _window(layer)
    channels, outputs = _channels(layer), param.num_output
    _check_groups(channels, outputs, groups)
    shape = (outputs, channels // groups, *window.kernel)
    weights = layer.blob(0, shape, "filter")
    filters = layer.transposed(weights, NCHW_TO_NHWC, "filter")
    attrs = {**window.attrs, **window.padding, "groups": groups}
    layer.emit("Conv2D", [x, filters, *_bias(layer, outputs)], **attrs)


@HANDLERS.register("Deconvolution")
def _deconvolution(layer: Layer) -> None:
    x, param, window = layer.bottom(), layer.proto.convolution_param, _window(layer)
    groups, channels, outputs = param.group, _channels(layer), param.num_output
    _check_groups(channels, outputs, groups)
    weights = layer.blob(0, (channels, outputs // groups, *window.kernel), "filter")
    filters = layer.lazy(outputs_first(weights, groups), "filter")
    attrs = {**window.attrs, "groups": groups, "pads": window.borders}
    layer.emit("Deconv2D", [x, filters, *_bias(layer, outputs)], **attrs)


def _bias(layer: Layer, outputs: int) -> list[Value]:
    has_bias = layer.proto.convolution_param.bias_term
    return [layer.learned(1, (outputs,), "bias")] if has_bias else []


def _channels(layer: Layer) -> int:
    dims = layer.shape(layer.bottom())
    if len(layer.bottoms) != 1:
        raise UnsupportedNodeError(f"has {len(layer.bottoms)} bottoms; 1 is supported")
    if len(dims) != 4 or layer.proto.convolution_param.axis not in (1, -3):
        raise UnsupportedNodeError(
            f"an input of {len(dims)} dimensions with axis "
            f"{layer.proto.convolution_param.axis}; images [N, C, H, W] are supported"
        )
    return layer.channels()


def _check_groups(channels: int, outputs: int, groups: int) -> None:
    if groups < 1 or outputs < 1 or channels % groups or outputs % groups:
        raise UnsupportedNodeError(
            f"{channels} input channels and {outputs} outputs in {groups} groups"
        )


def _window(layer: Layer) -> Window:
    param = layer.proto.convolution_param
    return Window(
        _two(param, "kernel_size", None),
        _two(param, "stride", 1),
        _two(param, "pad", 0),
        _pair(param.dilation, "dilation", 1),
    )


def _sides(name: str) -> tuple[str, str]:
    """What a parameter is called that is given for each dimension on its own."""
    prefix = name.removesuffix("_size")
    return f"{prefix}_h", f"{prefix}_w"


def _two(param: Any, name: str, default: int | None) -> tuple[int, int]:
    """A parameter that is given once, for each dimension, or under two other names."""
    apart = [side for side in _sides(name) if param.HasField(side)]
    if not apart:
        return _pair(getattr(param, name), name, default)
    if getattr(param, name):
        raise UnsupportedNodeError(f"both {name} and {' and '.join(apart)} are given")
    if len(apart) == 1 and default is None:
        raise UnsupportedNodeError(f"{apart[0]} is given without the other one")
    vertical, horizontal = (
        int(getattr(param, side) if side in apart else default or 0)
        for side in _sides(name)
    )
    return vertical, horizontal


def _pair(values: Sequence[int], name: str, default: int | None) -> tuple[int, int]:
    if not values:
        if default is None:
            raise UnsupportedNodeError(f"{name} is missing")
        return default, default
    if len(values) > 2:
        raise UnsupportedNodeError(f"{name} has {len(values)} values; 1 or 2 are valid")
    return values[0], values[-1]


@HANDLERS.register("Pooling")
def _pooling(layer: Layer) -> None:
    param = layer.proto.pooling_param
    check_pool(layer, param.pool)
    dims = layer.image()
    if param.global_pooling:
        _pool_all(layer, param)
        return
    names = ("kernel_size", "stride", "pad")
    window = Window(*(_pool_pair(param, name) for name in names))
    ceil = param.round_mode != _FLOOR and param.ceil_mode
    attrs = pool_attrs(param.pool, dims, window, ceil)
    layer.emit("Pooling", [layer.bottom()], **attrs)


def check_pool(layer: Layer, pool: int) -> None:
    if pool == _STOCHASTIC:
        raise UnsupportedNodeError("pool is STOCHASTIC; MAX and AVE are supported")
    if len(layer.tops) > 1:
        raise UnsupportedNodeError("the second top, the positions of the maxima")


def _pool_all(layer: Layer, param: Any) -> None:
    names = ("kernel_size", *_sides("kernel_size"))
    given = [name for name in names if param.HasField(name)]
    if given:
        raise UnsupportedNodeError(f"both global_pooling and {', '.join(given)}")
    if _pool_pair(param, "stride") != (1, 1) or any(_pool_pair(param, "pad")):
        raise UnsupportedNodeError("global_pooling with a stride or a pad")
    mode = "MAX" if param.pool == _MAX else "MEAN"
    layer.emit("Reduce", [layer.bottom()], mode=mode, axes=[2, 3], keep_dims=True)


def _pool_pair(param: Any, name: str) -> tuple[int, int]:
    vertical, horizontal = _sides(name)
    apart = [param.HasField(side) for side in (vertical, horizontal)]
    if not any(apart):
        if name == "kernel_size" and not param.HasField(name):
            raise UnsupportedNodeError("kernel_size is missing")
        return getattr(param, name), getattr(param, name)
    if param.HasField(name) or (not all(apart) and name != "pad"):
        raise UnsupportedNodeError(
            f"give either {name}, or {vertical} and {horizontal}"
        )
    return getattr(param, vertical), getattr(param, horizontal)


def pool_attrs(pool: int, dims: Shape, window: Window, ceil: bool) -> dict[str, Any]:
    kernel, strides, pads = window.kernel, window.strides, window.pads
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
    attrs: dict[str, Any] = {**NCHW, **window.padding, "ceil_mode": ceil}
    attrs |= {"mode": "MAX" if pool == _MAX else "AVG"}
    attrs |= {"kernels": kernel, "strides": strides}
    if pool == _AVERAGE:
        attrs["count_include_pad"] = True
    return attrs
