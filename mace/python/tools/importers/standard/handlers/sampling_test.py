# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""GridSample and AffineGrid compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


def _sample(opset: int, x: Array, grid: Array, **attributes: Any) -> onnx.ModelProto:
    node = onnx.helper.make_node("GridSample", ["x", "grid"], ["y"], **attributes)
    return make_model([node], {"x": x, "grid": grid}, ["y"], opset=opset)


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_images(
    mode: str, padding_mode: str, align_corners: int, tmp_path: Path
) -> None:
    inputs = {"x": normal(2, 3, 6, 7), "grid": normal(2, 5, 4, 2)}
    model = _sample(
        20,
        *inputs.values(),
        mode=mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("padding_mode", ["zeros", "border"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_volumes(
    mode: str, padding_mode: str, align_corners: int, tmp_path: Path
) -> None:
    inputs = {"x": normal(2, 3, 4, 6, 5), "grid": normal(2, 2, 5, 4, 3)}
    model = _sample(
        20,
        *inputs.values(),
        mode=mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


def test_modes_of_operator_set_16(tmp_path: Path) -> None:
    inputs = {"x": normal(1, 2, 6, 7), "grid": normal(1, 5, 4, 2)}
    for mode in ("bilinear", "bicubic"):
        model = _sample(16, *inputs.values(), mode=mode)
        assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


def test_other_modes_are_refused(tmp_path: Path) -> None:
    inputs = {"x": normal(1, 2, 6, 7), "grid": normal(1, 5, 4, 2)}
    wrong: list[dict[str, Any]] = [{"mode": "lanczos"}, {"padding_mode": "wrap"}]
    for attributes in wrong:
        with pytest.raises(UnsupportedNodesError, match="are known"):
            model = _sample(20, *inputs.values(), **attributes)
            import_proto(model, inputs, ["y"], tmp_path)


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("size", [[2, 3, 5, 6], [2, 3, 4, 5, 6]])
def test_affine_grid(size: list[int], align_corners: int, tmp_path: Path) -> None:
    axes = len(size) - 2
    theta = normal(2, axes, axes + 1)
    node = onnx.helper.make_node(
        "AffineGrid", ["theta", "size"], ["y"], align_corners=align_corners
    )
    model = make_model([node], {"theta": theta}, ["y"], {"size": np.array(size)}, 20)
    assert_same(
        run_mace(model, {"theta": theta}, tmp_path),
        run_onnxruntime(model, {"theta": theta}),
    )


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize(
    ("axes", "roi", "sizes"),
    [
        ([2, 3], [0.1, 0.2, 0.9, 0.7], [4, 5]),
        ([3, 2], [0.2, -0.3, 1.4, 0.7], [6, 3]),
        ([0, 1, 2, 3], [0, 0, 0.8, 0.1, 1, 1, 0.2, 0.9], [2, 3, 1, 7]),
    ],
)
def test_resize_of_a_region(
    axes: list[int], roi: list[float], sizes: list[int], mode: str, tmp_path: Path
) -> None:
    x = normal(2, 3, 6, 8)
    node = onnx.helper.make_node(
        "Resize",
        ["x", "roi", "", "sizes"],
        ["y"],
        axes=axes,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=2.5,
        mode=mode,
    )
    constants = {"roi": np.array(roi, np.float32), "sizes": np.array(sizes)}
    model = make_model([node], {"x": x}, ["y"], constants)
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))
