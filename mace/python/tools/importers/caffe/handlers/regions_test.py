# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Proposed regions and their pooling, compared with OpenCV, and with the definition of
Faster R-CNN where OpenCV deviates from it.
"""

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
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph

FAMILY = Family("regions")
HEIGHT, WIDTH = 4, 6
_ANCHORS = "ratio: [0.5, 1, 2] scale: [2, 4]"


def _proposal(param: str, more: str = "") -> str:
    return (
        'layer { name: "p" type: "Proposal" bottom: "scores" bottom: "boxes" '
        f'bottom: "image" top: "y" {more} proposal_param {{ {param} }} }}'
    )


def _inputs(seed: int = 0) -> dict[str, Array]:
    return {
        "scores": rand(1, 12, HEIGHT, WIDTH, low=0, high=1, seed=seed),
        "boxes": rand(1, 24, HEIGHT, WIDTH, low=-0.5, high=0.5, seed=seed),
        "image": np.array([[64, 96, 1]], np.float32),
    }


@pytest.mark.parametrize(
    "param",
    [
        "post_nms_topn: 20",
        "post_nms_topn: 20 pre_nms_topn: 50 nms_thresh: 0.5",
        "post_nms_topn: 300 pre_nms_topn: 100",  # fewer are found
        "post_nms_topn: 9 feat_stride: 8 base_size: 12",
    ],
)
def test_proposals_as_opencv(tmp_path: Path, param: str) -> None:
    # OpenCV ignores min_size.
    text = _proposal(f"{_ANCHORS} {param} min_size: 0")
    FAMILY.check(tmp_path, text, _inputs())
    text = _proposal(f"{_ANCHORS} {param} min_size: 0", 'top: "s"')
    FAMILY.check(tmp_path, text, _inputs(1), ["y", "s"])


def test_small_proposals_are_left_out(tmp_path: Path) -> None:
    inputs = _inputs()
    inputs["image"] = np.array([[64, 96, 0.5]], np.float32)
    every = _proposal(f"{_ANCHORS} post_nms_topn: 300 nms_thresh: 1 min_size: 0")
    graph = import_net(tmp_path, with_inputs(every, inputs), inputs, ["y"])
    boxes = run_graph(graph, inputs)["y"]
    sides = boxes[:, 3:] - boxes[:, 1:3] + 1
    large = boxes[(sides >= 40 * 0.5).all(1)]
    assert 0 < len(large) < 144
    wanted = np.concatenate([large, np.zeros((300 - len(large), 5))])
    text = _proposal(f"{_ANCHORS} post_nms_topn: 300 nms_thresh: 1 min_size: 40")
    FAMILY.check(tmp_path, text, inputs, expected=[wanted])


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("", "ratio and scale are missing"),
        ("ratio: 0 scale: 1", "ratio and scale are missing or not positive"),
        ("ratio: 1 scale: 8", r"\[1, 2, H, W\] is needed for 1 anchors"),
        (f"{_ANCHORS} nms_thresh: 2", "nms_thresh must be"),
        (f"{_ANCHORS} post_nms_topn: 0", "post_nms_topn positive"),
        (f"{_ANCHORS} post_nms_topn: 4294967295", "too large"),
    ],
)
def test_refused_proposals(tmp_path: Path, param: str, message: str) -> None:
    text = with_inputs(_proposal(param), _inputs())
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, text, _inputs(), ["y"])


def test_the_scale_of_the_image_is_needed(tmp_path: Path) -> None:
    inputs = {**_inputs(), "image": rand(1, 2)}
    text = with_inputs(_proposal(_ANCHORS), inputs)
    with pytest.raises(UnsupportedNodesError, match="height, width and scale"):
        import_net(tmp_path, text, inputs, ["y"])


def _pooling(kind: str, param: str) -> str:
    field = f"{kind.lower().replace('pooling', '_pooling')}_param"
    return (
        f'layer {{ name: "p" type: "{kind}" bottom: "x" bottom: "rois" top: "y" '
        f"{field} {{ {param} }} }}"
    )


def _regions(count: int, images: int = 1) -> Array:
    low = rand(count, 2, low=0, high=60)
    size = rand(count, 2, low=5, high=70, seed=1)
    image = np.arange(count)[:, None] % images
    return np.concatenate([image, low, low + size], 1).astype(np.float32)


@pytest.mark.parametrize(("size", "images"), [((7, 7), 1), ((3, 2), 2), ((1, 1), 1)])
def test_roi_pooling(tmp_path: Path, size: tuple[int, int], images: int) -> None:
    # OpenCV refuses regions outside the image.
    inputs = {"x": rand(images, 5, 18, 20), "rois": _regions(12, images)}
    param = f"pooled_h: {size[0]} pooled_w: {size[1]} spatial_scale: 0.125"
    FAMILY.check(tmp_path, _pooling("ROIPooling", param), inputs)
    inputs["rois"] = inputs["rois"].reshape(12, 5, 1, 1)
    FAMILY.check(tmp_path, _pooling("ROIPooling", param), inputs)


@pytest.mark.parametrize("group", [1, 3, 7])
def test_psroi_pooling(tmp_path: Path, group: int) -> None:
    inputs = {"x": rand(1, 2 * group**2, 18, 20), "rois": _regions(12)}
    param = f"spatial_scale: 0.125 output_dim: 2 group_size: {group}"
    FAMILY.check(tmp_path, _pooling("PSROIPooling", param), inputs)


@pytest.mark.parametrize(
    ("kind", "param", "rois", "message"),
    [
        ("ROIPooling", "", (3, 5), "pools 0 x 0"),
        ("ROIPooling", "pooled_h: 2 pooled_w: 70000", (3, 5), "pools 2 x 70000"),
        ("ROIPooling", "pooled_h: 2 pooled_w: 2", (3, 4), r"shape \[3, 4\]"),
        ("PSROIPooling", "spatial_scale: 1", (3, 5), "lacks"),
        (
            "PSROIPooling",
            "spatial_scale: 1 output_dim: 2 group_size: 3",
            (3, 5),
            "4 channels for output_dim 2 and group_size 3",
        ),
    ],
)
def test_refused_pooling(
    tmp_path: Path, kind: str, param: str, rois: tuple[int, ...], message: str
) -> None:
    inputs = {"x": rand(1, 4, 6, 6), "rois": rand(*rois)}
    text = with_inputs(_pooling(kind, param), inputs)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, text, inputs, ["y"])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
