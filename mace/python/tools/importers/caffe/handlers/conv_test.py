# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling, compared with OpenCV or Caffe's definition."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, layer_text, rand
from mace.python.tools.ir.dtypes import Array

FAMILY = Family("conv")


def _conv(kind: str, param: str) -> str:
    return layer_text(kind, f"convolution_param {{ {param} }}")


def _pool(param: str) -> str:
    return layer_text("Pooling", f"pooling_param {{ {param} }}")


@pytest.mark.parametrize(
    ("param", "shape"),
    [
        ("num_output: 6 kernel_size: 3", (6, 4, 3, 3)),
        ("num_output: 6 kernel_size: 3 pad: 1 stride: 2", (6, 4, 3, 3)),
        ("num_output: 6 kernel_h: 1 kernel_w: 3 pad_h: 0 pad_w: 1", (6, 4, 1, 3)),
        ("num_output: 6 kernel_size: 3 stride_h: 2 stride_w: 1", (6, 4, 3, 3)),
        ("num_output: 6 kernel_size: 3 dilation: 2 pad: 2", (6, 4, 3, 3)),
        ("num_output: 6 kernel_size: 3 group: 2", (6, 2, 3, 3)),
        ("num_output: 4 kernel_size: 3 pad: 1 group: 4", (4, 1, 3, 3)),
        ("num_output: 8 kernel_size: 3 pad: 1 group: 4", (8, 1, 3, 3)),
        ("num_output: 6 kernel_size: [3, 2] pad: [1, 0] stride: [1, 2]", (6, 4, 3, 2)),
    ],
)
@pytest.mark.parametrize("bias", [True, False])
def test_convolution(
    tmp_path: Path, param: str, shape: tuple[int, ...], bias: bool
) -> None:
    text = _conv("Convolution", f"{param} bias_term: {str(bias).lower()}")
    blobs = [rand(*shape), rand(shape[0])][: 2 if bias else 1]
    FAMILY.check(tmp_path, text, {"x": rand(2, 4, 9, 8)}, blobs={"l": blobs})


@pytest.mark.parametrize("kind", ["DepthwiseConvolution", "ConvolutionDepthwise"])
def test_depthwise_convolution_ignores_the_group(tmp_path: Path, kind: str) -> None:
    x, weights = rand(1, 4, 7, 7), [rand(4, 1, 3, 3), rand(4)]
    whole = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    wanted = np.zeros((1, 4, 4, 4), np.float32) + weights[1].reshape(4, 1, 1)
    for i in range(3):
        for j in range(3):
            part = whole[:, :, i : i + 7 : 2, j : j + 7 : 2]
            wanted += part * weights[0][:, 0, i, j].reshape(4, 1, 1)
    for group in ("", "group: 4"):
        text = _conv(kind, f"num_output: 4 kernel_size: 3 pad: 1 stride: 2 {group}")
        FAMILY.check(tmp_path, text, {"x": x}, blobs={"l": weights}, expected=[wanted])


@pytest.mark.parametrize(
    ("param", "shape", "outputs"),
    [
        ("num_output: 6 kernel_size: 2 stride: 2", (4, 6, 2, 2), 6),
        ("num_output: 6 kernel_size: 4 stride: 2 pad: 1", (4, 6, 4, 4), 6),
        ("num_output: 6 kernel_size: 3 stride: 2 pad: 1 group: 2", (4, 3, 3, 3), 6),
        ("num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4", (4, 1, 4, 4), 4),
        (
            "num_output: 2 kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 2",
            (4, 2, 3, 2),
            2,
        ),
    ],
)
def test_deconvolution(
    tmp_path: Path, param: str, shape: tuple[int, ...], outputs: int
) -> None:
    blobs = {"l": [rand(*shape), rand(outputs)]}
    FAMILY.check(
        tmp_path, _conv("Deconvolution", param), {"x": rand(2, 4, 5, 6)}, blobs=blobs
    )


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("num_output: 6", "kernel_size is missing"),
        ("num_output: 6 kernel_size: 3 kernel_h: 3", "both kernel_size and kernel_h"),
        ("num_output: 6 kernel_h: 3", "kernel_h is given without the other"),
        ("num_output: 6 kernel_size: [1, 2, 3]", "has 3 values"),
        (
            "num_output: 5 kernel_size: 3 group: 2",
            "4 input channels and 5 outputs in 2",
        ),
        (
            "num_output: 6 kernel_size: 2",
            r"filter must have the shape \[6, 4, 2, 2\], but .*\[6, 4, 3, 3\]",
        ),
        ("num_output: 6 kernel_size: 3 axis: 2", "images"),
        (
            "num_output: 6 kernel_size: 3 padding_mode: 1",
            r"unknown fields: convolution_param.padding_mode \(line 3\)",
        ),
    ],
)
def test_what_a_convolution_cannot_be(tmp_path: Path, param: str, message: str) -> None:
    inputs = {"x": rand(1, 4, 8, 8)}
    blobs = {"l": [rand(6, 4, 3, 3), rand(6)]}
    text = _conv("Convolution", param)
    FAMILY.refuses(tmp_path, text, inputs, message, blobs)


def _pooled(x: Array, pool: str, kernel: int, stride: int, pad: int) -> Array:
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
            bottom = min(top + kernel, height + pad)
            right = min(left + kernel, width + pad)
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
    text = _pool(f"pool: {pool} kernel_size: {kernel} stride: {stride} pad: {pad}")
    wanted = _pooled(x, pool, kernel, stride, pad)
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
def test_pooling_as_opencv(tmp_path: Path, param: str) -> None:
    FAMILY.check(tmp_path, _pool(param), {"x": rand(2, 3, 8, 10)})


def test_pooling_rounds_down_if_asked(tmp_path: Path) -> None:
    x = rand(1, 2, 8, 8)
    text = _pool("kernel_size: 3 stride: 2 round_mode: FLOOR")
    wanted = _pooled(x, "MAX", 3, 2, 0)[:, :, :3, :3]
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])


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
    FAMILY.refuses(tmp_path, _pool(param), inputs, message)


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
