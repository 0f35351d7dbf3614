# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products with learned matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, rand

FAMILY = Family("inner_product")


def _layer(param: str) -> str:
    return (
        'layer { name: "p" type: "InnerProduct" bottom: "x" top: "y" '
        f"inner_product_param {{ num_output: 5 {param} }} }}"
    )


def test_of_an_image(tmp_path: Path) -> None:
    x = {"x": rand(2, 3, 4, 2)}
    FAMILY.check(tmp_path, _layer(""), x, blobs={"p": [rand(5, 24), rand(5)]})
    text = _layer("bias_term: false")
    FAMILY.check(tmp_path, text, x, blobs={"p": [rand(5, 24)]})
    # As files that are older than shapes of blobs have it.
    blobs = {"p": [rand(1, 1, 5, 24), rand(1, 1, 1, 5)]}
    FAMILY.check(tmp_path, _layer(""), x, blobs=blobs)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("transpose", [False, True])
def test_of_some_axes(tmp_path: Path, axis: int, transpose: bool) -> None:
    # OpenCV ignores transpose, and lumps the axes before the first one together.
    x, bias = rand(2, 3, 4), rand(5)
    rows = x.reshape(*x.shape[: axis % 3], -1)
    weights = rand(rows.shape[-1], 5) if transpose else rand(5, rows.shape[-1])
    wanted = rows @ (weights if transpose else weights.T) + bias
    text = _layer(f"axis: {axis} transpose: {str(transpose).lower()}")
    blobs = {"p": [weights, bias]}
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])


@pytest.mark.parametrize("bias", [True, False])
def test_embed(tmp_path: Path, bias: bool) -> None:
    text = (
        'layer { name: "e" type: "Embed" bottom: "x" top: "y" '
        "embed_param { num_output: 3 input_dim: 6 "
        f"bias_term: {str(bias).lower()} }} }}"
    )
    x = np.array([[5, 0, 2], [1, 1, 4]], np.float32)
    table, offset = rand(6, 3), rand(3)
    wanted = table[x.astype(int)] + (offset if bias else 0)
    blobs = {"e": [table, offset] if bias else [table]}
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
