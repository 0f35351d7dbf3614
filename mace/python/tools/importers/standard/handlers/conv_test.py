# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution with a filter that the run computes, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)

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
