# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of images, compared with their definitions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, layer_text, rand

FAMILY = Family("images_caffe")


@pytest.mark.parametrize("pool", ["MAX", "AVE"])
@pytest.mark.parametrize("size", [(8, 8), (7, 10)])
def test_spatial_pyramid(tmp_path: Path, pool: str, size: tuple[int, int]) -> None:
    x = rand(2, 3, *size)
    parts = []
    for bins in (1, 2, 4):
        kernel = [-(-n // bins) for n in size]
        pad = [(k * bins - n + 1) // 2 for k, n in zip(kernel, size)]
        part = np.zeros((2, 3, bins, bins))
        for i in range(bins):
            for j in range(bins):
                low = [i * kernel[0] - pad[0], j * kernel[1] - pad[1]]
                high = [min(a + k, n + p) for a, k, n, p in zip(low, kernel, size, pad)]
                window = x[:, :, max(low[0], 0) : high[0], max(low[1], 0) : high[1]]
                area = math.prod(b - a for a, b in zip(low, high))
                total = window.astype(np.float64).sum((2, 3)) / area
                part[:, :, i, j] = window.max((2, 3)) if pool == "MAX" else total
        parts.append(part.reshape(2, -1))
    text = layer_text("SPP", f"spp_param {{ pyramid_height: 3 pool: {pool} }}")
    wanted = np.concatenate(parts, 1)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])
    text = layer_text("SPP", f"spp_param {{ pyramid_height: 1 pool: {pool} }}")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[parts[0].reshape(2, 3, 1, 1)])


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("variance", [False, True])
def test_mvn(tmp_path: Path, across: bool, variance: bool) -> None:
    x, axes = rand(2, 3, 4, 5), (1, 2, 3) if across else (2, 3)
    wanted = x - x.mean(axes, keepdims=True)
    if variance:
        wanted /= x.std(axes, keepdims=True) + 0.25
    param = (
        f"mvn_param {{ across_channels: {str(across).lower()} eps: 0.25 "
        f"normalize_variance: {str(variance).lower()} }}"
    )
    FAMILY.check(tmp_path, layer_text("MVN", param), {"x": x}, expected=[wanted])


def test_batch_reindex(tmp_path: Path) -> None:
    x = rand(2, 4, 3, 5)
    indices = np.array([1, 0, 1], np.float32)
    text = layer_text("BatchReindex", "", "x i")
    FAMILY.check(tmp_path, text, {"x": x, "i": indices}, expected=[x[[1, 0, 1]]])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
