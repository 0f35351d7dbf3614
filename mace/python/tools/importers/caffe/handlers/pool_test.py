# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling, with Caffe's rounding and its divisor."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import (
    Family,
    import_net,
    rand,
    with_inputs,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.ir.dtypes import Array

FAMILY = Family("pool")


def _layer(param: str, kind: str = "Pooling", section: str = "pooling_param") -> str:
    return (
        f'layer {{ name: "p" type: "{kind}" bottom: "x" top: "y" '
        f"{section} {{ {param} }} }}"
    )


def pooled(x: Array, pool: str, kernel: int, stride: int, pad: int) -> Array:
    """By the definition in Caffe."""
    height, width = x.shape[2:]
    sizes = [math.ceil((n + 2 * pad - kernel) / stride) + 1 for n in (height, width)]
    if pad:
        sizes = [
            size - 1 if (size - 1) * stride >= n + pad else size
            for size, n in zip(sizes, (height, width))
        ]
    result = np.zeros((*x.shape[:2], *sizes))
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            top, left = i * stride - pad, j * stride - pad
            bottom, right = (
                min(top + kernel, height + pad),
                min(left + kernel, width + pad),
            )
            area = (bottom - top) * (right - left)
            window = x[:, :, max(top, 0) : bottom, max(left, 0) : right]
            sums = window.astype(np.float64).sum((2, 3)) / area
            result[:, :, i, j] = window.max((2, 3)) if pool == "MAX" else sums
    return result


@pytest.mark.parametrize("pool", ["MAX", "AVE"])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad"),
    [(2, 2, 0), (3, 2, 0), (3, 2, 1), (3, 1, 1), (3, 3, 1), (5, 2, 2), (2, 2, 1)],
)
@pytest.mark.parametrize("size", [(8, 8), (7, 9), (6, 5)])
def test_pooling(
    tmp_path: Path, pool: str, kernel: int, stride: int, pad: int, size: tuple[int, int]
) -> None:
    x = rand(2, 3, *size)
    text = _layer(f"pool: {pool} kernel_size: {kernel} stride: {stride} pad: {pad}")
    wanted = pooled(x, pool, kernel, stride, pad)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])


@pytest.mark.parametrize(
    "param",
    [
        "kernel_size: 3 stride: 2",
        "kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1",
        "kernel_size: 3 stride: 2 pad_h: 1 pad_w: 0",
        "pool: AVE kernel_size: 3 stride: 2",
        "pool: AVE kernel_size: 3 stride: 1 pad: 1",
        "pool: MAX global_pooling: true",
        "pool: AVE global_pooling: true",
        "kernel_size: 3 stride: 2 ceil_mode: false",
    ],
)
def test_as_opencv(tmp_path: Path, param: str) -> None:
    FAMILY.check(tmp_path, _layer(param), {"x": rand(2, 3, 8, 10)})


def test_rounds_down_if_asked(tmp_path: Path) -> None:
    x = rand(1, 2, 8, 8)
    text = _layer("kernel_size: 3 stride: 2 round_mode: FLOOR")
    wanted = pooled(x, "MAX", 3, 2, 0)[:, :, :3, :3]
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])


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
    text = _layer(f"pyramid_height: 3 pool: {pool}", "SPP", "spp_param")
    wanted = np.concatenate(parts, 1)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])
    text = _layer(f"pyramid_height: 1 pool: {pool}", "SPP", "spp_param")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[parts[0].reshape(2, 3, 1, 1)])


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("pool: STOCHASTIC kernel_size: 2", "STOCHASTIC"),
        ("stride: 2", "kernel_size is missing"),
        ("kernel_size: 2 kernel_h: 2", "either kernel_size, or"),
        ("kernel_size: 2 pad: 2", "not less than the kernel"),
        ("kernel_size: 2 stride: 0", "is 0"),
        ("global_pooling: true kernel_size: 2", "both global_pooling"),
        ("global_pooling: true stride: 2", "global_pooling with a stride"),
        ("kernel_size: 1 stride: 3", "starts outside"),
    ],
)
def test_what_pooling_cannot_be(tmp_path: Path, param: str, message: str) -> None:
    inputs = {"x": rand(1, 2, 5, 5)}
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, with_inputs(_layer(param), inputs), inputs, ["y"])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
