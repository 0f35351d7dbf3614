# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes compared with onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    make_model,
    normal,
    request_for,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Target
from mace.python.tools.passes.expand_composites import ExpandComposites
from mace.python.tools.passes.manager import optimize


def _check(tmp_path: Path, x: Array, node: Any, **constants: Array) -> None:
    model = make_model([node], {"x": x}, ["y"], constants)
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 1, 3], "pads": [1, 0, 2, 2, 1, 0]},
        {"dilations": [2, 3, 1], "pads": [2, 3, 0, 1, 2, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2, 1]},
        {"auto_pad": "SAME_LOWER", "strides": [3, 1, 2]},
        {"auto_pad": "VALID"},
    ],
)
def test_conv(attributes: dict[str, Any], groups: int, tmp_path: Path) -> None:
    w, b = normal(8, 4 // groups, 3, 2, 3), normal(8)
    node = onnx.helper.make_node(
        "Conv", ["x", "w", "b"], ["y"], group=groups, **attributes
    )
    _check(tmp_path, normal(2, 4, 7, 6, 8), node, w=w, b=b)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 1, 3], "pads": [1, 0, 2, 2, 1, 0]},
        {"strides": [3, 2, 2], "output_padding": [2, 1, 0]},
        {"dilations": [2, 1, 3], "strides": [2, 2, 1], "pads": [4, 1, 2, 4, 1, 3]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2, 1]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 3, 2]},
        {"output_shape": [8, 6, 11], "strides": [2, 1, 2]},
        # Each slice of the output comes of one slice of the input.
        {"strides": [3, 2, 2]},
    ],
)
def test_conv_transpose(
    attributes: dict[str, Any], groups: int, tmp_path: Path
) -> None:
    w, b = normal(4, 6 // groups, 3, 2, 3), normal(6)
    node = onnx.helper.make_node(
        "ConvTranspose", ["x", "w", "b"], ["y"], group=groups, **attributes
    )
    _check(tmp_path, normal(2, 4, 4, 5, 5), node, w=w, b=b)


@pytest.mark.parametrize("groups", [1, 2])
def test_channels_that_only_the_filter_tells(groups: int, tmp_path: Path) -> None:
    """The file leaves all dimensions open, that of the channels, too."""
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], group=groups)
    x = {"x": normal(2, 4, 5, 4, 6)}
    model = make_model([node], x, ["y"], {"w": normal(4, 4 // groups, 3, 3, 2)})
    for axis, dim in enumerate(model.graph.input[0].type.tensor_type.shape.dim):
        dim.dim_param = f"d{axis}"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    request = request_for(path, x, ["y"])
    inputs = (replace(request.inputs[0], shape=()),)
    graph = import_model(replace(request, inputs=inputs))
    assert_same([run_graph(graph, x)["y"]], run_onnxruntime(model, x))


def test_a_filter_of_depth_1(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], group=2)
    _check(tmp_path, normal(1, 4, 5, 4, 4), node, w=normal(2, 2, 1, 3, 3))


_POOLS: list[dict[str, Any]] = [
    {},
    {"strides": [2, 1, 3], "pads": [1, 0, 2, 0, 1, 1]},
    {"strides": [2, 2, 2], "ceil_mode": 1, "pads": [1, 1, 1, 1, 0, 1]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2, 1]},
    {"dilations": [2, 1, 2]},
]


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("target", [Target(), Target(("CPU",))])
@pytest.mark.parametrize(
    ("is_open", "attributes"),
    [
        (is_open, attributes)
        for is_open in (False, True)
        for attributes in _POOLS
        # Such padding depends on the lengths.
        if not is_open or "auto_pad" not in attributes
    ],
)
def test_pool(
    op_type: str,
    attributes: dict[str, Any],
    is_open: bool,
    target: Target,
    tmp_path: Path,
) -> None:
    node = onnx.helper.make_node(
        op_type, ["x"], ["y"], kernel_shape=[2, 2, 3], **attributes
    )
    x = {"x": normal(2, 3, 6, 7, 8)}
    model = make_model([node], x, ["y"])
    path = tmp_path / "model.onnx"
    request = request_for(path, x, ["y"])
    if is_open:
        (info,) = model.graph.input
        for axis in (0, 2, 3, 4):
            info.type.tensor_type.shape.dim[axis].dim_param = f"d{axis}"
        request = replace(request, inputs=(replace(request.inputs[0], shape=()),))
    path.write_bytes(model.SerializeToString())
    graph = import_model(request)
    assert "VolumePooling" in [op.type for op in graph.ops]
    graph.target = target
    ExpandComposites().run(graph)
    assert ("VolumePooling" in [op.type for op in graph.ops]) == bool(target.devices)
    assert_same([run_graph(graph, x)["y"]], run_onnxruntime(model, x))


def test_average_with_padding(tmp_path: Path) -> None:
    node = onnx.helper.make_node(
        "AveragePool", ["x"], ["y"], kernel_shape=[3, 3, 3], pads=[1] * 6,
        count_include_pad=1,
    )  # fmt: skip
    _check(tmp_path, normal(1, 2, 4, 5, 4), node)


_WINDOWS: list[dict[str, Any]] = [
    {},
    {"strides": [2, 1, 3], "pads": [1, 0, 1, 1, 1, 0]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2, 1]},
    {"auto_pad": "SAME_LOWER", "strides": [3, 1, 2]},
    {"dilations": [2, 3, 1], "pads": [1, 1, 0, 1, 1, 1]},
]


