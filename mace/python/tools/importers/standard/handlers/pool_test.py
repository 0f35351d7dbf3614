# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling and convolution against onnxruntime over odd windows."""

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
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_X = normal(2, 4, 11, 9)


def _check(tmp_path: Path, op_type: str, x: Array, opset: int, **attrs: Any) -> None:
    node = onnx.helper.make_node(op_type, ["x"], ["y"], **attrs)
    model = make_model([node], {"x": x}, ["y"], opset=opset)
    compare(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_windows(op_type: str, ceil_mode: int, tmp_path: Path) -> None:
    average = op_type == "AveragePool"
    for kernel, stride, pads, include in itertools.product(
        ([3, 2], [2, 4]),
        ([1, 1], [2, 3]),
        ([0, 0, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0]),
        (0, 1) if average else (0,),
    ):
        attrs: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": stride,
            "pads": pads,
        }
        if average:
            attrs["count_include_pad"] = include
        _check(tmp_path, op_type, _X, 19, ceil_mode=ceil_mode, **attrs)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_auto_pad(op_type: str, auto_pad: str, tmp_path: Path) -> None:
    for stride in ([1, 1], [2, 3]):
        attrs: dict[str, Any] = {"kernel_shape": [3, 4], "strides": stride}
        _check(tmp_path, op_type, _X, 12, auto_pad=auto_pad, **attrs)


def test_one_dimension(tmp_path: Path) -> None:
    x = normal(2, 3, 13)
    for op_type in ("MaxPool", "AveragePool"):
        attrs = {"kernel_shape": [3], "strides": [2], "pads": [1, 0]}
        _check(tmp_path, op_type, x, 12, **attrs)


def test_dilated_maximum(tmp_path: Path) -> None:
    _check(tmp_path, "MaxPool", _X, 12, kernel_shape=[3, 2], dilations=[2, 3])


@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 3, 5, 4), (1, 2, 3, 4, 2)])
def test_whole_image(shape: tuple[int, ...], tmp_path: Path) -> None:
    for op_type in ("GlobalAveragePool", "GlobalMaxPool"):
        _check(tmp_path, op_type, normal(*shape), 13)


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 2, 0, 1]])
def test_convolution(group: int, pads: list[int], tmp_path: Path) -> None:
    for bias, stride, dilation in itertools.product((True, False), (1, 2), (1, 2)):
        constants = {"w": normal(8, 4 // group, 3, 2)}
        if bias:
            constants["b"] = normal(8)
        node = onnx.helper.make_node(
            "Conv",
            ["x", *constants],
            ["y"],
            group=group,
            pads=pads,
            strides=[stride, 1],
            dilations=[1, dilation],
        )
        model = make_model([node], {"x": _X}, ["y"], constants)
        found = run_mace(model, {"x": _X}, tmp_path)
        assert_same(found, run_onnxruntime(model, {"x": _X}), rtol=1e-4)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_convolution_auto_pad(auto_pad: str, tmp_path: Path) -> None:
    for kernel, stride in itertools.product((2, 3, 5), (1, 2, 3)):
        constants = {"w": normal(3, 4, kernel, kernel)}
        node = onnx.helper.make_node(
            "Conv", ["x", "w"], ["y"], auto_pad=auto_pad, strides=[stride, stride]
        )
        model = make_model([node], {"x": _X}, ["y"], constants)
        found = run_mace(model, {"x": _X}, tmp_path)
        assert_same(found, run_onnxruntime(model, {"x": _X}), rtol=1e-4)


def test_convolution_of_a_line_and_a_computed_bias(tmp_path: Path) -> None:
    constants = {"w": normal(6, 2, 3), "b": normal(6)}
    node = onnx.helper.make_node(
        "Conv", ["x", "w", "b"], ["y"], group=2, pads=[2, 0], strides=[2]
    )
    inputs = {"x": normal(2, 4, 9)}
    model = make_model([node], inputs, ["y"], constants)
    found = run_mace(model, inputs, tmp_path)
    assert_same(found, run_onnxruntime(model, inputs), rtol=1e-4)
    inputs = {"x": _X, "b": normal(5)}
    node = onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"])
    model = make_model([node], inputs, ["y"], {"w": normal(5, 4, 3, 3)})
    found = run_mace(model, inputs, tmp_path)
    assert_same(found, run_onnxruntime(model, inputs), rtol=1e-4)


def test_unused_indices_are_not_computed(tmp_path: Path) -> None:
    node = onnx.helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2])
    model = make_model([node], {"x": _X}, ["y"])
    graph = import_proto(model, {"x": _X}, ["y"], tmp_path)
    assert [op.type for op in graph.ops] == ["Pooling"]


def test_a_window_of_nothing_but_padding_is_refused(tmp_path: Path) -> None:
    x = normal(1, 1, 4, 4)
    attrs = {"kernel_shape": [1, 1], "pads": [1, 0, 0, 0]}
    node = onnx.helper.make_node("MaxPool", ["x"], ["y", "i"], **attrs)
    model = make_model([node], {"x": x}, ["y", "i"])
    with pytest.raises(UnsupportedNodesError, match="padding alone"):
        run_mace(model, {"x": x}, tmp_path)


@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_the_places_of_maxima(ceil_mode: int, tmp_path: Path) -> None:
    outputs = ["y", "i"]
    x = np.round(_X * 2)  # with equal elements
    for kernel, stride, pads, order in itertools.product(
        ([3, 2], [2, 4]), ([1, 1], [2, 3]), ([0, 0, 0, 0], [1, 0, 1, 1]), (0, 1)
    ):
        attrs: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": stride,
            "pads": pads,
            "storage_order": order,
            "ceil_mode": ceil_mode,
        }
        node = onnx.helper.make_node("MaxPool", ["x"], outputs, **attrs)
        model = make_model([node], {"x": x}, outputs, opset=19)
        expected = run_onnxruntime(model, {"x": x})
        assert_same(run_mace(model, {"x": x}, tmp_path), expected)
    line = normal(2, 3, 9)
    attrs = {"kernel_shape": [3], "dilations": [2], "pads": [2, 1]}
    node = onnx.helper.make_node("MaxPool", ["x"], outputs, **attrs)
    model = make_model([node], {"x": line}, outputs, opset=19)
    expected = run_onnxruntime(model, {"x": line})
    assert_same(run_mace(model, {"x": line}, tmp_path), expected)
