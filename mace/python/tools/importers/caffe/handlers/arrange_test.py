# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrangement, compared with OpenCV or NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, layer_text, rand

FAMILY = Family("arrange")
X = rand(2, 4, 6, 8)


@pytest.mark.parametrize("axis", ["", "axis: 2", "axis: -1"])
def test_concat(tmp_path: Path, axis: str) -> None:
    text = layer_text("Concat", f"concat_param {{ {axis} }}", "x z x")
    FAMILY.check(tmp_path, text, {"x": X, "z": rand(2, 4, 6, 8, seed=1)})


def test_concat_by_its_old_name(tmp_path: Path) -> None:
    # OpenCV does not know it.
    param = "concat_param { concat_dim: 0 }"
    text = layer_text("Concat", param, "x z")
    z = rand(3, 4, 6, 8)
    FAMILY.check(tmp_path, text, {"x": X, "z": z}, expected=[np.concatenate([X, z])])


@pytest.mark.parametrize(
    ("param", "axis", "points"),
    [
        ("axis: 1", 1, [2]),
        ("slice_point: [1, 3]", 1, [1, 3]),
        ("slice_dim: 2 slice_point: 4", 2, [4]),
        ("axis: -1", 3, [4]),
    ],
)
def test_slice(tmp_path: Path, param: str, axis: int, points: list[int]) -> None:
    names = [f"t{i}" for i in range(len(points) + 1)]
    text = layer_text("Slice", f"slice_param {{ {param} }}", "x", " ".join(names))
    wanted = np.split(X, points, axis)
    FAMILY.check(tmp_path, text, {"x": X}, names, expected=wanted)
    if len(points) > 1:
        FAMILY.check(tmp_path, text, {"x": X}, names)


def test_layers_that_do_nothing(tmp_path: Path) -> None:
    text = layer_text("Split", "", "x", "a b", "s")
    text += layer_text("Dropout", "", "a", "a", "d")
    text += layer_text("Eltwise", "", "a b", "y", "e")
    text += layer_text("Silence", "", "b", "", "q")
    FAMILY.check(tmp_path, text, {"x": X}, ["y", "a", "b"], expected=[2 * X, X, X])
    text = layer_text(
        "Dropout", "dropout_param { dropout_ratio: 0.25 scale_train: false }"
    )
    FAMILY.check(tmp_path, text, {"x": X}, expected=[0.75 * X])


def test_parameter(tmp_path: Path) -> None:
    shape, wide = "shape { dim: 4 dim: 8 }", "shape { dim: 1 dim: 4 dim: 8 }"
    text = layer_text("Parameter", f"parameter_param {{ {shape} }}", "", "p", "p")
    text += layer_text("Reshape", f"reshape_param {{ {wide} }}", "p", "q", "r")
    text += layer_text("Concat", "concat_param { axis: 0 }", "x q", "y", "c")
    x, p = rand(2, 4, 8), rand(4, 8)
    wanted = np.concatenate([x, p[None]])
    FAMILY.check(tmp_path, text, {"x": x}, blobs={"p": [p]}, expected=[wanted])


@pytest.mark.parametrize(
    ("param", "wanted"),
    [
        ("", X[:, :, :3, :5]),
        ("offset: [2, 1]", X[:, :, 2:5, 1:6]),
        ("offset: 1", X[:, :, 1:4, 1:6]),
        ("axis: 1 offset: [1, 2, 3]", X[:, 1:3, 2:5, 3:]),
        ("axis: -1 offset: 2", X[:, :, :, 2:7]),
    ],
)
def test_crop(tmp_path: Path, param: str, wanted: np.ndarray) -> None:
    text = layer_text("Crop", f"crop_param {{ {param} }}", "x z")
    FAMILY.check(tmp_path, text, {"x": X, "z": rand(1, 2, 3, 5)}, expected=[wanted])


@pytest.mark.parametrize("param", ["", "axis: 2", "axis: 0 end_axis: 1", "axis: -2"])
def test_flatten(tmp_path: Path, param: str) -> None:
    FAMILY.check(
        tmp_path, layer_text("Flatten", f"flatten_param {{ {param} }}"), {"x": X}
    )


@pytest.mark.parametrize(
    ("param", "shape"),
    [
        ("shape { dim: 0 dim: -1 }", (2, 192)),
        ("shape { dim: 0 dim: 2 dim: -1 dim: 8 }", (2, 2, 12, 8)),
        ("shape { dim: -1 dim: 2 } axis: 1", (2, 96, 2)),
        ("shape { dim: 2 dim: 2 } axis: 1 num_axes: 1", (2, 2, 2, 6, 8)),
        ("shape { dim: 1 } axis: 1 num_axes: 0", (2, 1, 4, 6, 8)),
        ("shape { dim: 8 dim: 6 } axis: -3", (2, 4, 8, 6)),
        ("shape { dim: 1 dim: 1 } axis: -1 num_axes: 0", (2, 4, 6, 8, 1, 1)),
    ],
)
def test_reshape(tmp_path: Path, param: str, shape: tuple[int, ...]) -> None:
    text = layer_text("Reshape", f"reshape_param {{ {param} }}")
    FAMILY.check(tmp_path, text, {"x": X}, expected=[X.reshape(shape)])


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 2, 1, 0], [0, 2]])
def test_permute(tmp_path: Path, order: list[int]) -> None:
    text = layer_text("Permute", f"permute_param {{ order: {order} }}")
    rest = [axis for axis in range(4) if axis not in order]
    wanted = X.transpose([*order, *rest])
    FAMILY.check(tmp_path, text, {"x": X}, expected=[wanted])
    if not rest:
        FAMILY.check(tmp_path, text, {"x": X})


