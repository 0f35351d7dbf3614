# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Detections of SSD and the pooling of regions, compared with OpenCV, and by the
definition where OpenCV does not know a layer.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import (
    Family,
    import_net,
    layer_text,
    rand,
    with_inputs,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph

FAMILY = Family("detection")
BOXES, CLASSES = 30, 4
_LIMITS = "nms_param { nms_threshold: 0.45 top_k: 20 } keep_top_k: 25"


def _output(param: str, classes: int = CLASSES) -> str:
    # OpenCV needs them.
    for name, value in (("share_location", "true"), ("background_label_id", "0")):
        if name not in param:
            param += f" {name}: {value}"
    param = f"detection_output_param {{ num_classes: {classes} {param} }}"
    return layer_text("DetectionOutput", param, "loc conf prior")


def _inputs(images: int = 1, own: int = 1, seed: int = 0) -> dict[str, Array]:
    low = rand(BOXES, 2, low=0, high=0.7, seed=seed)
    size = rand(BOXES, 2, low=0.1, high=0.3, seed=seed + 1)
    prior = np.concatenate([low, low + size], 1).reshape(-1)
    variance = np.tile(np.array([0.1, 0.1, 0.2, 0.2], np.float32), BOXES)
    return {
        "loc": rand(images, BOXES * own * 4, seed=seed + 2),
        "conf": rand(images, BOXES * CLASSES, low=0, high=1, seed=seed + 3),
        "prior": np.stack([prior, variance])[None],
    }


@pytest.mark.parametrize(
    "param",
    [
        _LIMITS,
        f"{_LIMITS} confidence_threshold: 0.4",
        f"{_LIMITS} confidence_threshold: 0.97",
        f"{_LIMITS} clip: true",
        f"{_LIMITS} background_label_id: 2",
        f"{_LIMITS} background_label_id: 4",
        "nms_param { nms_threshold: 0.3 } keep_top_k: 200 confidence_threshold: 0.5",
        "nms_param { nms_threshold: 0.6 top_k: 400 } keep_top_k: 3",
    ],
)
def test_as_opencv(tmp_path: Path, param: str) -> None:
    for code in ("CENTER_SIZE", "CORNER"):
        FAMILY.check(tmp_path, _output(f"{param} code_type: {code}"), _inputs())


def test_variance_in_the_target(tmp_path: Path) -> None:
    inputs = _inputs()
    inputs["prior"] = inputs["prior"][:, :1]  # OpenCV needs the first row alone
    param = f"{_LIMITS} code_type: CENTER_SIZE variance_encoded_in_target: true"
    FAMILY.check(tmp_path, _output(param), inputs)


def test_all_boxes(tmp_path: Path) -> None:
    # OpenCV writes beyond its memory.
    text = _output("nms_param { nms_threshold: 0.2 } code_type: CORNER")
    most = _output("nms_param { nms_threshold: 0.2 } keep_top_k: 90 code_type: CORNER")
    graph = import_net(tmp_path, with_inputs(most, _inputs()), _inputs(), ["y"])
    wanted = run_graph(graph, _inputs())["y"]
    assert 0 < wanted.shape[2] < 90
    FAMILY.check(tmp_path, text, _inputs(), expected=[wanted])


def test_several_images(tmp_path: Path) -> None:
    text = _output(f"{_LIMITS} code_type: CENTER_SIZE confidence_threshold: 0.6")
    FAMILY.check(tmp_path, text, _inputs(images=3))


@pytest.mark.parametrize("background", [0, 3, 4])
def test_boxes_of_each_class(tmp_path: Path, background: int) -> None:
    text = _output(
        f"{_LIMITS} code_type: CENTER_SIZE share_location: false "
        f"background_label_id: {background}"
    )
    FAMILY.check(tmp_path, text, _inputs(own=CLASSES))


def test_one_class_without_background(tmp_path: Path) -> None:
    inputs = _inputs()
    inputs["conf"] = inputs["conf"][:, :BOXES]
    for limit in ("", "top_k: 7"):
        param = f"nms_param {{ nms_threshold: 0.4 {limit} }} background_label_id: 1"
        text = _output(f"{param} keep_top_k: 9 code_type: CENTER_SIZE", 1)
        FAMILY.check(tmp_path, text, inputs)


def test_corners_of_the_size_of_prior_boxes(tmp_path: Path) -> None:
    # OpenCV does not know this code.
    inputs = _inputs()
    inputs["loc"] *= np.float32(0.1)
    text = _output(
        "nms_param { nms_threshold: 1 } keep_top_k: 8 code_type: CORNER_SIZE"
    )
    prior, factor = inputs["prior"].reshape(2, BOXES, 4)
    size = np.tile(prior[:, 2:] - prior[:, :2], 2)
    boxes = inputs["loc"].reshape(BOXES, 4) * factor * size + prior
    scores = inputs["conf"].reshape(BOXES, CLASSES)[:, 1:]
    order = np.argsort(-scores.reshape(-1))[:8]
    wanted = [
        [0, 1 + index % 3, scores.reshape(-1)[index], *boxes[index // 3]]
        for index in order
    ]
    FAMILY.check(tmp_path, text, inputs, expected=[np.array(wanted)[None, None]])


def test_no_box_is_good_enough(tmp_path: Path) -> None:
    # OpenCV makes a row of zeros for each one that there could be.
    text = with_inputs(_output(f"{_LIMITS} confidence_threshold: 2"), _inputs())
    graph = import_net(tmp_path, text, _inputs(), ["y"])
    assert run_graph(graph, _inputs())["y"].shape == (1, 1, 0, 7)


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("nms_param { eta: 0.9 }", "eta is 0.8999"),
        ("nms_param { nms_threshold: 1.5 }", "nms_threshold is 1.5"),
        ("nms_param { top_k: 0 }", "must be positive, or -1"),
        ("keep_top_k: -2", "must be positive, or -1"),
        ("normalized_bbox: false", "relative to the image"),
        ("share_location: false", "locations of shape"),
        ("nms_param { soft: 1 }", "unknown fields: .*soft"),
    ],
)
def test_what_is_refused(tmp_path: Path, param: str, message: str) -> None:
    FAMILY.refuses(tmp_path, _output(param), _inputs(), message)


def test_other_shapes_are_refused(tmp_path: Path) -> None:
    for name, array, message in (
        ("prior", rand(2, BOXES * 4), "prior boxes of shape"),
        ("prior", rand(1, 2, 8), "locations of shape"),
        ("conf", rand(1, 7), "confidences of shape"),
    ):
        inputs = {**_inputs(), name: array}
        FAMILY.refuses(tmp_path, _output(_LIMITS), inputs, message)
    message = "leaves none but the background"
    FAMILY.refuses(tmp_path, _output(_LIMITS, 1), _inputs(), message)


PRIORS = {"x": rand(1, 4, 5, 6), "data": rand(1, 3, 60, 80)}


def _priors(param: str) -> str:
    return layer_text("PriorBox", f"prior_box_param {{ {param} }}", "x data")


@pytest.mark.parametrize(
    "param",
    [
        "min_size: 20",
        "min_size: 20 max_size: 35 aspect_ratio: 2",
        "min_size: 20 max_size: 35 aspect_ratio: 2 aspect_ratio: 3 flip: false",
        "min_size: [20, 40] max_size: [35, 70] aspect_ratio: [2, 0.5, 1]",
        "min_size: 20 step: 8 offset: 0.25 clip: true",
        "min_size: 20 step_h: 8 step_w: 9",
    ],
)
def test_prior_boxes_as_opencv(tmp_path: Path, param: str) -> None:
    # OpenCV needs the variance, and its clip is true by default.
    clip = "" if "clip" in param else "clip: false"
    for variance in ("variance: 0.2", "variance: [0.1, 0.1, 0.2, 0.3]"):
        FAMILY.check(tmp_path, _priors(f"{param} {clip} {variance}"), PRIORS)


@pytest.mark.parametrize("size", ["img_size: 100", "img_h: 100 img_w: 100"])
def test_the_size_of_the_image(tmp_path: Path, size: str) -> None:
    # OpenCV ignores it.
    boxes = []
    for row in range(5):
        for column in range(6):
            x, y = (column + 0.5) * 100 / 6, (row + 0.5) * 100 / 5
            boxes += [x - 10, y - 10, x + 10, y + 10]
    wanted = np.stack([np.array(boxes) / 100, np.full(len(boxes), 0.1)])[None]
    FAMILY.check(tmp_path, _priors(f"min_size: 20 {size}"), PRIORS, expected=[wanted])


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("", "min_size is missing"),
        ("min_size: 20 max_size: 10", "max_size 10.0 is not more than min_size 20"),
        ("min_size: 20 max_size: [30, 40]", "2 max_size for 1 min_size"),
        ("min_size: 20 variance: [1, 2]", "variance"),
        ("min_size: 20 step: 2 step_h: 2", "either step, or"),
        ("min_size: 20 img_size: 2 img_h: 2", "either img_size, or"),
        ("min_size: 20 aspect_ratio: 0", "aspect_ratio 0"),
    ],
)
def test_prior_boxes_that_are_refused(tmp_path: Path, param: str, message: str) -> None:
    FAMILY.refuses(tmp_path, _priors(param), PRIORS, message)


