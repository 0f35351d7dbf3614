# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes, borders and sizes of images."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.convolution import channels_last
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import product


@HANDLERS.register("Flatten")
def flatten(context: Context) -> None:
    """All axes but that of the batch become one."""
    channels_last(context.layer)
    x = context.input()
    dims = context.shape(x)
    count = product(dims[1:])
    if isinstance(dims[0], int):
        shape = [dims[0], -1 if count is None else count]
    elif count is not None:
        shape = [-1, count]
    else:
        shape = [0, -1]
    context.emit("Reshape", [x], shape=shape)
    context.gives_mask = False


@HANDLERS.register("Reshape")
def reshape(context: Context) -> None:
    """All axes but that of the batch get other lengths."""
    x = context.input()
    wanted = context.layer.axes("target_shape")
    dims = context.shape(x)
    count = product(dims[1:])
    if -1 in wanted and count is not None:
        known = product(dim for dim in wanted if dim != -1)
        if wanted.count(-1) > 1 or not known or count % known:
            raise UnsupportedNodeError(f"{count} elements as {wanted}")
        wanted = [count // known if dim == -1 else dim for dim in wanted]
    open_batch = 0 if -1 in wanted else -1
    batch = dims[0] if isinstance(dims[0], int) else open_batch
    context.emit("Reshape", [x], shape=[batch, *wanted])


@HANDLERS.register("Permute")
def permute(context: Context) -> None:
    """Axes in another order, counted from 1."""
    x, dims = context.input(), context.layer.axes("dims")
    if sorted([0, *dims]) != list(range(context.rank(x))):
        raise UnsupportedNodeError(f"dims {dims} of {context.rank(x)} dimensions")
    context.emit("Transpose", [x], perm=[0, *dims])


@HANDLERS.register("RepeatVector")
def repeat_vector(context: Context) -> None:
    """A new axis of copies."""
    x, count = context.input(), context.layer.integer("n")
    if not 1 <= count <= 100_000:
        raise UnsupportedNodeError(f"{count} copies")
    row = context.step("ExpandDims", [x], "row", axes=[1])
    context.emit("Concat", [row] * count, axis=1)


def _borders(layer: Layer, key: str, dims: int) -> list[tuple[int, int]]:
    """Before and after, for each axis."""
    value = layer.config.get(key, 1)
    if dims == 1 and isinstance(value, list):
        value = [value]
    values = value if isinstance(value, list) else [value] * dims
    pairs = [tuple(v) if isinstance(v, list) else (v, v) for v in values]
    good = len(pairs) == dims and all(
        len(pair) == 2 and all(isinstance(v, int) and v >= 0 for v in pair)
        for pair in pairs
    )
    if not good:
        raise UnsupportedNodeError(f"{key} is {value!r}")
    return [(before, after) for before, after in pairs]


@HANDLERS.register("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(context: Context) -> None:
    """Zeros around images."""
    layer, x = context.layer, context.input()
    channels_last(layer)
    dims = int(layer.kind[-2])
    pads = [0, 0]
    for pair in _borders(layer, "padding", dims):
        pads += pair
    context.emit("Pad", [x], pads=[*pads, 0, 0])


@HANDLERS.register("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(context: Context) -> None:
    """Without borders."""
    layer, x = context.layer, context.input()
    channels_last(layer)
    dims = int(layer.kind[-2])
    pairs = _borders(layer, "cropping", dims)
    _slice(context, x, list(range(1, dims + 1)), pairs)


def _slice(
    context: Context, x: Value, axes: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> None:
    shape = context.shape(x)
    for axis, pair in zip(axes, pairs):
        size = shape[axis] if axis < len(shape) else 0
        if isinstance(size, int) and sum(pair) >= size:
            raise UnsupportedNodeError(f"nothing is left of {size} elements")
    context.emit(
        "StridedSlice",
        [x],
        axes=list(axes),
        begins=[before for before, _ in pairs],
        ends=[-after if after else 2**31 - 1 for _, after in pairs],
        strides=[1] * len(axes),
    )


@HANDLERS.register("UpSampling2D")
def up_sampling(context: Context) -> None:
    """Larger images."""
    layer, x = context.layer, context.input()
    channels_last(layer)
    if context.rank(x) != 4:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    scales = layer.integers("size", 2, 2)
    mode = layer.text("interpolation", "nearest")
    _check_scales(scales)
    if mode == "nearest":
        context.give(_repeated(context, x, scales))
        return
    x = context.as_floats(x)
    height, width = context.shape(x)[1:3]
    if not isinstance(height, int) or not isinstance(width, int):
        raise UnsupportedNodeError(
            f"height and width of {x.name} are not known", "give fixed input_shapes"
        )
    size = [height * scales[0], width * scales[1]]
    context.give(resized(context, x, size, mode))


def _check_scales(scales: Sequence[int]) -> None:
    if not all(1 <= scale <= 65535 for scale in scales):
        raise UnsupportedNodeError(f"size is {list(scales)}")


def _repeated(context: Context, x: Value, scales: Sequence[int]) -> Value:
    return context.step(
        "Resize",
        [x],
        "repeated",
        mode="NEAREST",
        scales=[float(scale) for scale in scales],
        coordinates="ASYMMETRIC",
        rounding="FLOOR",
    )


@HANDLERS.register("UpSampling1D")
def up_sampling_1d(context: Context) -> None:
    """Each step several times."""
    scale = context.layer.integer("size", 2)
    _check_scales([scale])
    x = context.as_floats(context.input())
    image = context.step("ExpandDims", [x], "image", axes=[2])
    tall = _repeated(context, image, [scale, 1])
    context.emit("Squeeze", [tall], axes=[2])


@HANDLERS.register("UpSampling3D")
def up_sampling_3d(context: Context) -> None:
    """Each element of a volume several times."""
    channels_last(context.layer)
    x = context.as_floats(context.input())
    scales = context.layer.integers("size", 3, 2)
    _check_scales(scales)
    batch, depth, height, width, channels = context.dims(x)
    if -1 in (depth, height, width, channels):
        raise UnsupportedNodeError(
            f"the shape of {x.name} is not known", "give fixed input_shapes"
        )
    images = context.step("Reshape", [x], "images", shape=[-1, height, width, channels])
    images = _repeated(context, images, scales[1:])
    height, width = height * scales[1], width * scales[2]
    rows = context.step(
        "Reshape", [images], "rows", shape=[-1, depth, height * width, channels]
    )
    rows = _repeated(context, rows, [scales[0], 1])
    shape = [batch, depth * scales[0], height, width, channels]
    context.emit("Reshape", [rows], shape=shape)


def resized(context: Context, x: Value, size: Sequence[int], mode: str) -> Value:
    """Images of another size, as TensorFlow makes them."""
    attrs: dict[str, object] = {"coordinates": "HALF_PIXEL", "size": list(size)}
    if mode == "nearest":
        attrs |= {"mode": "NEAREST", "coordinates": "HALF_PIXEL_FLOOR"}
        attrs["rounding"] = "FLOOR"
    elif mode == "bilinear":
        attrs["mode"] = "LINEAR"
    elif mode == "bicubic":
        attrs |= {"mode": "CUBIC", "cubic_coefficient": -0.5, "exclude_outside": True}
    else:
        raise UnsupportedNodeError(f"interpolation is {mode!r}")
    return context.step("Resize", [x], "resized", **attrs)


@HANDLERS.register("Resizing")
def resizing(context: Context) -> None:
    """Images of a fixed size."""
    layer, x = context.layer, context.floats()
    channels_last(layer)
    for flag in ("crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"):
        if layer.flag(flag):
            raise UnsupportedNodeError(f"{flag} is set")
    size = [layer.integer("height"), layer.integer("width")]
    if context.rank(x) != 4:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions")
    context.give(resized(context, x, size, layer.text("interpolation", "bilinear")))


@HANDLERS.register("CenterCrop")
def center_crop(context: Context) -> None:
    """The middle of images that are large enough."""
    layer, x = context.layer, context.input()
    channels_last(layer)
    rank = context.rank(x)
    wanted = [layer.integer("height"), layer.integer("width")]
    own = context.shape(x)[rank - 3 : rank - 1]
    pairs = []
    for size, have in zip(wanted, own):
        if not isinstance(have, int) or have < size:
            raise UnsupportedNodeError(f"{size} of {have} pixels")
        before = int((have - size) / 2)
        pairs.append((before, have - size - before))
    _slice(context, context.as_floats(x), [rank - 3, rank - 2], pairs)
