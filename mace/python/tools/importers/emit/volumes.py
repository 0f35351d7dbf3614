# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes, [N, D, H, W, C], by operators on images.

A convolution over the depth is one over channels: the slices of the input that a slice
of the output reads become the channels of one image. It costs a copy of the input for
each place of the filter along the depth, and multiplies at the speed of images. A
window of pooling is a window over height and width, then one over the depth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.emit.lengths import Lengths, Make
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END

DEPTH = 0  # the position in a list of sizes
# A dimension of another shape: the product of the lengths of these axes.
_Lengths = Sequence["tuple[Value, int]"]


@dataclass(frozen=True)
class Axis:
    """A window along one axis.

    Attributes:
        before, after: padding; of a transposed convolution, outputs dropped.
        added: outputs that a transposed convolution adds at the end.
    """

    kernel: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0
    added: int = 0

    @property
    def extent(self) -> int:
        """Elements from the first to the last of the window."""
        return (self.kernel - 1) * self.dilation + 1

    def padded_same(self, length: int, upper: bool) -> Axis:
        """With the padding for which outputs are inputs divided by the stride."""
        outputs = -(-length // self.stride)
        total = max((outputs - 1) * self.stride + self.extent - length, 0)
        before = total // 2 if upper else total - total // 2
        return Axis(self.kernel, self.stride, self.dilation, before, total - before)


def sizes_of(x: Value) -> tuple[int, int, int, int]:
    """Depth, height, width and channels of a volume; all must be known."""
    sizes = [dim for dim in _shape(x)[1:] if isinstance(dim, int)]
    if len(sizes) != 4:
        raise UnsupportedNodeError(
            f"depth, height and width of {x.name} are not known before the run",
            "give fixed input_shapes",
        )
    return sizes[0], sizes[1], sizes[2], sizes[3]


def channels_of(x: Value) -> int:
    """Channels of a volume, whose other dimensions may be open."""
    channels = _shape(x)[4]
    if not isinstance(channels, int):
        raise UnsupportedNodeError(f"the channels of {x.name} are not known")
    return channels


def _shape(x: Value) -> tuple[Dim, ...]:
    if x.shape is None or len(x.shape) != 5:
        raise UnsupportedNodeError(f"{x.name} is no volume of known dimensions")
    return x.shape


def convolved(
    make: Make,
    x: Value,
    filters: Value,
    bias: Value | None,
    window: Sequence[Axis],
    groups: int,
) -> Value:
    """A convolution.

    Args:
        make: for operators.
        x: [N, D, H, W, C]
        filters: as of `image_filter`.
        bias: [O] or nothing.
        window: of depth, height and width.
        groups: of channels.
    """
    depth = _shape(x)[1]
    along, down, across = window
    if isinstance(depth, int) and depth + along.before + along.after < along.extent:
        raise UnsupportedNodeError(
            f"a depth of {depth} is too small for a filter of {along.extent}"
        )
    x = _padded(make, x, along.before, along.after)
    starts = [k * along.dilation for k in range(along.kernel)]
    slices = _joined(make, x, starts, max(starts), along.stride, groups)
    images = _images(make, slices)
    attrs = {
        "strides": [down.stride, across.stride],
        "dilations": [down.dilation, across.dilation],
        "padding": "EXPLICIT",
        "pads": [down.before, across.before, down.after, across.after],
        "groups": groups,
    }
    inputs = [images, filters] if bias is None else [images, filters, bias]
    return _volumes(make, make("Conv2D", inputs, attrs), slices)


def convolved_back(
    make: Make,
    x: Value,
    filters: Value,
    bias: Value | None,
    window: Sequence[Axis],
    groups: int,
) -> Value:
    """A transposed convolution; see `convolved`."""
    depth = _shape(x)[1]
    along, down, across = window
    # Outputs beyond those of `stride` for each slice of the input.
    more = along.extent - along.stride - along.before - along.after + along.added
    if isinstance(depth, int) and depth * along.stride + more < 1:
        raise UnsupportedNodeError(
            f"the output would have a depth of {depth * along.stride + more}"
        )
    if along.stride > 1:
        # Slices of 0 between those of the input.
        wide = make("ExpandDims", [x], {"axes": [2]})
        line: list[_Lengths] = [[(wide, axis)] for axis in range(3)]
        line.append([(wide, 3), (wide, 4), (wide, 5)])
        gaps = [0, 0, 0, 0, 0, along.stride - 1, 0, 0]
        apart = make("Pad", [reshaped(make, wide, line)], {"pads": gaps})
        slices: _Lengths = [(apart, 1), (apart, 2)]
        x = reshaped(
            make, apart, [[(x, 0)], slices, *([(x, axis)] for axis in (2, 3, 4))]
        )
    # Place k of the filter reads slice i + before - k * dilation for output i.
    first = max(along.extent - 1 - along.before, 0)
    starts = [first + along.before - k * along.dilation for k in range(along.kernel)]
    missing = max(max(starts) + more - first, 0)
    x = _padded(make, x, first, missing)
    last = first + missing - more
    volumes = _joined(make, x, starts, last, 1, groups)
    images = _images(make, volumes)
    attrs = {
        "strides": [down.stride, across.stride],
        "dilations": [down.dilation, across.dilation],
        "pads": [down.before, across.before, down.after, across.after],
        "output_padding": [down.added, across.added],
        "groups": groups,
    }
    inputs = [images, filters] if bias is None else [images, filters, bias]
    return _volumes(make, make("Deconv2D", inputs, attrs), volumes)


def are_apart(window: Sequence[Axis], groups: int) -> bool:
    """Whether each slice of the output of a transposed convolution comes of one slice
    of the input: `convolved_apart` computes it.
    """
    along = window[DEPTH]
    unchanged = along.dilation == 1 and not (along.before or along.after or along.added)
    return groups == 1 and unchanged and along.kernel == along.stride


def convolved_apart(
    make: Make, x: Value, filters: Value, bias: Value | None, window: Sequence[Axis]
) -> Value:
    """A transposed convolution whose outputs along the depth are channels first.

    Args:
        make, x, window: as of `convolved`.
        filters: as of `apart_filter`.
        bias: of each filter, or nothing.
    """
    along, down, across = window
    images = _images(make, x)
    attrs = {
        "strides": [down.stride, across.stride],
        "dilations": [down.dilation, across.dilation],
        "pads": [down.before, across.before, down.after, across.after],
        "output_padding": [down.added, across.added],
        "groups": 1,
    }
    inputs = [images, filters] if bias is None else [images, filters, bias]
    images = make("Deconv2D", inputs, attrs)
    outputs = _length(images, 3)
    parts = [0, 0, 0, along.kernel, outputs // along.kernel]
    slices = make("Reshape", [images], {"shape": parts})
    slices = make("Transpose", [slices], {"perm": [0, 3, 1, 2, 4]})
    rest: list[_Lengths] = [[(slices, axis)] for axis in (2, 3, 4)]
    return reshaped(make, slices, [[(x, 0)], [(x, 1), (slices, 1)], *rest])


def apart_filter(constant: Constant) -> Constant:
    """[O, C, KD, KH, KW] as a filter of `convolved_apart`: all O of the first slice,
    then those of the next.
    """
    out, channels, depth, height, width = constant.shape
    shape = (depth * out, height, width, channels)
    return constant.moved(lambda a: a.transpose(2, 0, 3, 4, 1).reshape(shape), shape)


def image_filter(constant: Constant) -> Constant:
    """[O, C / groups, KD, KH, KW] as a filter of the images that `_joined` makes."""
    out, channels, depth, height, width = constant.shape
    shape = (out, height, width, depth * channels)
    return constant.moved(lambda a: a.transpose(0, 3, 4, 2, 1).reshape(shape), shape)


def pooled(
    make: Make, x: Value, mode: str, window: Sequence[Axis], attrs: Mapping[str, Any]
) -> Value:
    """The largest elements or means of windows; `attrs`: of the operator Pooling."""
    along, down, across = window
    images = make(
        "Pooling", [_images(make, x)], {**_pool_attrs(mode, down, across), **attrs}
    )
    pixels: _Lengths = [(images, 1), (images, 2)]
    lines = reshaped(make, images, [[(x, 0)], [(x, 1)], pixels, [(images, 3)]])
    lines = make("Pooling", [lines], {**_pool_attrs(mode, along, Axis(1)), **attrs})
    rest: list[_Lengths] = [[(images, axis)] for axis in (1, 2, 3)]
    return reshaped(make, lines, [[(x, 0)], [(lines, 1)], *rest])


def pooled_in_order(
    make: Make,
    x: Value,
    mode: str,
    window: Sequence[Axis],
    attrs: Mapping[str, Any],
    cpu_floats: bool,
) -> Value:
    """The same of [N, C, D, H, W].

    Args:
        make, x, mode, window, attrs: as of `pooled`.
        cpu_floats: as of `Graph`: only then there is an operator for it.
    """
    if cpu_floats:
        lists = {
            "kernels": [axis.kernel for axis in window],
            "strides": [axis.stride for axis in window],
            "dilations": [axis.dilation for axis in window],
            "pads": [*(a.before for a in window), *(a.after for a in window)],
        }
        return make("VolumePooling", [x], {"mode": mode, **lists, **attrs})
    return _pooled_as_images(make, x, mode, window, attrs)


def _pooled_as_images(
    make: Make, x: Value, mode: str, window: Sequence[Axis], attrs: Mapping[str, Any]
) -> Value:
    """A window over depth and height, for which the width takes the place of the
    channels, then one over the width. Only the results of the first one are transposed,
    which are often much smaller than the input.
    """
    sizes = list(sizes_of(x))
    images = make("Reshape", [x], {"shape": [-1, *sizes[1:]]})
    images = make("Pooling", [images], {**_pool_attrs(mode, *window[:2]), **attrs})
    sizes[1:3] = _length(images, 1), _length(images, 2)
    rows = make("Reshape", [images], {"shape": [-1, sizes[3]]})
    columns = make("Transpose", [rows], {"perm": [1, 0]})
    columns = make("Reshape", [columns], {"shape": [1, sizes[3], 1, -1]})
    pooling = {**_pool_attrs(mode, window[2], Axis(1)), **attrs}
    columns = make("Pooling", [columns], pooling)
    sizes[3] = _length(columns, 1)
    columns = make("Reshape", [columns], {"shape": [sizes[3], -1]})
    rows = make("Transpose", [columns], {"perm": [1, 0]})
    return make("Reshape", [rows], {"shape": [-1, *sizes]})


def _length(value: Value, axis: int) -> int:
    length = (value.shape or (None,) * (axis + 1))[axis]
    assert isinstance(length, int)
    return length


def _pool_attrs(mode: str, down: Axis, across: Axis) -> dict[str, Any]:
    return {
        "mode": mode,
        "kernels": [down.kernel, across.kernel],
        "strides": [down.stride, across.stride],
        "dilations": [down.dilation, across.dilation],
        "padding": "EXPLICIT",
        "pads": [down.before, across.before, down.after, across.after],
    }


def _padded(make: Make, x: Value, before: int, after: int) -> Value:
    if not before and not after:
        return x
    pads = [0, 0, before, after, 0, 0, 0, 0, 0, 0]
    return make("Pad", [x], {"pads": pads})


def _joined(
    make: Make, x: Value, starts: Sequence[int], last: int, stride: int, groups: int
) -> Value:
    """[N, slices, H, W, len(starts) * C]: for each start, every stride-th slice from
    there on, as many as there are behind `last` from its start; the channels of each
    group are together.
    """
    channels = channels_of(x)
    if channels % groups:
        raise UnsupportedNodeError(f"{channels} channels in {groups} groups")
    slices = []
    for start in starts:
        end = start - last if start < last else END
        part = make(
            "StridedSlice",
            [x],
            {"axes": [1], "begins": [start], "ends": [end], "strides": [stride]},
        )
        if groups > 1 and len(starts) > 1:
            shape = [0, 0, 0, 0, groups, channels // groups]
            part = make("Reshape", [part], {"shape": shape})
        slices.append(part)
    if len(slices) == 1:
        return slices[0]
    if groups == 1:
        return make("Concat", slices, {"axis": 4})
    joined = make("Concat", slices, {"axis": 5})
    return make("Reshape", [joined], {"shape": [0, 0, 0, 0, len(starts) * channels]})


def _images(make: Make, x: Value) -> Value:
    """The slices of volumes, one after the other."""
    rest: list[_Lengths] = [[(x, axis)] for axis in (2, 3, 4)]
    return reshaped(make, x, [[(x, 0), (x, 1)], *rest])


def _volumes(make: Make, images: Value, like: Value) -> Value:
    """Volumes of as many slices as others, of images one after the other."""
    rest: list[_Lengths] = [[(images, axis)] for axis in (1, 2, 3)]
    return reshaped(make, images, [[(like, 0)], [(like, 1)], *rest])


def reshaped(make: Make, x: Value, lengths: Sequence[_Lengths]) -> Value:
    """A value in another shape. What is open is computed, unless it is what is left."""

    def known(product: _Lengths) -> int:
        dims = [(value.shape or (None,) * (axis + 1))[axis] for value, axis in product]
        fixed = [dim for dim in dims if isinstance(dim, int)]
        return math.prod(fixed) if len(fixed) == len(dims) else -1

    shape = [known(product) for product in lengths]
    if min(shape) > 0:
        shape[0] = -1  # as many as a run has
    if shape.count(-1) <= 1:
        return make("Reshape", [x], {"shape": shape})
    of = Lengths(make)
    parts = [of.product([of.of_axis(*axis) for axis in product]) for product in lengths]
    return make("Reshape", [x, of.listed(parts)], {})
