# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Resizing and sampling of images.

MACE resizes height and width; the length of other dimensions must not change.
GridSample reads images at computed positions, also for the region of
tf_crop_and_resize.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.emit.lengths import Length
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.standard.window import NCHW
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import reshaped
from mace.python.tools.ir.shapes import Shape, format_shape

# The operator set in which Resize got coordinates, and sizes instead of scales.
_WITH_COORDINATES = 11
_MODES = {"nearest": "NEAREST", "linear": "LINEAR", "cubic": "CUBIC"}
_UPSAMPLE_MODES = {**_MODES, "bilinear": "LINEAR"}
_COORDINATES = {
    "half_pixel": "HALF_PIXEL",
    "half_pixel_symmetric": "HALF_PIXEL_SYMMETRIC",
    "pytorch_half_pixel": "PYTORCH_HALF_PIXEL",
    "align_corners": "ALIGN_CORNERS",
    "asymmetric": "ASYMMETRIC",
    "tf_half_pixel_for_nn": "HALF_PIXEL_FLOOR",
}
_ROUNDING = {
    "round_prefer_floor": "PREFER_FLOOR",
    "round_prefer_ceil": "PREFER_CEIL",
    "floor": "FLOOR",
    "ceil": "CEIL",
}


@HANDLERS.register("Upsample")
def _upsample(node: Node) -> None:
    if node.opset < 7:
        # In operator set 1, height and width are attributes.
        scales = [1.0, 1.0, node.real("height_scale", 1), node.real("width_scale", 1)]
    elif node.opset < 9:
        scales = node.reals("scales")
    else:
        scales = [float(v) for v in node.constant(1, "scales").reshape(-1)]
    _old(node, scales, node.choice("mode", "nearest", _UPSAMPLE_MODES))