def _pooling(param: str) -> str:
    return layer_text("ROIPooling", f"roi_pooling_param {{ {param} }}", "x rois")


@pytest.mark.parametrize(("size", "images"), [((7, 7), 1), ((3, 2), 2), ((1, 1), 1)])
def test_roi_pooling(tmp_path: Path, size: tuple[int, int], images: int) -> None:
    # OpenCV refuses regions outside the image.
    low, image = rand(12, 2, low=0, high=60), np.arange(12)[:, None] % images
    rois = np.concatenate([image, low, low + rand(12, 2, low=5, high=70, seed=1)], 1)
    inputs = {"x": rand(images, 5, 18, 20), "rois": rois.astype(np.float32)}
    param = f"pooled_h: {size[0]} pooled_w: {size[1]} spatial_scale: 0.125"
    FAMILY.check(tmp_path, _pooling(param), inputs)
    inputs["rois"] = inputs["rois"].reshape(12, 5, 1, 1)
    FAMILY.check(tmp_path, _pooling(param), inputs)


@pytest.mark.parametrize(
    ("param", "width", "message"),
    [
        ("", 5, "pools 0 x 0"),
        ("pooled_h: 2 pooled_w: 70000", 5, "pools 2 x 70000"),
        ("pooled_h: 2 pooled_w: 2", 4, r"shape \[3, 4\]"),
    ],
)
def test_pooling_that_is_refused(
    tmp_path: Path, param: str, width: int, message: str
) -> None:
    inputs = {"x": rand(1, 4, 6, 6), "rois": rand(3, width)}
    FAMILY.refuses(tmp_path, _pooling(param), inputs, message)


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
