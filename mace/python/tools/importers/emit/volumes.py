# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes, [N, D, H, W, C], by operators on images.

A convolution over the depth is one over channels: the slices of the input that a slice
of the output reads become the channels of one image. It costs a copy of the input for
each place of the filter along the depth, and multiplies at the speed of images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import known_dims
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import windows
from mace.python.tools.ir.op_rules.base import Make
from mace.python.tools.ir.op_rules.volumes import Product, images_of, reshaped
from mace.python.tools.ir.shapes import END

DEPTH = 0  # the position in a list of sizes


@dataclass(frozen=True)
class Axis(windows.Axis):
    """A window along one axis.

    Attributes:
        before, after: padding; of a transposed convolution, outputs dropped.
        added: outputs that a transposed convolution adds at the end.
    """

    added: int = 0

    def padded_same(self, length: int, upper: bool) -> Axis:
        """With the padding for which outputs are inputs divided by the stride."""
        outputs = -(-length // self.stride)
        total = max((outputs - 1) * self.stride + self.extent - length, 0)
        before = total // 2 if upper else total - total // 2
        return Axis(self.kernel, self.stride, self.dilation, before, total - before)


def sizes_of(x: Value) -> tuple[int, int, int, int]:
    """Depth, height, width and channels of a volume; all must be known."""
    what = f"depth, height and width of {x.name} are"
    depth, height, width, channels = known_dims(_shape(x)[1:], what)
    return depth, height, width, channels


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
    channels = _channels(x, filters, along, groups)
    slices = _joined(make, x, starts, max(starts), along.stride, channels, groups)
    images = images_of(make, slices)
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
        line: list[Product] = [[(wide, axis)] for axis in range(3)]
        line.append([(wide, 3), (wide, 4), (wide, 5)])
        gaps = [0, 0, 0, 0, 0, along.stride - 1, 0, 0]
        apart = make("Pad", [reshaped(make, wide, line)], {"pads": gaps})
        slices: Product = [(apart, 1), (apart, 2)]
        x = reshaped(
            make, apart, [[(x, 0)], slices, *([(x, axis)] for axis in (2, 3, 4))]
        )
    # Place k of the filter reads slice i + before - k * dilation for output i.
    first = max(along.extent - 1 - along.before, 0)
    starts = [first + along.before - k * along.dilation for k in range(along.kernel)]
    missing = max(max(starts) + more - first, 0)
    x = _padded(make, x, first, missing)
    last = first + missing - more
    channels = _channels(x, filters, along, groups)
    volumes = _joined(make, x, starts, last, 1, channels, groups)
    images = images_of(make, volumes)
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
    images = images_of(make, x)
    attrs = {
        "strides": [down.stride, across.stride],
        "dilations": [down.dilation, across.dilation],
        "pads": [down.before, across.before, down.after, across.after],
        "output_padding": [down.added, across.added],
        "groups": 1,
    }
    inputs = [images, filters] if bias is None else [images, filters, bias]
    images = make("Deconv2D", inputs, attrs)
    outputs = (images.shape or (None,) * 4)[3]
    assert isinstance(outputs, int)
    parts = [0, 0, 0, along.kernel, outputs // along.kernel]
    slices = make("Reshape", [images], {"shape": parts})
    slices = make("Transpose", [slices], {"perm": [0, 3, 1, 2, 4]})
    rest: list[Product] = [[(slices, axis)] for axis in (2, 3, 4)]
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


def _padded(make: Make, x: Value, before: int, after: int) -> Value:
    if not before and not after:
        return x
    pads = [0, 0, before, after, 0, 0, 0, 0, 0, 0]
    return make("Pad", [x], {"pads": pads})


def _channels(x: Value, filters: Value, along: Axis, groups: int) -> int:
    """Channels of a volume that fit a filter of `image_filter`."""
    own = _shape(x)[4]
    shape = filters.shape
    assert shape is not None and isinstance(shape[3], int)
    channels = own if isinstance(own, int) else shape[3] // along.kernel * groups
    if channels % groups:
        raise UnsupportedNodeError(f"{channels} channels in {groups} groups")
    return channels


def _joined(
    make: Make,
    x: Value,
    starts: Sequence[int],
    last: int,
    stride: int,
    channels: int,
    groups: int,
) -> Value:
    """[N, slices, H, W, len(starts) * C]: for each start, every stride-th slice from
    there on, as many as there are behind `last` from its start; the channels of each
    group are together.
    """
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


def _volumes(make: Make, images: Value, like: Value) -> Value:
    """Volumes of as many slices as others, of images one after the other."""
    rest: list[Product] = [[(images, axis)] for axis in (1, 2, 3)]
    return reshaped(make, images, [[(like, 0)], [(like, 1)], *rest])
