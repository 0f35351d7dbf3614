# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Resizing of images, and blocks of pixels."""

from __future__ import annotations

from mace.python.tools.importers.tflite.context import HANDLERS, Context


@HANDLERS.register("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(context: Context) -> None:
    """To the size of input 1."""
    is_linear = context.operator.type == "RESIZE_BILINEAR"
    context.apply(
        "ResizeBilinear" if is_linear else "ResizeNearestNeighbor",
        align_corners=context.node.flag("align_corners"),
        half_pixel_centers=context.node.flag("half_pixel_centers"),
    )


@HANDLERS.register("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def blocks(context: Context) -> None:
    """Moves elements between channels and blocks of pixels."""
    to_space = context.operator.type == "DEPTH_TO_SPACE"
    context.apply(
        "DepthToSpace" if to_space else "SpaceToDepth",
        block_size=context.node.integer("block_size"),
    )


@HANDLERS.register("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")
def batches(context: Context) -> None:
    """Moves elements between images of a batch and blocks of pixels."""
    to_space = context.operator.type == "BATCH_TO_SPACE_ND"
    context.apply("BatchToSpaceND" if to_space else "SpaceToBatchND")