@pytest.mark.parametrize("tiles", [1, 3])
def test_tile(tmp_path: Path, tiles: int) -> None:
    text = layer_text("Tile", f"tile_param {{ axis: 2 tiles: {tiles} }}")
    FAMILY.check(tmp_path, text, {"x": X}, expected=[np.concatenate([X] * tiles, 2)])


def test_shuffle_channel(tmp_path: Path) -> None:
    text = layer_text("ShuffleChannel", "shuffle_channel_param { group: 2 }")
    FAMILY.check(tmp_path, text, {"x": X})
    text = text.replace('"ShuffleChannel"', '"ChannelShuffle"')
    wanted = X.reshape(2, 2, 2, 6, 8).transpose(0, 2, 1, 3, 4).reshape(X.shape)
    FAMILY.check(tmp_path, text, {"x": X}, expected=[wanted])


def test_reorg(tmp_path: Path) -> None:
    FAMILY.check(tmp_path, layer_text("Reorg", "reorg_param { stride: 2 }"), {"x": X})


@pytest.mark.parametrize(
    ("param", "size"),
    [
        ("height: 9 width: 12", (9, 12)),
        ("zoom_factor: 2", (11, 15)),
        ("shrink_factor: 2", (3, 4)),
        ("zoom_factor: 3 shrink_factor: 2", (7, 10)),
        ("height: 4 width: 5 pad_beg: -1 pad_end: -2", (4, 5)),
    ],
)
def test_interp(tmp_path: Path, param: str, size: tuple[int, int]) -> None:
    x = X[:, :, 1:-2, 1:-2] if "pad" in param else X
    wanted = x
    for axis, count in zip((2, 3), size):
        length = wanted.shape[axis]
        at = np.arange(count) * ((length - 1) / max(count - 1, 1))
        low = np.minimum(at.astype(int), length - 1)
        high = np.minimum(low + 1, length - 1)
        share = (at - low).reshape([-1 if a == axis else 1 for a in range(4)])
        wanted = wanted.take(low, axis) * (1 - share) + wanted.take(high, axis) * share
    text = layer_text("Interp", f"interp_param {{ {param} }}")
    FAMILY.check(tmp_path, text, {"x": X}, expected=[wanted])
    text = layer_text("Interp", f"interp_param {{ {param} }}", "x z")
    inputs = {"x": X, "z": rand(1, 1, *size)}
    FAMILY.check(tmp_path, text, inputs, expected=[wanted])


def test_interp_as_opencv(tmp_path: Path) -> None:
    text = layer_text("Interp", "interp_param { height: 9 width: 12 }")
    FAMILY.check(tmp_path, text, {"x": X})


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_upsample(tmp_path: Path, scale: int) -> None:
    text = layer_text("Upsample", f"upsample_param {{ scale: {scale} }}")
    wanted = X.repeat(scale, 2).repeat(scale, 3)
    FAMILY.check(tmp_path, text, {"x": X}, expected=[wanted])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            layer_text("Concat", "concat_param { axis: 1 concat_dim: 1 }"),
            "both axis and",
        ),
        (layer_text("Slice", "slice_param { slice_point: 5 }"), "slice_point"),
        (layer_text("Crop", "crop_param { offset: 4 }", "x z"), "exceed"),
        (
            layer_text("Reshape", "reshape_param { shape { dim: -2 } }"),
            "at most one -1",
        ),
        (layer_text("Reshape", "reshape_param { shape { dim: 7 } }"), "Reshape"),
        (layer_text("Permute", "permute_param { order: 4 }"), "no order of 4"),
        (layer_text("Tile"), "tiles is 0"),
        (
            layer_text("ShuffleChannel", "shuffle_channel_param { group: 3 }"),
            "3 groups",
        ),
        (layer_text("Reorg", "reorg_param { stride: 5 }"), "stride 5"),
        (layer_text("Interp", "interp_param { pad_beg: 1 }"), "pad_beg"),
        (layer_text("Upsample", "", "x x"), "positions of maxima"),
        (
            layer_text("Flatten", "flatten_param { axis: 2 end_axis: 1 }"),
            "is before axis",
        ),
    ],
)
def test_what_cannot_be_converted(tmp_path: Path, layer: str, message: str) -> None:
    inputs = {"x": X, "z": rand(1, 2, 3, 5)}
    FAMILY.refuses(tmp_path, layer, inputs, message)


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