@pytest.mark.parametrize("attributes", _WINDOWS)
def test_places_of_maxima(attributes: dict[str, Any], tmp_path: Path) -> None:
    node = onnx.helper.make_node(
        "MaxPool", ["x"], ["y", "i"], kernel_shape=[3, 2, 3], **attributes
    )
    x = normal(2, 3, 7, 6, 8)
    model = make_model([node], {"x": x}, ["y", "i"])
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("attributes", _WINDOWS)
def test_roots_of_sums_of_powers(
    attributes: dict[str, Any], power: int, tmp_path: Path
) -> None:
    node = onnx.helper.make_node(
        "LpPool", ["x"], ["y"], kernel_shape=[3, 2, 3], p=power, **attributes
    )
    _check(tmp_path, normal(2, 3, 7, 6, 8), node)


def test_pooling_behind_a_convolution_turns_nothing(tmp_path: Path) -> None:
    make = onnx.helper.make_node
    nodes = [
        make("Conv", ["x", "w"], ["c"]),
        make("Relu", ["c"], ["r"]),
        make("MaxPool", ["r"], ["p"], kernel_shape=[2, 2, 2], strides=[2, 2, 2]),
        make("Conv", ["p", "v"], ["y"]),
    ]
    inputs = {"x": normal(1, 2, 8, 9, 9)}
    constants = {"w": normal(4, 2, 3, 3, 3), "v": normal(5, 4, 1, 2, 2)}
    model = make_model(nodes, inputs, ["y"], constants)
    graph = import_proto(model, inputs, ["y"], tmp_path)
    optimize(graph)
    assert [op.type for op in graph.ops].count("Transpose") == 2
    found = run_graph(graph, inputs)["y"]
    assert_same([found], run_onnxruntime(model, inputs))


@pytest.mark.parametrize("op_type", ["GlobalMaxPool", "GlobalAveragePool"])
def test_global_pool(op_type: str, tmp_path: Path) -> None:
    node = onnx.helper.make_node(op_type, ["x"], ["y"])
    _check(tmp_path, normal(2, 3, 4, 5, 2), node)


def test_what_cannot_be_computed_is_refused(tmp_path: Path) -> None:
    def refused(reason: str, node: Any, **constants: Array) -> None:
        x = normal(1, 4, 3, 4, 4)
        inputs = {"x": x, **({} if "b" in constants else {"b": normal(2)})}
        with pytest.raises(UnsupportedNodesError, match=reason):
            model = make_model([node], inputs, ["y"], constants)
            import_proto(model, inputs, ["y"], tmp_path)

    w = normal(2, 4, 4, 3, 3)
    conv = onnx.helper.make_node
    refused("bias.*at run time", conv("Conv", ["x", "w", "b"], ["y"]), w=w[:, :, :2])
    refused("a depth of 3 is too small", conv("Conv", ["x", "w"], ["y"]), w=w)
    small = np.ascontiguousarray(w[:, :, :2])
    refused("negative pads", conv("Conv", ["x", "w"], ["y"], pads=[-1] * 6), w=small)
