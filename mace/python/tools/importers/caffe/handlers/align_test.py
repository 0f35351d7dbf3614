# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of regions, compared with ONNX Runtime and with the definition of R-FCN."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from mace.python.tools.importers.caffe.testing import (
    Family,
    import_net,
    rand,
    with_inputs,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.ir.dtypes import Array

FAMILY = Family("align")


def _layer(kind: str, param: str) -> str:
    field = {"ROIAlign": "roi_align", "PSROIAlign": "psroi_align"}[kind]
    return (
        f'layer {{ name: "p" type: "{kind}" bottom: "x" bottom: "rois" top: "y" '
        f"{field}_param {{ {param} }} }}"
    )


def _regions(count: int, images: int = 1) -> Array:
    """Some of them leave the image, of 18 x 20 elements; the last one is empty."""
    low = rand(count, 2, low=-20, high=120)
    size = rand(count, 2, low=2, high=120, seed=1)
    size[-1] = -9
    image = np.arange(count)[:, None] % images
    return np.concatenate([image, low, low + size], 1).astype(np.float32)


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
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(
                name, types.get(name, onnx.TensorProto.FLOAT), array.shape
            )
            for name, array in inputs.items()
        ],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9
    )
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
    inputs = {"x": rand(images, 5, 18, 20), "rois": _regions(9, images)}
    wanted = _by_onnxruntime(inputs["x"], inputs["rois"], size, ratio)
    param = (
        f"pooled_h: {size[0]} pooled_w: {size[1]} spatial_scale: 0.125 "
        f"sampling_ratio: {ratio}"
    )
    FAMILY.check(tmp_path, _layer("ROIAlign", param), inputs, expected=[wanted])


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
    inputs = {"x": rand(images, 2 * group**2, 18, 20), "rois": _regions(9, images)}
    wanted = _defined(inputs["x"], inputs["rois"], 2, group, samples)
    assert np.count_nonzero(wanted) > wanted.size // 3
    param = (
        f"spatial_scale: 0.125 output_dim: 2 group_size: {group} sample_num: {samples}"
    )
    text = _layer("PSROIAlign", param)
    FAMILY.check(tmp_path, text, inputs, expected=[wanted], tolerance=5e-5)
    inputs["rois"] = inputs["rois"].reshape(9, 5, 1, 1)
    FAMILY.check(tmp_path, text, inputs, expected=[wanted], tolerance=5e-5)


@pytest.mark.parametrize(
    ("kind", "param", "message"),
    [
        ("ROIAlign", "pooled_h: 2 pooled_w: 2", "only that with sampling_ratio"),
        ("ROIAlign", "sampling_ratio: 2", "pools 0 x 0"),
        ("ROIAlign", "pooled_h: 2 pooled_w: 2 sampling_ratio: 99", "more than 64"),
        (
            "PSROIAlign",
            "spatial_scale: 1 output_dim: 1 group_size: 2",
            "only that with sample_num",
        ),
        (
            "PSROIAlign",
            "spatial_scale: 1 output_dim: 1 group_size: 2 sample_num: 0",
            "sample_num: 0",
        ),
        (
            "PSROIAlign",
            "spatial_scale: 1 output_dim: 2 group_size: 3 sample_num: 2",
            "4 channels for output_dim 2 and group_size 3",
        ),
    ],
)
def test_refused(tmp_path: Path, kind: str, param: str, message: str) -> None:
    inputs = {"x": rand(1, 4, 6, 6), "rois": rand(3, 5)}
    text = with_inputs(_layer(kind, param), inputs)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, text, inputs, ["y"])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
