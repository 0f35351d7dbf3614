# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Resizing and sampling of images compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat

_X = normal(2, 3, 6, 9)
_NO_ROI = np.array([], np.float32)


def _model(
    op_type: str, x: Array, opset: int, constants: dict[str, Array], **attrs: Any
) -> onnx.ModelProto:
    """A node whose inputs after the first are the constants, by position."""
    names = [name if a.size or name == "roi" else "" for name, a in constants.items()]
    node = onnx.helper.make_node(op_type, ["x", *names], ["y"], **attrs)
    given = {name: constants[name] for name in names if name}
    return make_model([node], {"x": x}, ["y"], given, opset)


def _resize(
    x: Array,
    opset: int = 19,
    scales: Sequence[float] = (),
    sizes: Sequence[int] = (),
    **attrs: Any,
) -> onnx.ModelProto:
    constants = {"roi": _NO_ROI, "scales": np.array(scales, np.float32)}
    if len(sizes):
        constants["sizes"] = np.array(sizes, np.int64)
    return _model("Resize", x, opset, constants, **attrs)


def _check(model: onnx.ModelProto, x: Array, folder: Path) -> None:
    found, wanted = run_mace(model, {"x": x}, folder), run_onnxruntime(model, {"x": x})
    assert_same(found, wanted, rtol=2e-5)


_SIZES = [(12, 18), (11, 5), (3, 20), (1, 1)]


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize(
    "coordinates",
    [
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
    ],
)
def test_coordinates(mode: str, coordinates: str, tmp_path: Path) -> None:
    for size in _SIZES:
        model = _resize(
            _X,
            sizes=(2, 3, *size),
            mode=mode,
            coordinate_transformation_mode=coordinates,
        )
        _check(model, _X, tmp_path)


@pytest.mark.parametrize(
    "rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
)
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
def test_nearest(rounding: str, coordinates: str, tmp_path: Path) -> None:
    # Factors that float32 holds: onnxruntime's positions are rounded otherwise.
    for scales in ((1, 1, 2, 4), (1, 1, 0.5, 2), (1, 1, 1, 3)):
        model = _resize(
            _X,
            11,
            scales,
            mode="nearest",
            nearest_mode=rounding,
            coordinate_transformation_mode=coordinates,
        )
        _check(model, _X, tmp_path)


def test_nearest_as_old_tensorflow_had_it(tmp_path: Path) -> None:
    for scales in ((1, 1, 2, 4), (1, 1, 0.5, 3)):
        model = _resize(
            _X,
            11,
            scales,
            mode="nearest",
            nearest_mode="floor",
            coordinate_transformation_mode="tf_half_pixel_for_nn",
        )
        _check(model, _X, tmp_path)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_scales(mode: str, opset: int, tmp_path: Path) -> None:
    for scales in ((1, 1, 2, 3), (1, 1, 0.7, 1.3), (1, 1, 0.34, 1)):
        _check(_resize(_X, opset, scales, mode=mode), _X, tmp_path)


