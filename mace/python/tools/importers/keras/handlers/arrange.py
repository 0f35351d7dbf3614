# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes, borders and sizes of images; joined tensors; layers without effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.network import Layer
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import product


@HANDLERS.register("Flatten")
def flatten(context: Context) -> None:
    """All axes but that of the batch become one."""
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


def _borders(layer: Layer, key: str) -> list[tuple[int, int]]:
    """Before and after, for each axis."""
    dims, value = int(layer.kind[-2]), layer.config.get(key, 1)
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
    pairs = [(0, 0), *_borders(context.layer, "padding"), (0, 0)]
    context.emit("Pad", [context.input()], pads=[pad for pair in pairs for pad in pair])


@HANDLERS.register("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(context: Context) -> None:
    """Without borders."""
    _crop(context, context.input(), 1, _borders(context.layer, "cropping"))


def _crop(
    context: Context, x: Value, first: int, pairs: Sequence[tuple[int, int]]
) -> None:
    """Removes elements at both ends of each axis from the `first` one on."""
    shape = context.shape(x)
    axes = list(range(first, first + len(pairs)))
    for axis, pair in zip(axes, pairs):
        size = shape[axis] if axis < len(shape) else 0
        if isinstance(size, int) and sum(pair) >= size:
            raise UnsupportedNodeError(f"nothing is left of {size} elements")
    context.emit(
        "StridedSlice",
        [x],
        axes=axes,
        begins=[before for before, _ in pairs],
        ends=[-after if after else 2**31 - 1 for _, after in pairs],
        strides=[1] * len(axes),
    )


@HANDLERS.register("CenterCrop")
def center_crop(context: Context) -> None:
    """The middle of images that are large enough."""
    layer, x = context.layer, context.input()
    first = context.rank(x) - 3
    pairs = []
    for key, have in zip(("height", "width"), context.shape(x)[first:]):
        size = layer.integer(key)
        if not isinstance(have, int) or have < size:
            raise UnsupportedNodeError(f"{size} of {have} pixels")
        before = int((have - size) / 2)
        pairs.append((before, have - size - before))
    _crop(context, context.as_floats(x), first, pairs)


@HANDLERS.register("UpSampling2D")
def up_sampling(context: Context) -> None:
    """Larger images."""
    layer, x = context.layer, context.input()
    context.check_rank(x, 4)
    scales = _scales(layer, 2)
    mode = layer.text("interpolation", "nearest")
    if mode == "nearest":
        context.give(_repeated(context, x, scales))
        return
    x = context.as_floats(x)
    what = f"height and width of {x.name} are"
    height, width = context.known_dims(context.shape(x)[1:3], what)
    size = [height * scales[0], width * scales[1]]
    context.give(_resized(context, x, size, mode))


def _scales(layer: Layer, dims: int) -> list[int]:
    scales = layer.integers("size", dims, 2)
    if not all(1 <= scale <= 65535 for scale in scales):
        raise UnsupportedNodeError(f"size is {scales}")
    return scales


def _repeated(context: Context, x: Value, scales: Sequence[int]) -> Value:
    attrs = {"mode": "NEAREST", "coordinates": "ASYMMETRIC", "rounding": "FLOOR"}
    return context.step(
        "Resize", [x], "repeated", **attrs, scales=[*map(float, scales)]
    )


@HANDLERS.register("UpSampling1D")
def up_sampling_1d(context: Context) -> None:
    """Each step several times."""
    (scale,) = _scales(context.layer, 1)
    image = context.step("ExpandDims", [context.floats()], "image", axes=[2])
    context.emit("Squeeze", [_repeated(context, image, [scale, 1])], axes=[2])


@HANDLERS.register("UpSampling3D")
def up_sampling_3d(context: Context) -> None:
    """Each element of a volume several times."""
    x, scales = context.floats(), _scales(context.layer, 3)
    batch, inner = context.batch(x), context.shape(x)[1:]
    what = f"the shape of {x.name} is"
    depth, height, width, channels = context.known_dims(inner, what)
    images = context.step("Reshape", [x], "images", shape=[-1, height, width, channels])
    images = _repeated(context, images, scales[1:])
    height, width = height * scales[1], width * scales[2]
    shape = [-1, depth, height * width, channels]
    rows = context.step("Reshape", [images], "rows", shape=shape)
    rows = _repeated(context, rows, [scales[0], 1])
    shape = [batch, depth * scales[0], height, width, channels]
    context.emit("Reshape", [rows], shape=shape)


# As TensorFlow makes images of another size.
_RESIZES: dict[str, dict[str, Any]] = {
    "nearest": {
        "mode": "NEAREST",
        "coordinates": "HALF_PIXEL_FLOOR",
        "rounding": "FLOOR",
    },
    "bilinear": {"mode": "LINEAR", "coordinates": "HALF_PIXEL"},
    "bicubic": {
        "mode": "CUBIC",
        "coordinates": "HALF_PIXEL",
        "cubic_coefficient": -0.5,
        "exclude_outside": True,
    },
}


def _resized(context: Context, x: Value, size: Sequence[int], mode: str) -> Value:
    if mode not in _RESIZES:
        raise UnsupportedNodeError(f"interpolation is {mode!r}")
    return context.step("Resize", [x], "resized", **_RESIZES[mode], size=list(size))


@HANDLERS.register("Resizing")
def resizing(context: Context) -> None:
    """Images of a fixed size."""
    layer, x = context.layer, context.floats()
    for flag in ("crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"):
        if layer.flag(flag):
            raise UnsupportedNodeError(f"{flag} is set")
    size = [layer.integer("height"), layer.integer("width")]
    context.check_rank(x, 4)
    context.give(_resized(context, x, size, layer.text("interpolation", "bilinear")))


# Layers that join tensors -------------------------------------------------------------

_MODES = {
    "Add": "ADD",
    "Subtract": "SUB",
    "Multiply": "MUL",
    "Maximum": "MAX",
    "Minimum": "MIN",
    "Average": "ADD",
}


@HANDLERS.register(*_MODES)
def merge(context: Context) -> None:
    """Arithmetic on any number of tensors."""
    kind, values = context.layer.kind, context.inputs
    if len(values) < 2:
        raise UnsupportedNodeError(f"{len(values)} inputs")
    total, *others = [context.as_floats(value) for value in values]
    ranks = {context.rank(value) for value in (total, *others)}
    if len(ranks) > 1:
        raise UnsupportedNodeError(f"inputs of {sorted(ranks)} dimensions")
    for value in others:
        total = context.eltwise(_MODES[kind], total, value)
    if kind == "Average":
        total = context.eltwise("MUL", total, 1 / len(values))
    context.give(total)


@HANDLERS.register("Concatenate")
def concatenate(context: Context) -> None:
    """Along one axis."""
    values = context.inputs
    if not values:
        raise UnsupportedNodeError("no inputs")
    axis = context.axis(context.layer.integer("axis", -1), values[0])
    context.emit("Concat", values, axis=axis)


@HANDLERS.register("Dot")
def dot(context: Context) -> None:
    """Products along one axis of each input, or cosines."""
    a, b = context.floats(0), context.floats(1)
    axes = context.layer.axes("axes")
    axes = axes * 2 if len(axes) == 1 else axes
    if len(axes) != 2:
        raise UnsupportedNodeError(f"the axes {axes}")
    axis_a, axis_b = context.axis(axes[0], a), context.axis(axes[1], b)
    if context.layer.flag("normalize"):
        a, b = unit(context, a, [axis_a]), unit(context, b, [axis_b])
    ranks = context.rank(a), context.rank(b)
    if not set(ranks) <= {2, 3} or 0 in (axis_a, axis_b):
        raise UnsupportedNodeError(f"inputs of {ranks} dimensions, axes {axes}")
    is_row = [rank == 2 for rank in ranks]
    if is_row[0]:
        a, axis_a = context.step("ExpandDims", [a], "a_row", axes=[1]), 2
    if is_row[1]:
        b, axis_b = context.step("ExpandDims", [b], "b_row", axes=[1]), 2
    y = context.step(
        "MatMul", [a, b], "product", transpose_a=axis_a == 1, transpose_b=axis_b == 2
    )
    dropped = [axis for axis, row in zip((1, 2), is_row) if row]
    if len(dropped) == 2:
        dropped = [2]
    context.give(context.step("Squeeze", [y], "dot", axes=dropped) if dropped else y)


def unit(context: Context, x: Value, axes: Sequence[int]) -> Value:
    """x divided by its length, which as in Keras is at least a small number."""
    total = context.eltwise("MAX", context.reduce("SUM_SQUARE", x, axes), 1e-12)
    return context.eltwise("MUL", x, context.eltwise("RSQRT", total))


# Layers without effect ----------------------------------------------------------------


@HANDLERS.register(
    *("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
    *("AlphaDropout", "GaussianDropout", "GaussianNoise", "StochasticDepth"),
    *("ActivityRegularization", "Identity"),
    *("RandomBrightness", "RandomContrast", "RandomFlip", "RandomRotation"),
    *("RandomTranslation", "RandomZoom", "AugMix", "CutMix", "MixUp", "RandAugment"),
    *("RandomColorDegeneration", "RandomColorJitter", "RandomElasticTransform"),
    *("RandomErasing", "RandomGaussianBlur", "RandomGrayscale", "RandomHue"),
    *("RandomInvert", "RandomPerspective", "RandomPosterization", "RandomSaturation"),
    *("RandomSharpness", "RandomShear"),
)
def nothing(context: Context) -> None:
    """Only in training."""
    context.refuse_training()
    context.give(context.input())


@HANDLERS.register("Lambda")
def code(context: Context) -> None:
    """Python code in the file, which is never run."""
    del context
    raise UnsupportedNodeError(
        "a Lambda layer is Python code",
        "write it with layers of Keras, or model.export(FOLDER) and say platform: "
        "tensorflow",
    )
