# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and its inverse compared with onnxruntime."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_make = onnx.helper.make_node
_CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "plain": ((1, 3, 7, 8), (4, 3, 3, 2), {}),
    "depthwise": ((1, 4, 9, 9), (4, 1, 3, 3), {"group": 4}),
    "groups": ((2, 4, 6, 6), (6, 2, 2, 3), {"group": 2, "strides": [2, 1]}),
    "padded": (
        (2, 3, 6, 7),
        (2, 3, 3, 3),
        {"pads": [1, 0, 2, 1], "dilations": [2, 1], "strides": [1, 2]},
    ),
    "same": ((1, 2, 5, 5), (3, 2, 2, 2), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "line": ((2, 3, 9), (4, 3, 3), {"pads": [1, 1]}),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("case", _CASES)
def test_computed_filter(case: str, bias: bool, tmp_path: Path) -> None:
    image, filters, attributes = _CASES[case]
    inputs = {"x": normal(*image), "w": normal(*filters)}
    if bias:
        inputs["b"] = normal(filters[0])
    model = make_model(
        [_make("Conv", list(inputs), ["y"], **attributes)], inputs, ["y"]
    )
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


@pytest.mark.parametrize(
    ("image", "filters", "words"),
    [
        ((1, 3, 4, 4), (2, 2, 3, 3), "3 input channels"),
        ((1, 2, 2, 2), (2, 2, 3, 3), "a window of 3 is larger"),
        ((1, 1, 3, 3, 3), (1, 1, 2, 2, 2), "3 spatial dimensions"),
    ],
)
def test_refuses(
    image: tuple[int, ...], filters: tuple[int, ...], words: str, tmp_path: Path
) -> None:
    inputs = {"x": normal(*image), "w": normal(*filters)}
    model = make_model([_make("Conv", ["x", "w"], ["y"])], inputs, ["y"])
    with pytest.raises(MaceError, match=words):
        run_mace(model, inputs, tmp_path)


@pytest.mark.parametrize("extents", [(3, 2), (3,)])
def test_a_filter_that_does_not_fit_is_told_in_the_files_order(
    extents: tuple[int, ...], tmp_path: Path
) -> None:
    inputs = {"x": normal(1, 3, *[9] * len(extents))}
    node, w = _make("Conv", ["x", "w"], ["y"]), normal(8, 5, *extents)
    model = make_model([node], inputs, ["y"], {"w": w})
    shown = ", ".join(map(str, (8, 5, *[1] * (2 - len(extents)), *extents)))
    words = rf"the filter \[{shown}\] with .*y/filter \[{shown}\]"
    with pytest.raises(MaceError, match=words):
        run_mace(model, inputs, tmp_path)


_X = normal(2, 6, 5, 4)
_W = normal(6, 2, 3, 4)


def _check(
    tmp_path: Path, w: Array = _W, x: Array = _X, bias: bool = False, **attrs: Any
) -> None:
    constants = {"w": w}
    if bias:
        constants["b"] = normal(w.shape[1] * attrs.get("group", 1))
    node = onnx.helper.make_node("ConvTranspose", ["x", *constants], ["y"], **attrs)
    model = make_model([node], {"x": x}, ["y"], constants)
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("stride", [[1, 1], [2, 2], [3, 2], [4, 5]])
def test_pads(stride: list[int], tmp_path: Path) -> None:
    for pads, added in itertools.product(
        ([0, 0, 0, 0], [1, 0, 2, 1], [2, 2, 0, 1]), ([0, 0], [stride[0] - 1, 0])
    ):
        _check(tmp_path, strides=stride, pads=pads, output_padding=added, bias=True)


@pytest.mark.parametrize("group", [1, 2, 3, 6])
def test_groups_and_dilations(group: int, tmp_path: Path) -> None:
    _check(tmp_path, group=group, bias=True)
    _check(tmp_path, group=group, strides=[2, 3], dilations=[2, 2], pads=[1] * 4)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_auto_pad(auto_pad: str, tmp_path: Path) -> None:
    for stride in ([1, 1], [2, 3], [5, 4]):
        _check(tmp_path, strides=stride, auto_pad=auto_pad)
    for added in ([1, 1], [2, 3]):
        _check(tmp_path, strides=[4, 5], auto_pad=auto_pad, output_padding=added)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "NOTSET"])
def test_output_shape(auto_pad: str, tmp_path: Path) -> None:
    for shape in ([10, 12], [9, 11], [11, 13]):
        _check(tmp_path, strides=[2, 3], auto_pad=auto_pad, output_shape=shape)


def test_line(tmp_path: Path) -> None:
    x, w = normal(1, 4, 7), normal(4, 3, 5)
    _check(tmp_path, w, x, strides=[3], pads=[1, 2], output_padding=[1], bias=True)
    _check(tmp_path, w, x, strides=[2], auto_pad="SAME_UPPER")
    _check(tmp_path, w, x, strides=[2], output_shape=[16])


@pytest.mark.parametrize(
    "attrs, text",
    [
        ({"kernel_shape": [2, 2]}, r"kernel_shape is \[2, 2\]"),
        ({"strides": [2]}, "spatial dimensions"),
        ({"pads": [-1, 0, 0, 0]}, "negative pads"),
        ({"output_padding": [-1, 0]}, "negative output_padding"),
        ({"output_shape": [9]}, r"output_shape \[9\] does not have 2"),
        ({"auto_pad": "SAME"}, "auto_pad is 'SAME'"),
        ({"pads": [9, 9, 9, 9]}, "leave nothing"),
        ({"group": 4}, "6 input channels in 4 groups"),
    ],
)
def test_refused(attrs: dict[str, Any], text: str, tmp_path: Path) -> None:
    node = onnx.helper.make_node("ConvTranspose", ["x", "w"], ["y"], **attrs)
    model = make_model([node], {"x": _X}, ["y"], {"w": _W})
    with pytest.raises(UnsupportedNodesError, match=text):
        run_mace(model, {"x": _X}, tmp_path)


def test_a_filter_that_does_not_fit_a_transposed_convolution(
    tmp_path: Path,
) -> None:
    node = onnx.helper.make_node("ConvTranspose", ["x", "w"], ["y"])
    inputs = {"x": normal(1, 3, 6, 6)}
    model = make_model([node], inputs, ["y"], {"w": normal(5, 8, 3, 2)})
    words = r"3 input channels, a filter of \[5, 8, 3, 2\]"
    with pytest.raises(UnsupportedNodesError, match=words):
        run_mace(model, inputs, tmp_path)
