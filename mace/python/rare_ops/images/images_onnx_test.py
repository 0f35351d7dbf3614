# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of images compared with onnxruntime."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_operator,
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


def _model(
    x: Array, inputs: dict[str, Array], w: Array, **attributes: Any
) -> onnx.ModelProto:
    names = ["x", "w", "offset", "b", "mask" if "mask" in inputs else ""]
    node = onnx.helper.make_node("DeformConv", names, ["y"], **attributes)
    constants = {"w": w, "b": normal(len(w))}
    return make_model([node], inputs, ["y"], constants, 19)


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 2, 0, 1]}],
)
def test_deform_conv(
    attributes: dict[str, Any],
    groups: int,
    parts: int,
    with_mask: bool,
    tmp_path: Path,
) -> None:
    x, w = normal(2, 4, 8, 9), normal(6, 4 // groups, 3, 2)
    rows, columns = (4, 10) if attributes else (6, 8)
    inputs = {"x": x, "offset": normal(2, 2 * parts * 6, rows, columns)}
    if with_mask:
        inputs["mask"] = normal(2, parts * 6, rows, columns)
    model = _model(x, inputs, w, group=groups, offset_group=parts, **attributes)
    (found,) = run_mace(model, inputs, tmp_path)
    (wanted,) = run_onnxruntime(model, inputs)
    # Positions pass through those of GridSample, in [-1, 1].
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    inputs = {"x": normal(1, 4, 5, 5), "offset": normal(1, 16, 4, 4)}
    model = _model(inputs["x"], inputs, normal(2, 4, 3, 3))
    with pytest.raises(UnsupportedNodesError, match="16 offsets and 4 channels"):
        import_proto(model, inputs, ["y"], tmp_path)


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


def _check(tmp_path: Path, op_type: str, x: Array, **attrs: Any) -> None:
    node = onnx.helper.make_node(op_type, ["x"], ["y"], **attrs)
    compare(make_model([node], {"x": x}, ["y"], opset=18), {"x": x}, tmp_path)


@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 3, 5, 4), (1, 2, 3, 4, 2)])
def test_roots_of_whole_images(shape: tuple[int, ...], tmp_path: Path) -> None:
    _check(tmp_path, "GlobalLpPool", normal(*shape))


@pytest.mark.parametrize("power", [1, 2, 3])
def test_roots_of_sums_of_powers(power: int, tmp_path: Path) -> None:
    for kernel, stride, pads, dilations in itertools.product(
        ([3, 2],), ([1, 1], [2, 3]), ([0, 0, 0, 0], [1, 0, 1, 1]), ([1, 1], [2, 1])
    ):
        attrs: dict[str, Any] = {"kernel_shape": kernel, "strides": stride, "p": power}
        _check(
            tmp_path,
            "LpPool",
            normal(2, 4, 11, 9),
            pads=pads,
            dilations=dilations,
            **attrs,
        )
    attrs = {"kernel_shape": [3, 2], "p": power, "strides": [2, 2]}
    for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        _check(tmp_path, "LpPool", normal(2, 4, 11, 9), auto_pad=auto_pad, **attrs)
    _check(tmp_path, "LpPool", normal(2, 3, 9), kernel_shape=[2], p=power)


def test_windows_beyond_the_image_that_ceil_mode_adds(tmp_path: Path) -> None:
    x = normal(1, 1, 5, 6)
    attrs = {"kernel_shape": [2, 3], "strides": [2, 2], "p": 2}
    node = onnx.helper.make_node("LpPool", ["x"], ["y"], ceil_mode=1, **attrs)
    model = make_model([node], {"x": x}, ["y"], opset=18)
    padded = np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 1)])
    node = onnx.helper.make_node("LpPool", ["x"], ["y"], **attrs)
    floor = make_model([node], {"x": padded}, ["y"], opset=18)
    wanted = run_onnxruntime(floor, {"x": padded})
    assert_same(run_mace(model, {"x": x}, tmp_path), wanted)


@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 1]}, {"pads": [1, 0, 2, 1]}, {"dilations": [1, 2]}],
)
def test_columns_become_an_image(attributes: dict[str, Any], tmp_path: Path) -> None:
    image, block = np.array([6, 7]), np.array([2, 3])
    pads = attributes.get("pads", [0] * 4)
    counts = [
        (
            image[i]
            + pads[i]
            + pads[2 + i]
            - (block[i] - 1) * attributes.get("dilations", [1, 1])[i]
            - 1
        )
        // attributes.get("strides", [1, 1])[i]
        + 1
        for i in range(2)
    ]
    inputs = {"x": normal(2, 3 * 6, counts[0] * counts[1])}
    node = onnx.helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **attributes)
    model = make_model([node], inputs, ["y"], {"i": image, "b": block})
    compare(model, inputs, tmp_path)
