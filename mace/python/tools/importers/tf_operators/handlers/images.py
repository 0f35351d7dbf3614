# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of images, and channels that become pixels and back."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context


@HANDLERS.register("ResizeBilinear")
def bilinear(context: Context) -> None:
    """Weighted means of 2 x 2 pixels."""
    _resize(context, "LINEAR")


@HANDLERS.register("ResizeNearestNeighbor")
def nearest_neighbor(context: Context) -> None:
    """The pixel below the position; with aligned corners the nearest one."""
    aligned = context.node.flag("align_corners")
    _resize(context, "NEAREST", rounding="PREFER_CEIL" if aligned else "FLOOR")


@HANDLERS.register("ResizeBicubic")
def bicubic(context: Context) -> None:
    """Cubic convolution of 4 x 4 pixels. With half_pixel_centers, TensorFlow uses Keys'
    kernel and only pixels of the image; without it, a steeper kernel and repeated
    border pixels. TensorFlow reads the kernel from a table of 1024 steps, so results
    differ from MACE's, which are computed, by up to 8e-4 of the range of the pixels.
    """
    half = context.node.flag("half_pixel_centers")
    kernel = -0.5 if half else -0.75
    _resize(context, "CUBIC", cubic_coefficient=kernel, exclude_outside=half)


@HANDLERS.register("DepthToSpace", "SpaceToDepth")
def blocks(context: Context) -> None:
    """Moves elements between channels and blocks of pixels."""
    attrs = {"data_format": "NCHW"} if context.is_nchw() else {}
    block = context.node.integer("block_size")
    context.emit(context.node.op, [context.input(0)], block=block, **attrs)


def _resize(context: Context, mode: str, **attrs: object) -> None:
    aligned = context.node.flag("align_corners")
    half = context.node.flag("half_pixel_centers")
    if aligned and half:
        raise UnsupportedNodeError("align_corners and half_pixel_centers exclude")
    coordinates = "ALIGN_CORNERS" if aligned else "ASYMMETRIC"
    if half:
        coordinates = "HALF_PIXEL_FLOOR" if mode == "NEAREST" else "HALF_PIXEL"
    inputs = [context.input(0)]
    if context.input(1).is_constant:
        attrs["size"] = context.ints(1, "size")
    else:
        inputs.append(context.input(1))
    context.emit("Resize", inputs, mode=mode, coordinates=coordinates, **attrs)
