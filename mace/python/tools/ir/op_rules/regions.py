# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Regions of images: the input 1 of some operators, with their images as input 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.shapes import compatible, format_shape, product


def count_regions(op: Op) -> int | None:
    """How many regions there are; None: that is not known.

    Raises:
        ValueError: regions are not [..., 4], or images are not as many.
    """
    regions, images = op.input(1), op.get_input(2)
    count: int | None = None
    if regions.shape is not None:
        if not regions.shape or not compatible(regions.shape[-1:], (4,)):
            raise ValueError(
                f"regions have the shape {format_shape(regions.shape)}; it must "
                "be [..., 4]"
            )
        count = product(regions.shape[:-1])
    if images is not None and images.shape is not None:
        found = product(images.shape)
        if None not in (found, count) and found != count:
            raise ValueError(
                f"images have the shape {format_shape(images.shape)}, but there "
                f"are {count} regions"
            )
    return count


def region_images(inputs: Sequence[Any]) -> Iterator[tuple[int, Array, Array]]:
    """Index, image [H, W, C] and the four numbers of each region.

    Args:
        inputs: images [N, H, W, C], regions, and the index of the image of each, if
            they are not all of the first one. Those of images that do not exist are
            left out.
    """
    x, regions = np.asarray(inputs[0]), np.reshape(inputs[1], (-1, 4))
    images = np.zeros(len(regions), np.int64)
    if len(inputs) > 2 and inputs[2] is not None:
        images = np.reshape(inputs[2], -1)
    for index, (region, image) in enumerate(zip(regions, images)):
        if 0 <= image < len(x):
            yield index, x[image], region
