# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and transposed convolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.caffe.layer import HANDLERS, NCHW, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import NCHW_TO_NHWC


@dataclass(frozen=True)
class _Window:
    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int]
    dilations: tuple[int, int]

    @property
    def attrs(self) -> dict[str, Any]:
        """What both operators take."""
        return {**NCHW, "strides": self.strides, "dilations": self.dilations}

    @property
    def borders(self) -> list[int]:
        return [*self.pads, *self.pads]


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
    attrs = {**window.attrs, "groups": groups}
    if any(window.pads):
        attrs.update(padding="EXPLICIT", pads=window.borders)
    layer.emit("Conv2D", [x, filters, *_bias(layer, outputs)], **attrs)


@HANDLERS.register("Deconvolution")
def _deconvolution(layer: Layer) -> None:
    x, param, window = layer.bottom(), layer.proto.convolution_param, _window(layer)
    groups, channels, outputs = param.group, _channels(layer), param.num_output
    _check_groups(channels, outputs, groups)
    weights = layer.blob(0, (channels, outputs // groups, *window.kernel), "filter")
    filters = layer.lazy(_outputs_first(weights, groups), "filter")
    attrs = {**window.attrs, "groups": groups, "pads": window.borders}
    layer.emit("Deconv2D", [x, filters, *_bias(layer, outputs)], **attrs)


def _outputs_first(weights: Constant, groups: int) -> Constant:
    """[C, O / groups, H, W] as the operator's [O, H, W, C / groups]."""
    channels, outs, height, width = weights.shape
    depth = channels // groups
    shape = (groups * outs, height, width, depth)
    return weights.moved(
        lambda array: (
            array.reshape(groups, depth, outs, height, width)
            .transpose(0, 2, 3, 4, 1)
            .reshape(shape)
        ),
        shape,
    )


def _bias(layer: Layer, outputs: int) -> list[Value]:
    if not layer.proto.convolution_param.bias_term:
        return []
    return [layer.lazy(layer.blob(1, (outputs,), "bias"), "bias")]


def _channels(layer: Layer) -> int:
    dims = layer.shape(layer.bottom())
    if len(layer.bottoms) != 1:
        raise UnsupportedNodeError(f"has {len(layer.bottoms)} bottoms; 1 is supported")
    if len(dims) != 4 or layer.proto.convolution_param.axis not in (1, -3):
        raise UnsupportedNodeError(
            f"an input of {len(dims)} dimensions with axis "
            f"{layer.proto.convolution_param.axis}; images [N, C, H, W] are supported"
        )
    if not isinstance(dims[1], int):
        raise UnsupportedNodeError("the number of channels is not known")
    return dims[1]


def _check_groups(channels: int, outputs: int, groups: int) -> None:
    if groups < 1 or outputs < 1 or channels % groups or outputs % groups:
        raise UnsupportedNodeError(
            f"{channels} input channels and {outputs} outputs in {groups} groups"
        )


def _window(layer: Layer) -> _Window:
    param = layer.proto.convolution_param
    return _Window(
        _two(param, "kernel_size", "kernel_h", "kernel_w", None),
        _two(param, "stride", "stride_h", "stride_w", 1),
        _two(param, "pad", "pad_h", "pad_w", 0),
        _pair(param.dilation, "dilation", 1),
    )


def _two(
    param: Any, name: str, vertical: str, horizontal: str, default: int | None
) -> tuple[int, int]:
    """A parameter that is given once, for each dimension, or under two other names."""
    apart = [name for name in (vertical, horizontal) if param.HasField(name)]
    if not apart:
        return _pair(getattr(param, name), name, default)
    if getattr(param, name):
        raise UnsupportedNodeError(f"both {name} and {' and '.join(apart)} are given")
    if len(apart) == 1 and default is None:
        raise UnsupportedNodeError(f"{apart[0]} is given without the other one")
    return tuple(  # type: ignore[return-value]
        getattr(param, name) if param.HasField(name) else default
        for name in (vertical, horizontal)
    )


def _pair(values: Sequence[int], name: str, default: int | None) -> tuple[int, int]:
    if not values:
        if default is None:
            raise UnsupportedNodeError(f"{name} is missing")
        return default, default
    if len(values) > 2:
        raise UnsupportedNodeError(f"{name} has {len(values)} values; 1 or 2 are valid")
    return values[0], values[-1]