@HANDLERS.register("Resize")
def _resize(node: Node) -> None:
    if node.text("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        rank = len(node.shape(node.input(0)))
        given = node.integers("axes", list(range(rank)))
        crop_and_resize(node, [node.axis(a, rank) for a in given])
        return
    mode = node.choice("mode", "nearest", _MODES)
    if node.opset < _WITH_COORDINATES:
        scales = [float(v) for v in node.constant(1, "scales").reshape(-1)]
        _old(node, scales, mode)
        return
    attrs: dict[str, Any] = {
        "mode": mode,
        "coordinates": node.choice(
            "coordinate_transformation_mode", "half_pixel", _COORDINATES
        ),
    }
    if mode == "NEAREST":
        attrs["rounding"] = node.choice("nearest_mode", "round_prefer_floor", _ROUNDING)
    else:
        attrs["antialias"] = node.flag("antialias", False)
        attrs["exclude_outside"] = node.flag("exclude_outside", False)
    if mode == "CUBIC":
        attrs["cubic_coefficient"] = node.real("cubic_coeff_a", -0.75)
    rank = len(node.shape(node.input(0)))
    axes = [node.axis(a, rank) for a in node.integers("axes", list(range(rank)))]
    has_sizes = node.has_input(3)
    if has_sizes and node.input(3).is_constant:
        _by_sizes(node, axes, node.constant_ints(3, "sizes"), attrs)
    elif has_sizes:
        _by_computed_sizes(node, axes, node.input(3), attrs)
    else:
        scales = [float(v) for v in node.constant(2, "scales").reshape(-1)]
        _by_scales(node, axes, scales, attrs)


def _old(node: Node, scales: Sequence[float], mode: str) -> None:
    """Versions without coordinates; onnxruntime's behaviour defines them."""
    attrs: dict[str, Any] = {"mode": mode, "coordinates": "ASYMMETRIC"}
    if mode == "CUBIC":
        raise UnsupportedNodeError("mode 'cubic' before operator set 11")
    smaller = [scale < 1 for scale in scales if scale != 1]
    if mode == "NEAREST":
        if any(smaller) and not all(smaller):
            raise UnsupportedNodeError(
                f"scales {list(scales)} enlarge and reduce, which operator set "
                f"{node.opset} gives no meaning",
                "export with operator set 11 or newer",
            )
        attrs["rounding"] = "CEIL" if any(smaller) else "FLOOR"
    _by_scales(node, range(len(scales)), scales, attrs)


def _by_scales(
    node: Node, axes: Sequence[int], scales: Sequence[float], attrs: dict[str, Any]
) -> None:
    if len(scales) != len(axes):
        raise UnsupportedNodeError(f"{len(scales)} scales for {len(axes)} axes")
    _emit(node, {}, {a: float(np.float32(s)) for a, s in zip(axes, scales)}, attrs)


def _by_sizes(
    node: Node, axes: Sequence[int], sizes: Sequence[int], attrs: dict[str, Any]
) -> None:
    if len(sizes) != len(axes):
        raise UnsupportedNodeError(f"{len(sizes)} sizes for {len(axes)} axes")
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        _emit(node, dict(zip(axes, sizes)), {}, attrs)
        return
    dims = node.static_shape(node.input(0))
    if any(dims[a] == 0 for a in axes):
        raise UnsupportedNodeError(f"resizes a dimension of length 0 ({list(dims)})")
    ratios = [size / dims[a] for a, size in zip(axes, sizes)]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    # Halves are rounded up.
    kept = {a: int(np.floor(scale * dims[a] + 0.5)) for a in axes}
    _emit(node, kept, dict.fromkeys(axes, float(np.float32(scale))), attrs)


def _by_computed_sizes(
    node: Node, axes: Sequence[int], sizes: Value, attrs: dict[str, Any]
) -> None:
    """Sizes computed from the shapes of inputs, which are known in the run."""
    x = node.input(0)
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnsupportedNodeError(
            "keeps the aspect ratio in sizes computed at run time", STATIC_HINT
        )
    lengths = NodeLengths(node)
    if len(lengths.known(sizes)) != len(axes):
        raise UnsupportedNodeError(
            f"{len(lengths.known(sizes))} sizes for {len(axes)} axes"
        )
    wanted = {
        axis: lengths.element(sizes, place)
        for place, axis in enumerate(axes)
        if not _is_own(lengths, sizes, place, (x, axis))
    }
    shape = node.shape(x)
    if len(shape) == 5 and wanted.keys() <= {2, 3, 4}:
        _volume_by_lengths(node, wanted, attrs)
    elif len(shape) == 4 and wanted.keys() <= {2, 3}:
        size = lengths.listed([_length(lengths, wanted, x, a) for a in (2, 3)])
        node.emit("Resize", [x, size], {**NCHW, **attrs})
    elif len(shape) == 4 and wanted.keys() <= {1, 2}:
        size = lengths.listed([_length(lengths, wanted, x, a) for a in (1, 2)])
        node.emit("Resize", [x, size], attrs)
    elif len(shape) == 3 and wanted.keys() <= {2}:
        image = node.expand_dims(x, [2])
        size = lengths.listed([1, _length(lengths, wanted, x, 2)])
        image = node.make("Resize", [image, size], {**NCHW, **attrs})
        node.emit("Squeeze", [image], {"axes": [2]})
    else:
        raise UnsupportedNodeError(
            f"sizes ({sizes.name}) computed at run time resize the axes "
            f"{sorted(wanted)} of {format_shape(shape)}; height and width of an image, "
            "and the depth of a volume, are supported",
            STATIC_HINT,
        )


def _is_own(
    lengths: NodeLengths, sizes: Value, place: int, dimension: tuple[Value, int]
) -> bool:
    """Whether a size is plainly that of a dimension: by what is known of both, or as an
    element of Shape(x), perhaps cut and joined with others, as exporters write it.
    """
    x, axis = dimension
    own, wanted = (x.shape or ())[axis], lengths.known(sizes)[place]
    if own is not None and own == wanted:
        return True
    found, maker = place, sizes.producer
    while maker is not None:
        if maker.type == "Shape":
            return maker.input(0) is x and found == axis
        source = maker.input(0)
        if maker.type == "Concat":
            for part in maker.inputs:
                count = len(lengths.known(part)) if part is not None else 0
                if part is not None and found < count:
                    source = part
                    break
                found -= count
        elif maker.type == "StridedSlice":
            count = len(lengths.known(source))
            (begin,), (step,) = maker.attr("begins"), maker.attr("strides")
            found = (begin if begin >= 0 else begin + count) + found * step
        elif maker.type not in ("Cast", "Reshape"):
            return False
        maker = source.producer
    return False


def _length(
    lengths: NodeLengths, wanted: Mapping[int, Length], x: Value, axis: int
) -> Length:
    """The wanted length of an axis, or the one that it has."""
    return wanted[axis] if axis in wanted else lengths.of_axis(x, axis)


def _emit(
    node: Node,
    sizes: Mapping[int, int],
    scales: Mapping[int, float],
    attrs: dict[str, Any],
) -> None:
    """Emits the operator, with a size, a scale or both for each axis."""
    x = node.input(0)
    shape = node.shape(x)
    resized = {
        axis
        for axis, length in enumerate(shape)
        if sizes.get(axis, length) != length or scales.get(axis, 1) != 1
    }
    if not resized:
        node.set_output(0, x)
        return
    if len(shape) == 5 and resized <= {2, 3, 4}:
        _volume(node, sizes, scales, attrs)
        return
    line = len(shape) == 3 and resized == {2}
    first = len(shape) == 4 and resized <= {2, 3}
    if not (line or first or (len(shape) == 4 and resized <= {1, 2})):
        raise UnsupportedNodeError(
            f"resizes the axes {sorted(resized)} of {format_shape(shape)}; height "
            "and width of an image are supported"
        )
    if line:  # an image of height 1
        x = node.expand_dims(x, [2])
        shape = (*shape[:2], 1, shape[2])
        sizes = {3 if a == 2 else a: v for a, v in sizes.items()}
        scales = {3 if a == 2 else a: v for a, v in scales.items()}
    axes = (2, 3) if line or first else (1, 2)
    all_attrs = {**attrs, **(NCHW if axes == (2, 3) else {})}
    if sizes:
        all_attrs["size"] = [_size(node, sizes, shape, axis) for axis in axes]
    if scales:
        all_attrs["scales"] = [scales.get(axis, 1.0) for axis in axes]
    if not line:
        node.emit("Resize", [x], all_attrs)
        return
    node.emit("Squeeze", [node.make("Resize", [x], all_attrs)], {"axes": [2]})


def _volume(
    node: Node,
    sizes: Mapping[int, int],
    scales: Mapping[int, float],
    attrs: dict[str, Any],
) -> None:
    """A volume in a size that is known, or by factors."""

    def resized(x: Value, axes: tuple[int, int]) -> Value:
        both = dict(attrs)
        if sizes:
            own = {place: sizes[a] for place, a in enumerate(axes, 2) if a in sizes}
            both["size"] = [_size(node, own, node.shape(x), place) for place in (2, 3)]
        if scales:
            both["scales"] = [scales.get(axis, 1.0) for axis in axes]
        return node.make("Resize", [x], {**NCHW, **both})

    _by_slices_and_columns(node, resized)


def _volume_by_lengths(
    node: Node, wanted: Mapping[int, Length], attrs: dict[str, Any]
) -> None:
    """A volume in a size that each run computes."""
    lengths = NodeLengths(node)

    def resized(x: Value, axes: tuple[int, int]) -> Value:
        if not wanted.keys() & set(axes):
            return x
        own = {place: wanted[a] for place, a in enumerate(axes, 2) if a in wanted}
        size = lengths.listed([_length(lengths, own, x, a) for a in (2, 3)])
        return node.make("Resize", [x, size], {**NCHW, **attrs})

    _by_slices_and_columns(node, resized)


def _by_slices_and_columns(
    node: Node, resized: Callable[[Value, tuple[int, int]], Value]
) -> None:
    """Height and width of all slices, then the depth of all columns: the weights of an
    element are products of those along each axis.

    Args:
        resized: images [N, C, H, W] whose height and width are these axes of the
            volume in another size.
    """
    x = node.input(0)

    def turned(value: Value, *lengths: Sequence[tuple[Value, int]]) -> Value:
        return reshaped(node.make, value, lengths)

    outer = [(x, 0)], [(x, 1)]
    slices = turned(x, [(x, 0)], [(x, 1), (x, 2)], [(x, 3)], [(x, 4)])
    images = resized(slices, (3, 4))
    pixels = [(images, 2), (images, 3)]
    # Axis 5 is none: the columns stay.
    columns = resized(turned(images, *outer, [(x, 2)], pixels), (2, 5))
    rest = [(columns, 2)], [(images, 2)], [(images, 3)]
    node.set_output(0, turned(columns, *outer, *rest))


def _size(node: Node, sizes: Mapping[int, int], shape: Shape, axis: int) -> int:
    what = f"the shape of {node.input(0).name} is"
    return node.known_dims([sizes.get(axis, shape[axis])], what)[0]


# A region in another size, tf_crop_and_resize ----------------------------------------

_SPATIAL = (2, 3)


def crop_and_resize(node: Node, axes: Sequence[int]) -> None:
    """Emits the node, whose `roi` is about `axes`."""
    x = node.input(0)
    shape = node.static_shape(x)
    if len(shape) != 4:
        raise UnsupportedNodeError(f"{x.name} has {len(shape)} dimensions, not 4")
    mode = node.text("mode", "nearest")
    if mode not in ("linear", "cubic") or node.real("cubic_coeff_a", -0.75) != -0.75:
        raise UnsupportedNodeError(
            "tf_crop_and_resize is supported with mode linear, and cubic with "
            "cubic_coeff_a -0.75"
        )
    if node.flag("antialias", False) or node.flag("exclude_outside", False):
        raise UnsupportedNodeError(
            "tf_crop_and_resize with antialias or exclude_outside"
        )
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnsupportedNodeError("tf_crop_and_resize with an aspect ratio")
    roi = [float(v) for v in node.constant(1, "roi").reshape(-1)]
    sizes = _sizes(node, axes, shape)
    if len(roi) != 2 * len(axes) or len(sizes) != len(axes):
        raise UnsupportedNodeError(
            f"{len(roi)} numbers in roi and {len(sizes)} sizes for {len(axes)} axes"
        )
    regions = dict(zip(axes, zip(sizes, roi, roi[len(axes) :])))
    for axis, (size, low, high) in regions.items():
        kept = size == shape[axis] and low == 0 and high == 1
        if axis not in _SPATIAL and not kept:
            raise UnsupportedNodeError(f"crops or resizes axis {axis}")
    places = []
    for axis in _SPATIAL:
        size, low, high = regions.get(axis, (shape[axis], 0.0, 1.0))
        places.append(_places(size, low, high, shape[axis]))
    grid = np.stack(np.meshgrid(*places, indexing="ij")[::-1], -1)
    outside = np.abs(grid).max(-1) > 1
    grids = np.broadcast_to(grid, (shape[0], *grid.shape))
    attrs = {
        **NCHW,
        "mode": mode.upper(),
        "padding": "BORDER",
        "align_corners": True,
    }
    if not outside.any():
        node.emit("GridSample", [x, node.literal(grids)], attrs)
        return
    read = node.make("GridSample", [x, node.literal(grids)], attrs)
    value = node.literal(node.real("extrapolation_value", 0.0))
    node.emit("Where", [node.literal(outside, DataType.BOOL), value, read])


def _sizes(node: Node, axes: Sequence[int], shape: Sequence[int]) -> list[int]:
    if node.has_input(3):
        return node.constant_ints(3, "sizes")
    scales = np.asarray(node.constant(2, "scales"), np.float32).reshape(-1)
    return [int(np.floor(np.float32(shape[a]) * s)) for a, s in zip(axes, scales)]


def _places(size: int, low: float, high: float, length: int) -> Array:
    """Positions along an axis, -1 and 1 being the centres of the first and the last
    element.
    """
    if length == 1:
        # The only element, or outside: positions are multiples of length - 1.
        return np.zeros(size)
    share = np.linspace(0, 1, size) if size > 1 else np.full(size, 0.5)
    return np.asarray(2 * (low * (1 - share) + high * share) - 1)


# Computed positions ------------------------------------------------------------------

_SAMPLING_MODES = {
    "bilinear": "LINEAR",
    "linear": "LINEAR",
    "nearest": "NEAREST",
    "bicubic": "CUBIC",
    "cubic": "CUBIC",
}
_PADDING = {"zeros": "ZEROS", "border": "BORDER", "reflection": "REFLECTION"}


@HANDLERS.register("GridSample")
def _grid_sample(node: Node) -> None:
    attrs = {
        **NCHW,
        "mode": node.choice("mode", "linear", _SAMPLING_MODES),
        "padding": node.choice("padding_mode", "zeros", _PADDING),
        "align_corners": node.flag("align_corners", False),
    }
    node.emit("GridSample", [node.input(0), node.input(1)], attrs)


@HANDLERS.register("AffineGrid")
def _affine_grid(node: Node) -> None:
    theta, size = node.input(0), node.constant_ints(1, "size")
    axes = len(size) - 2
    if axes not in (2, 3):
        raise UnsupportedNodeError(f"size has {len(size)} elements, not 4 or 5")
    places = []
    for length in size[2:]:
        if node.flag("align_corners", False):
            # A single element is at the lower border, as in ONNX.
            places.append(np.linspace(-1, 1, length))
        else:
            places.append((2 * np.arange(length) + 1) / length - 1)
    grid = np.meshgrid(*places, indexing="ij")
    points = np.stack([*grid[::-1], np.ones_like(grid[0])], -1)
    base = node.literal(points.reshape(1, -1, axes + 1))
    moved = node.make("MatMul", [base, theta], {"transpose_b": True})
    node.emit("Reshape", [moved], {"shape": [size[0], *size[2:], axes]})
