# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""NonMaxSuppression, what follows it, and RoiAlign compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
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
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_make = onnx.helper.make_node
_SUPPRESS = ["boxes", "scores", "most", "iou", "score"]


def _inputs(images: int, classes: int, count: int) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {
        "boxes": rng.random((images, count, 4)).astype(np.float32),
        "scores": rng.random((images, classes, count)).astype(np.float32),
    }


def _limits(most: int, iou: float, score: float) -> dict[str, Array]:
    return {
        "most": np.array([most]),
        "iou": np.array([iou], np.float32),
        "score": np.array([score], np.float32),
    }


def _check(
    tmp_path: Path,
    nodes: list[Any],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array],
    outputs: list[str],
) -> list[Array]:
    model = make_model(nodes, inputs, outputs, constants)
    expected = run_onnxruntime(model, inputs)
    found = run_mace(model, inputs, tmp_path)
    assert_same(found, expected)
    return found


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize(
    ("most", "iou", "score"), [(10, 0.3, 0.2), (3, 0.5, 0.9), (100, 0.1, 0.0)]
)
def test_non_max_suppression(
    most: int, iou: float, score: float, center: int, tmp_path: Path
) -> None:
    node = _make("NonMaxSuppression", _SUPPRESS, ["y"], center_point_box=center)
    limits = _limits(most, iou, score)
    _check(tmp_path, [node], _inputs(2, 3, 60), limits, ["y"])


def test_boxes_are_gathered_by_what_was_selected(tmp_path: Path) -> None:
    # As exporters write it: the third column chooses boxes and scores.
    nodes = [
        _make("NonMaxSuppression", _SUPPRESS, ["selected"]),
        _make("Gather", ["selected", "two"], ["index"], axis=1),
        _make("Squeeze", ["index", "one"], ["flat"]),
        _make("Squeeze", ["boxes", "zero"], ["all"]),
        _make("Gather", ["all", "flat"], ["chosen"], axis=0),
        _make("Mul", ["chosen", "scale"], ["y"]),
        _make("Cast", ["flat"], ["z"], to=onnx.TensorProto.FLOAT),
    ]
    constants = {
        **_limits(20, 0.2, 0.3),
        "two": np.array([2]),
        "one": np.array([1]),
        "zero": np.array([0]),
        "scale": np.array([[640, 480, 640, 480]], np.float32),
    }
    found = _check(tmp_path, nodes, _inputs(1, 1, 40), constants, ["y", "z"])
    # Fewer than the most that there can be.
    assert 0 < len(found[0]) < 20


def test_without_limits_nothing_is_selected(tmp_path: Path) -> None:
    node = _make("NonMaxSuppression", ["boxes", "scores"], ["y"])
    (found,) = run_mace(
        make_model([node], _inputs(1, 1, 4), ["y"]), _inputs(1, 1, 4), tmp_path
    )
    assert found.shape == (0, 3)


def test_what_needs_the_number_of_results_is_refused(tmp_path: Path) -> None:
    inputs = _inputs(1, 1, 8)
    readers: list[tuple[str, dict[str, int]]] = [
        ("Flatten", {"axis": 0}), ("Softmax", {"axis": 0})
    ]  # fmt: skip
    for op_type, attributes in readers:
        nodes = [
            _make("NonMaxSuppression", _SUPPRESS, ["selected"]),
            _make("Cast", ["selected"], ["floats"], to=onnx.TensorProto.FLOAT),
            _make(op_type, ["floats"], ["y"], **attributes),
        ]
        model = make_model(nodes, inputs, ["y"], _limits(5, 0.5, 0.1))
        with pytest.raises(UnsupportedNodesError, match="only the run determines"):
            import_proto(model, inputs, ["y"], tmp_path)


def test_limits_must_be_constants(tmp_path: Path) -> None:
    inputs = {**_inputs(1, 1, 8), "iou": np.array([0.5], np.float32)}
    node = _make("NonMaxSuppression", _SUPPRESS[:4], ["y"])
    model = make_model([node], inputs, ["y"], {"most": np.array([3])})
    with pytest.raises(UnsupportedNodesError, match="iou_threshold.*at run time"):
        import_proto(model, inputs, ["y"], tmp_path)


@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("samples", [0, 2])
def test_roi_align(samples: int, mode: str, coordinates: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    corners = rng.random((5, 4)).astype(np.float32) * 40
    corners[:, 2:] += corners[:, :2]
    inputs = {
        "x": rng.random((2, 3, 10, 12)).astype(np.float32),
        "regions": corners,
        "images": np.array([0, 1, 1, 0, 1]),
    }
    node = _make(
        "RoiAlign", list(inputs), ["y"], coordinate_transformation_mode=coordinates,
        mode=mode, output_height=3, output_width=2, sampling_ratio=samples,
        spatial_scale=0.25,
    )  # fmt: skip
    _check(tmp_path, [node], inputs, {}, ["y"])