def test_exclude_outside(tmp_path: Path) -> None:
    for size in _SIZES:
        model = _resize(
            _X, sizes=(2, 3, *size), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1
        )
        _check(model, _X, tmp_path)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_aspect_ratio(policy: str, tmp_path: Path) -> None:
    model = _resize(
        _X,
        sizes=(9, 12),
        mode="linear",
        axes=[2, 3],
        keep_aspect_ratio_policy=policy,
    )
    _check(model, _X, tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("opset", [7, 9])
def test_upsample(mode: str, opset: int, tmp_path: Path) -> None:
    scales = [1.0, 1.0, 2.0, 3.0]
    if opset < 9:
        model = _model("Upsample", _X, opset, {}, mode=mode, scales=scales)
    else:
        constants = {"scales": np.array(scales, np.float32)}
        model = _model("Upsample", _X, opset, constants, mode=mode)
    _check(model, _X, tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_before_coordinates(mode: str, tmp_path: Path) -> None:
    for scales in ([1, 1, 2, 3], [1, 1, 0.5, 0.4]):
        constants = {"scales": np.array(scales, np.float32)}
        _check(_model("Resize", _X, 10, constants, mode=mode), _X, tmp_path)


def test_other_axes(tmp_path: Path) -> None:
    """Height and width in places 1 and 2, and lines."""
    _check(_resize(_X, scales=(1, 2, 2, 1), mode="linear"), _X, tmp_path)
    line = normal(2, 3, 7)
    _check(_resize(line, scales=(1, 1, 2), mode="linear"), line, tmp_path)
    _check(_resize(line, sizes=(2, 3, 5), mode="nearest"), line, tmp_path)
    _check(_resize(line, scales=(1, 1, 1), mode="linear"), line, tmp_path)


_REFUSED: list[tuple[onnx.ModelProto, str]] = [
    (_resize(_X, scales=(1, 2, 2, 2), mode="linear"), "resizes the axes [1, 2, 3]"),
    (_resize(_X, scales=(1, 1, 2), mode="linear"), "3 scales for 4 axes"),
    (_resize(_X, sizes=(2, 3, 9), mode="linear"), "3 sizes for 4 axes"),
    (
        _resize(
            _X,
            scales=(1, 1, 2, 2),
            coordinate_transformation_mode="tf_crop_and_resize",
        ),
        "tf_crop_and_resize is supported with mode linear",
    ),
    (
        _model(
            "Resize",
            _X,
            10,
            {"scales": np.array([1, 1, 2, 0.5], np.float32)},
            mode="nearest",
        ),
        "enlarge and reduce",
    ),
]


@pytest.mark.parametrize(("model", "reason"), _REFUSED)
def test_refusals(model: onnx.ModelProto, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedNodesError) as error:
        run_mace(model, {"x": _X}, tmp_path)
    assert reason in str(error.value)


def _by_shape(keep: tuple[int, int], axes: list[int] | None = None) -> onnx.ModelProto:
    """Twice as large by arithmetic on the shape, as PyTorch writes it."""
    make = onnx.helper.make_node
    nodes = [
        make("Shape", ["x"], ["shape"]),
        make("Slice", ["shape", "from", "to", "zero"], ["kept"]),
        make("Slice", ["shape", "two", "four", "zero"], ["hw"]),
        make("Mul", ["hw", "two"], ["twice"]),
        make("Concat", ["kept", "twice"], ["all"], axis=0),
        make(
            "Resize",
            ["x", "", "", "twice" if axes else "all"],
            ["y"],
            mode="linear",
            **({"axes": axes} if axes else {}),
        ),
    ]
    numbers = {"from": keep[0], "to": keep[1], "zero": 0, "two": 2, "four": 4}
    constants = {name: np.array([n], np.int64) for name, n in numbers.items()}
    return make_model(nodes, {"x": _X}, ["y"], constants, 19)


def _import_any_size(model: onnx.ModelProto, folder: Path) -> Any:
    dims = model.graph.input[0].type.tensor_type.shape.dim
    for index, dim in enumerate(dims):
        dim.dim_param = f"d{index}"
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    shape = (-1, 3, *[-1] * (len(dims) - 2))
    inputs = (InputSpec("x", shape, data_format=DataFormat.NONE),)
    outputs = (OutputSpec("y", DataFormat.NONE),)
    return import_model(ImportRequest("model", path, inputs, outputs))


@pytest.mark.parametrize("axes", [None, [2, 3]])
def test_sizes_that_follow_from_shapes(axes: list[int] | None, tmp_path: Path) -> None:
    model = _by_shape((0, 2), axes)
    graph = _import_any_size(model, tmp_path)
    for x in (_X, normal(1, 3, 5, 4)):
        wanted = run_onnxruntime(model, {"x": x})
        assert_same([run_graph(graph, {"x": x})["y"]], wanted, rtol=2e-5)


def test_sizes_that_may_resize_channels(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedNodesError, match=r"resize the axes \[0, 1, 2, 3\]"):
        _import_any_size(_by_shape((1, 3)), tmp_path)


def _stretched(rank: int, axes: Sequence[int], **attrs: Any) -> onnx.ModelProto:
    """Other lengths of some axes by arithmetic on the shape."""
    make = onnx.helper.make_node
    nodes = [make("Shape", ["x"], ["shape"])]
    for axis in range(rank):
        nodes.append(make("Gather", ["shape", f"at{axis}"], [f"own{axis}"]))
        if axis in axes:
            nodes.append(make("Mul", [f"own{axis}", f"times{axis}"], [f"all{axis}"]))
    parts = [f"{'all' if axis in axes else 'own'}{axis}" for axis in range(rank)]
    nodes.append(make("Concat", parts, ["sizes"], axis=0))
    nodes.append(make("Resize", ["x", "", "", "sizes"], ["y"], **attrs))
    constants = {}
    for axis in range(rank):
        constants[f"at{axis}"] = np.array([axis], np.int64)
        constants[f"times{axis}"] = np.array([axis], np.int64)
    x = normal(2, 3, *range(4, 2 + rank))
    return make_model(nodes, {"x": x}, ["y"], constants, 19)


@pytest.mark.parametrize(
    "attrs",
    [
        {"mode": "nearest", "nearest_mode": "floor"},
        {"mode": "linear"},
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    ],
)
@pytest.mark.parametrize(
    ("rank", "axes"),
    [(3, [2]), (4, [1, 2]), (4, [2, 3]), (5, [2]), (5, [3, 4]), (5, [2, 3, 4])],
)
def test_sizes_of_lines_and_volumes_that_follow_from_shapes(
    rank: int, axes: list[int], attrs: dict[str, Any], tmp_path: Path
) -> None:
    if axes == [1, 2]:  # images with channels last
        attrs = {k: v for k, v in attrs.items() if k != "nearest_mode"}
    model = _stretched(rank, axes, **attrs)
    graph = _import_any_size(model, tmp_path)
    for x in (normal(2, 3, *range(4, 2 + rank)), normal(1, 3, *range(3, 1 + rank))):
        wanted = run_onnxruntime(model, {"x": x})
        assert_same([run_graph(graph, {"x": x})["y"]], wanted, rtol=2e-5)


@pytest.mark.parametrize(
    "attrs",
    [
        {"mode": "nearest", "nearest_mode": "floor"},
        {"mode": "linear"},
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    ],
)
@pytest.mark.parametrize(
    "given", [{"sizes": [1, 2, 6, 4, 9]}, {"scales": [1, 1, 2, 0.5, 1]}]
)
def test_volumes(given: dict[str, Any], attrs: dict[str, Any], tmp_path: Path) -> None:
    x = normal(1, 2, 3, 6, 4)
    _check(_resize(x, **given, **attrs), x, tmp_path)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_integers_between_integers(mode: str, dtype: Any, tmp_path: Path) -> None:
    """Floats are computed, of which the whole part is taken."""
    bounds = np.iinfo(dtype)
    x = np.random.default_rng(4).integers(
        bounds.min // 2, bounds.max // 2, (1, 2, 5, 6), dtype
    )
    node = onnx.helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode)
    scales = {"scales": np.array([1, 1, 2, 1.5], np.float32)}
    model = make_model([node], {"x": x}, ["y"], scales, opset=13)
    wide = make_model([node], {"x": x.astype(np.float32)}, ["y"], scales, opset=13)
    (found,) = run_mace(model, {"x": x}, tmp_path)
    (floats,) = run_onnxruntime(wide, {"x": x.astype(np.float32)})
    assert found.dtype == dtype
    # Rounding of the floats may put one on the other side of an integer.
    near = np.abs(floats - np.round(floats)) < 1e-3
    assert near.mean() < 0.5
    np.testing.assert_array_equal(
        found[~near], np.clip(np.trunc(floats), bounds.min, bounds.max)[~near]
    )
    assert np.abs(found - np.clip(floats, bounds.min, bounds.max)).max() <= 1.001


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
    compare(model, inputs, tmp_path)


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("padding_mode", ["zeros", "border"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_sampling_volumes(
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
    compare(model, inputs, tmp_path)


def test_modes_of_operator_set_16(tmp_path: Path) -> None:
    inputs = {"x": normal(1, 2, 6, 7), "grid": normal(1, 5, 4, 2)}
    for mode in ("bilinear", "bicubic"):
        model = _sample(16, *inputs.values(), mode=mode)
        compare(model, inputs, tmp_path)


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
    compare(model, {"x": x}, tmp_path)
