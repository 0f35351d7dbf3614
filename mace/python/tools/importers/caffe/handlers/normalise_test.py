# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation, learned factors, softmax: compared with OpenCV or Caffe's formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, layer_text, rand

FAMILY = Family("normalise")


@pytest.mark.parametrize("factor", [1.0, 2.5, 0.0])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3), (2, 3, 4)])
def test_batch_norm(tmp_path: Path, factor: float, shape: tuple[int, ...]) -> None:
    mean, variance = rand(3), rand(3, low=0.1)
    inverse = 0 if factor == 0 else 1 / factor
    x, across = rand(*shape), (3, *(1,) * (len(shape) - 2))
    wanted = (x - mean.reshape(across) * inverse) / np.sqrt(
        variance.reshape(across) * inverse + 0.01
    )
    text = layer_text("BatchNorm", "batch_norm_param { eps: 0.01 }")
    blobs = {"l": [mean, variance, np.array([factor], np.float32)]}
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])
    if factor and len(shape) == 4:
        FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs)


def test_batch_norm_of_the_batch(tmp_path: Path) -> None:
    x = rand(2, 3, 4, 5)
    mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    text = layer_text("BatchNorm", "batch_norm_param { use_global_stats: false }")
    blobs = {"l": [rand(3), rand(3), rand(1)]}
    wanted = (x - mean) / np.sqrt(variance + 1e-5)
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])


@pytest.mark.parametrize("bias", [True, False])
def test_scale(tmp_path: Path, bias: bool) -> None:
    text = layer_text("Scale", f"scale_param {{ bias_term: {str(bias).lower()} }}")
    blobs = {"l": [rand(3), rand(3, seed=1)][: 2 if bias else 1]}
    FAMILY.check(tmp_path, text, {"x": rand(2, 3, 4, 5)}, blobs=blobs)
    x, more = rand(2, 3, 4), blobs["l"][1].reshape(3, 1) if bias else 0
    wanted = x * blobs["l"][0].reshape(3, 1) + more
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])


@pytest.mark.parametrize(
    ("axis", "count", "shape"),
    [(0, 1, (2,)), (1, 2, (3, 4)), (1, -1, (3, 4, 5)), (-1, 1, (5,)), (0, 0, ())],
)
def test_operands_of_some_axes(
    tmp_path: Path, axis: int, count: int, shape: tuple[int, ...]
) -> None:
    x, scale, offset = rand(2, 3, 4, 5), rand(*shape), rand(*shape, seed=1)
    after = () if not shape else (1,) * (4 - axis % 4 - len(shape))
    param = f"{{ axis: {axis} num_axes: {count} bias_term: true }}"
    wide_scale, wide_offset = (a.reshape((*shape, *after)) for a in (scale, offset))
    FAMILY.check(
        tmp_path,
        layer_text("Scale", f"scale_param {param}"),
        {"x": x},
        blobs={"l": [scale, offset]},
        expected=[x * wide_scale + wide_offset],
    )
    FAMILY.check(
        tmp_path,
        layer_text("Bias", f"bias_param {{ axis: {axis} num_axes: {count} }}"),
        {"x": x},
        blobs={"l": [offset]},
        expected=[x + wide_offset],
    )


def test_operands_from_a_second_bottom(tmp_path: Path) -> None:
    inputs = {"x": rand(2, 3, 4, 5), "s": rand(2, 3)}
    wide = inputs["s"].reshape(2, 3, 1, 1)
    text = layer_text("Scale", "scale_param { axis: 0 }", "x s")
    FAMILY.check(tmp_path, text, inputs, expected=[inputs["x"] * wide])
    offset = rand(2, 3, seed=1)
    text = layer_text("Scale", "scale_param { axis: 0 bias_term: true }", "x s")
    wanted = inputs["x"] * wide + offset.reshape(2, 3, 1, 1)
    FAMILY.check(tmp_path, text, inputs, blobs={"l": [offset]}, expected=[wanted])
    text = layer_text("Bias", "bias_param { axis: 0 }", "x s")
    FAMILY.check(tmp_path, text, inputs, expected=[inputs["x"] + wide])
    inputs = {"s": rand(2, 3, 1, 1), "x": inputs["x"], "z": rand(2, 3, 4, 5, seed=2)}
    wanted = inputs["s"] * inputs["x"] + inputs["z"]
    FAMILY.check(tmp_path, layer_text("Axpy", "", "s x z"), inputs, expected=[wanted])


