# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, compared with OpenCV."""

from __future__ import annotations

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

FAMILY = Family("conv")


def _layer(kind: str, param: str) -> str:
    return (
        f'layer {{ name: "c" type: "{kind}" bottom: "x" top: "y" '
        f"convolution_param {{ {param} }} }}"
    )


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
    text = _layer("Convolution", f"{param} bias_term: {str(bias).lower()}")
    blobs = [rand(*shape), rand(shape[0])][: 2 if bias else 1]
    FAMILY.check(tmp_path, text, {"x": rand(2, 4, 9, 8)}, blobs={"c": blobs})


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
        text = _layer(kind, f"num_output: 4 kernel_size: 3 pad: 1 stride: 2 {group}")
        FAMILY.check(tmp_path, text, {"x": x}, blobs={"c": weights}, expected=[wanted])


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
    blobs = {"c": [rand(*shape), rand(outputs)]}
    FAMILY.check(
        tmp_path, _layer("Deconvolution", param), {"x": rand(2, 4, 5, 6)}, blobs=blobs
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
    blobs = {"c": [rand(6, 4, 3, 3), rand(6)]}
    text = with_inputs(_layer("Convolution", param), inputs)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, text, inputs, ["y"], blobs)


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
