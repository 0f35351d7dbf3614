# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling of regions, and unpooling, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_operator,
    compare,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


@pytest.mark.parametrize("size", [[7, 7], [3, 2]])
def test_max_roi_pool(size: list[int], tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    corners = rng.random((9, 4)).astype(np.float32) * 40
    corners[:, 2:] += corners[:, :2] - 3  # some are turned around, some end outside
    image = np.arange(9)[:, None] % 2
    inputs: dict[str, Array] = {
        "x": rng.standard_normal((2, 3, 10, 12)).astype(np.float32),
        "regions": np.concatenate([image, corners], 1).astype(np.float32),
    }
    check_operator(
        tmp_path, "MaxRoiPool", inputs, list(inputs), pooled_shape=size,
        spatial_scale=0.25,
    )  # fmt: skip


@pytest.mark.parametrize("shape", [None, [2, 3, 9, 11]])
def test_unpooling(shape: list[int] | None, tmp_path: Path) -> None:
    image = normal(2, 3, 8, 10)
    nodes = [
        onnx.helper.make_node(
            "MaxPool", ["x"], ["m", "i"], kernel_shape=[2, 2], strides=[2, 2]
        )
    ]
    model = make_model(nodes, {"x": image}, ["m", "i"])
    pooled, places = run_onnxruntime(model, {"x": image})
    inputs = {"m": pooled, "i": places}
    node = onnx.helper.make_node(
        "MaxUnpool", [*inputs], ["y"], kernel_shape=[2, 2], strides=[2, 2]
    )
    model = make_model([node], inputs, ["y"])
    if shape is None:
        compare(model, inputs, tmp_path)
        return
    (wanted,) = run_onnxruntime(model, inputs)
    node.input.append("s")
    model = make_model([node], inputs, ["y"], {"s": np.array(shape)})
    padded = np.pad(wanted, [(0, new - old) for new, old in zip(shape, wanted.shape)])
    assert_same(run_mace(model, inputs, tmp_path), [padded])