@pytest.mark.parametrize("k", [1, 2])
def test_lrn_across_channels(tmp_path: Path, k: int) -> None:
    x = rand(2, 7, 4, 5)
    padded = np.pad(x**2, [(0, 0), (1, 1), (0, 0), (0, 0)])
    total = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    wanted = x / (k + 0.5 / 3 * total) ** 0.6
    text = layer_text(
        "LRN", f"lrn_param {{ local_size: 3 alpha: 0.5 beta: 0.6 k: {k} }}"
    )
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])


def test_lrn_as_opencv(tmp_path: Path) -> None:
    # OpenCV ignores k, and has other defaults.
    param = "local_size: 5 alpha: 0.5 beta: 0.6 norm_region: ACROSS_CHANNELS"
    text = layer_text("LRN", f"lrn_param {{ {param} }}")
    FAMILY.check(tmp_path, text, {"x": rand(2, 7, 4, 5)})


@pytest.mark.parametrize("size", [1, 3, 5])
def test_lrn_within_a_channel(tmp_path: Path, size: int) -> None:
    x, half = rand(2, 3, 6, 7), size // 2
    padded = np.pad(x, [(0, 0), (0, 0), (half, half), (half, half)]) ** 2
    total = sum(
        padded[:, :, i : i + 6, j : j + 7] for i in range(size) for j in range(size)
    )
    # Caffe ignores k here, and divides by the whole window at borders, too.
    wanted = x * (1 + 0.5 * total / size**2) ** -0.75
    param = f"local_size: {size} alpha: 0.5 k: 3 norm_region: WITHIN_CHANNEL"
    text = layer_text("LRN", f"lrn_param {{ {param} }}")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_normalize_of_ssd(tmp_path: Path, spatial: bool, shared: bool) -> None:
    param = (
        f"norm_param {{ across_spatial: {str(spatial).lower()} "
        f"channel_shared: {str(shared).lower()} }}"
    )
    x, scale = rand(2, 3, 4, 5), rand(1 if shared else 3)
    text, blobs = layer_text("Normalize", param), {"l": [scale]}
    axes = (1, 2, 3) if spatial else (1,)
    norm = np.sqrt((x**2).sum(axes, keepdims=True) + 1e-10)
    wanted = x / norm * scale.reshape(-1, 1, 1)
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])
    if shared or not spatial:  # OpenCV stops at the other one
        FAMILY.check(tmp_path, text, {"x": x[:1]}, blobs=blobs)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax(tmp_path: Path, axis: int) -> None:
    text = layer_text("Softmax", f"softmax_param {{ axis: {axis} }}")
    FAMILY.check(tmp_path, text, {"x": rand(2, 3, 4, 5)})


def test_softmax_of_a_loss(tmp_path: Path) -> None:
    x = rand(2, 5)
    wanted = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    text = layer_text("SoftmaxWithLoss", "", "x label", "loss y")
    inputs = {"x": x, "label": rand(2)}
    FAMILY.check(tmp_path, text, inputs, expected=[wanted])
    message = "top 'loss' is not supported"
    FAMILY.refuses(tmp_path, text, inputs, message, outputs=["loss"])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            layer_text("Scale", "scale_param { axis: 4 }"),
            "axis 4 is outside a rank of 4",
        ),
        (layer_text("Scale", "scale_param { num_axes: 4 }"), "num_axes 4 from axis 1"),
        (layer_text("LRN", "lrn_param { local_size: 4 }"), "local_size 4"),
        (layer_text("BatchNorm"), "1 blobs for this layer; the variance is missing"),
        (layer_text("SoftmaxWithLoss"), "a loss, which Caffe computes in training"),
        (layer_text("Normalize"), r"scale must have the shape \[1\], but .* has \[3\]"),
    ],
)
def test_what_cannot_be_converted(tmp_path: Path, layer: str, message: str) -> None:
    inputs = {"x": rand(2, 3, 4, 5)}
    FAMILY.refuses(tmp_path, layer, inputs, message, {"l": [rand(3)]})


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
