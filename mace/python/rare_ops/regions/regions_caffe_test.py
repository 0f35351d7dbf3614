# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Regions and their pooling, compared with OpenCV, with ONNX Runtime, and with the
definition where OpenCV deviates from it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from mace.python.tools.importers.caffe.testing import (
    Family,
    import_net,
    layer_text,
    rand,
    with_inputs,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph

FAMILY = Family("regions_caffe")
HEIGHT, WIDTH = 4, 6
_ANCHORS = "ratio: [0.5, 1, 2] scale: [2, 4]"


def _proposal(param: str, tops: str = "y") -> str:
    param = f"proposal_param {{ {param} }}"
    return layer_text("Proposal", param, "scores boxes image", tops)


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
    text = _proposal(f"{_ANCHORS} {param} min_size: 0", "y s")
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
    FAMILY.refuses(tmp_path, _proposal(param), _inputs(), message)


def test_the_scale_of_the_image_is_needed(tmp_path: Path) -> None:
    inputs = {**_inputs(), "image": rand(1, 2)}
    text, message = _proposal(_ANCHORS), "height, width and scale"
    FAMILY.refuses(tmp_path, text, inputs, message)


_PARAMS = {
    "PSROIAlign": "psroi_align_param",
    "PSROIPooling": "psroi_pooling_param",
    "ROIAlign": "roi_align_param",
}


def _of_regions(kind: str, param: str) -> str:
    return layer_text(kind, f"{_PARAMS[kind]} {{ {param} }}", "x rois")


def _regions(low: Array, size: Array, images: int = 1) -> Array:
    image = np.arange(len(low))[:, None] % images
    return np.concatenate([image, low, low + size], 1).astype(np.float32)


def _inside(count: int, images: int = 1) -> Array:
    low = rand(count, 2, low=0, high=60)
    return _regions(low, rand(count, 2, low=5, high=70, seed=1), images)


def _around(count: int, images: int = 1) -> Array:
    """Some of them leave the image, of 18 x 20 elements; the last one is empty."""
    size = rand(count, 2, low=2, high=120, seed=1)
    size[-1] = -9
    return _regions(rand(count, 2, low=-20, high=120), size, images)


@pytest.mark.parametrize("group", [1, 3, 7])
def test_psroi_pooling(tmp_path: Path, group: int) -> None:
    inputs = {"x": rand(1, 2 * group**2, 18, 20), "rois": _inside(12)}
    param = f"spatial_scale: 0.125 output_dim: 2 group_size: {group}"
    FAMILY.check(tmp_path, _of_regions("PSROIPooling", param), inputs)


def _by_onnxruntime(x: Array, rois: Array, size: tuple[int, int], ratio: int) -> Array:
    onnxruntime = pytest.importorskip("onnxruntime")
    node = helper.make_node(
        "RoiAlign",
        ["x", "rois", "images"],
        ["y"],
        coordinate_transformation_mode="output_half_pixel",
        output_height=size[0],
        output_width=size[1],
        sampling_ratio=max(ratio, 0),
        spatial_scale=0.125,
    )
    inputs = {
        "x": x,
        "rois": np.ascontiguousarray(rois[:, 1:]),
        "images": rois[:, 0].astype(np.int64),
    }
    types = {"images": onnx.TensorProto.INT64}
    info, floats = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    given = [info(n, types.get(n, floats), a.shape) for n, a in inputs.items()]
    graph = helper.make_graph([node], "g", given, [info("y", floats, None)])
    opset = helper.make_opsetid("", 16)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return np.asarray(session.run(None, inputs)[0])


@pytest.mark.parametrize(
    ("size", "ratio", "images"), [((7, 7), 2, 1), ((3, 2), -1, 2), ((1, 4), 0, 1)]
)
def test_roi_align(
    tmp_path: Path, size: tuple[int, int], ratio: int, images: int
) -> None:
    inputs = {"x": rand(images, 5, 18, 20), "rois": _around(9, images)}
    wanted = _by_onnxruntime(inputs["x"], inputs["rois"], size, ratio)
    param = (
        f"pooled_h: {size[0]} pooled_w: {size[1]} spatial_scale: 0.125 "
        f"sampling_ratio: {ratio}"
    )
    FAMILY.check(tmp_path, _of_regions("ROIAlign", param), inputs, expected=[wanted])


def _defined(x: Array, rois: Array, dim: int, group: int, samples: int) -> Array:
    """R-FCN with aligned regions, element by element."""
    height, width = x.shape[2:]
    result = np.zeros((len(rois), dim, group, group))
    for r, c, i, j in np.ndindex(*result.shape):
        image, x1, y1, x2, y2 = (float(number) for number in rois[r])
        left, top = x1 / 8, y1 / 8
        step_h = max((y2 + 1) / 8 - top, 0.1) / group
        step_w = max((x2 + 1) / 8 - left, 0.1) / group
        y0, y9 = np.clip([top + i * step_h, top + (i + 1) * step_h], 0, height - 1)
        x0, x9 = np.clip([left + j * step_w, left + (j + 1) * step_w], 0, width - 1)
        plane = x[int(image), (c * group + i) * group + j].astype(np.float64)
        total = 0.0
        for a, b in np.ndindex(samples, samples):
            y = y0 + (a + 1) * step_h / (samples + 1)
            z = x0 + (b + 1) * step_w / (samples + 1)
            if y >= y9 or z >= x9:
                continue
            h, w = min(int(y), height - 2), min(int(z), width - 2)
            rows = plane[h : h + 2, w : w + 2]
            total += np.array([h + 1 - y, y - h]) @ rows @ np.array([w + 1 - z, z - w])
        result[r, c, i, j] = total / samples**2
    return result


@pytest.mark.parametrize(
    ("group", "samples", "images"), [(1, 1, 1), (3, 2, 2), (7, 4, 1)]
)
def test_psroi_align(tmp_path: Path, group: int, samples: int, images: int) -> None:
    inputs = {"x": rand(images, 2 * group**2, 18, 20), "rois": _around(9, images)}
    wanted = _defined(inputs["x"], inputs["rois"], 2, group, samples)
    assert np.count_nonzero(wanted) > wanted.size // 3
    param = (
        f"spatial_scale: 0.125 output_dim: 2 group_size: {group} sample_num: {samples}"
    )
    text = _of_regions("PSROIAlign", param)
    FAMILY.check(tmp_path, text, inputs, expected=[wanted], tolerance=5e-5)
    inputs["rois"] = inputs["rois"].reshape(9, 5, 1, 1)
    FAMILY.check(tmp_path, text, inputs, expected=[wanted], tolerance=5e-5)


_GROUPS = "spatial_scale: 1 output_dim: {} group_size: {}"


@pytest.mark.parametrize(
    ("kind", "param", "message"),
    [
        ("PSROIPooling", "spatial_scale: 1", "lacks"),
        (
            "PSROIPooling",
            _GROUPS.format(2, 3),
            "4 channels for output_dim 2 and group_size 3",
        ),
        ("ROIAlign", "pooled_h: 2 pooled_w: 2", "only that with sampling_ratio"),
        ("ROIAlign", "sampling_ratio: 2", "pools 0 x 0"),
        ("ROIAlign", "pooled_h: 2 pooled_w: 2 sampling_ratio: 99", "more than 64"),
        ("PSROIAlign", _GROUPS.format(1, 2), "only that with sample_num"),
        ("PSROIAlign", f"{_GROUPS.format(1, 2)} sample_num: 0", "sample_num: 0"),
        (
            "PSROIAlign",
            f"{_GROUPS.format(2, 3)} sample_num: 2",
            "4 channels for output_dim 2 and group_size 3",
        ),
    ],
)
def test_refused_layers_of_regions(
    tmp_path: Path, kind: str, param: str, message: str
) -> None:
    inputs = {"x": rand(1, 4, 6, 6), "rois": rand(3, 5)}
    FAMILY.refuses(tmp_path, _of_regions(kind, param), inputs, message)


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
