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


@pytest.mark.parametrize(("groups", "epsilon"), [(2, 0.25), (6, 1e-5), (1, 1e-3)])
def test_group_norm(tmp_path: Path, groups: int, epsilon: float) -> None:
    x = rand(2, 6, 4, 5)
    split = x.reshape(2, groups, -1).astype(np.float64)
    unit = split - split.mean(2, keepdims=True)
    unit /= np.sqrt(split.var(2, keepdims=True) + epsilon)
    param = f"group_norm_param {{ group_num: {groups} eps: {epsilon} }}"
    text = layer_text("GroupNorm", param)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[unit.reshape(x.shape)])


def test_group_norm_has_32_groups_unless_it_says_others(tmp_path: Path) -> None:
    message = "6 channels in 32 groups"
    FAMILY.refuses(tmp_path, layer_text("GroupNorm"), {"x": rand(2, 6, 4, 5)}, message)


@pytest.mark.parametrize("axis", [None, 1, 2, -1])
@pytest.mark.parametrize("order", [1, 2])
def test_norms(tmp_path: Path, axis: int | None, order: int) -> None:
    """The norm is that of `axis` and all axes behind it."""
    x = rand(2, 3, 4, 5)
    behind = tuple(range(1 if axis is None else axis % 4, 4))
    norm = (np.abs(x) ** order).sum(behind, keepdims=True) ** (1 / order)
    param = "" if axis is None else f"l2normalization_param {{ axis: {axis} }}"
    text = layer_text(f"L{order}Normalization", param)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[x / norm])
    zeros = {"x": np.zeros_like(x)}
    FAMILY.check(tmp_path, text, zeros, expected=[zeros["x"]])


def test_resize_nearest(tmp_path: Path) -> None:
    x = rand(2, 3, 4, 6)
    doubled = x.repeat(2, 2).repeat(2, 3)
    FAMILY.check(tmp_path, layer_text("ResizeNearest"), {"x": x}, expected=[doubled])
    param = "resize_nearest_param { height_scale: 3 width_scale: 0.5 }"
    text = layer_text("ResizeNearest", param)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[x.repeat(3, 2)[..., ::2]])
    param = "resize_nearest_param { height_scale: 0.1 }"
    message = r"make the size \[0, 12\]"
    FAMILY.refuses(tmp_path, layer_text("ResizeNearest", param), {"x": x}, message)


def test_add(tmp_path: Path) -> None:
    inputs = {name: rand(2, 3, 4, 5, seed=at) for at, name in enumerate("abc")}
    text = layer_text("Add", "", "a b c")
    wanted = inputs["a"] + inputs["b"] + inputs["c"]
    FAMILY.check(tmp_path, text, inputs, expected=[wanted])
    inputs["c"] = rand(2, 3, 1, 1)
    FAMILY.refuses(tmp_path, text, inputs, "its bottoms have different shapes")


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)])
def test_non_local_block(tmp_path: Path, turned: tuple[bool, bool]) -> None:
    """Products of matrices that become images again, of the size of another blob."""
    inputs = {"a": rand(2, 4, 6), "b": rand(2, 6, 6, seed=1), "like": rand(1, 7, 2, 3)}
    left, right = inputs["a"], inputs["b"]
    if turned[0]:
        inputs["a"] = inputs["a"].transpose(0, 2, 1).copy()
    if turned[1]:
        inputs["b"] = inputs["b"].transpose(0, 2, 1).copy()
    flags = [f"transpose_{side}: {str(on).lower()}" for side, on in zip("ab", turned)]
    text = layer_text("MatMul", f"matmul_param {{ {' '.join(flags)} }}", "a b", "p")
    text += layer_text("NonlocalReshape", "", "p like", name="again")
    wanted = (left @ right).reshape(2, 4, 2, 3)
    FAMILY.check(tmp_path, text, inputs, expected=[wanted])
    inputs["like"] = rand(1, 7, 2, 2)
    message = r"a bottom of \[2, 4, 6\] as images of 2 x 2"
    FAMILY.refuses(tmp_path, text, inputs, message)


def test_matrices_have_two_dimensions(tmp_path: Path) -> None:
    inputs = {"a": rand(4), "b": rand(4, 3)}
    text = layer_text("MatMul", "", "a b")
    FAMILY.refuses(tmp_path, text, inputs, "the first bottom is no matrix")


def test_batch_reindex(tmp_path: Path) -> None:
    x = rand(2, 4, 3, 5)
    indices = np.array([1, 0, 1], np.float32)
    text = layer_text("BatchReindex", "", "x i")
    FAMILY.check(tmp_path, text, {"x": x, "i": indices}, expected=[x[[1, 0, 1]]])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
