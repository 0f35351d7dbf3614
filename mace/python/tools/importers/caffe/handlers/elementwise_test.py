# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise layers, compared with OpenCV and with Caffe's formulas."""

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

FAMILY = Family("elementwise")


def _layer(kind: str, param: str = "") -> str:
    return f'layer {{ name: "f" type: "{kind}" bottom: "x" top: "y" {param} }}'


@pytest.mark.parametrize(
    ("kind", "param"),
    [
        ("ReLU", ""),
        ("ReLU", "relu_param { negative_slope: 0.1 }"),
        ("ReLU6", ""),
        ("ELU", ""),
        ("ELU", "elu_param { alpha: 0.5 }"),
        ("Sigmoid", ""),
        ("TanH", ""),
        ("AbsVal", ""),
        ("BNLL", ""),
        ("Power", "power_param { power: 2 scale: 0.5 shift: 1 }"),
        ("Power", "power_param { scale: 3 }"),
        ("Power", ""),
        ("Power", "power_param { power: 3 }"),
        ("Exp", ""),
        ("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }"),
    ],
)
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (3, 4)])
def test_functions(
    tmp_path: Path, kind: str, param: str, shape: tuple[int, ...]
) -> None:
    FAMILY.check(tmp_path, _layer(kind, param), {"x": 4 * rand(*shape)})


X = rand(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("kind", "param", "wanted"),
    [
        ("Power", "power_param { power: 0.5 shift: 3 }", np.sqrt(3 + X)),
        ("Power", "power_param { power: -0.5 shift: 3 }", (3 + X) ** -0.5),
        ("Power", "power_param { power: -1 shift: 3 }", 1 / (3 + X)),
        ("Power", "power_param { power: 1.5 shift: 3 }", (3 + X) ** 1.5),
        ("Power", "power_param { power: 0 }", np.ones_like(X)),
        ("Exp", "exp_param { base: 1 }", np.ones_like(X)),
        ("Log", "log_param { shift: 3 }", np.log(3 + X)),
        ("Log", "log_param { base: 2 scale: 2 shift: 5 }", np.log2(5 + 2 * X)),
        ("Clip", "clip_param { min: -1 max: 0.5 }", np.clip(X, -1, 0.5)),
        ("Clip", "clip_param { min: 0 max: 1.5 }", np.clip(X, 0, 1.5)),
        ("Threshold", "", (X > 0).astype(np.float32)),
        ("Threshold", "threshold_param { threshold: 0.5 }", np.float32(X > 0.5)),
        ("Swish", "", X / (1 + np.exp(-X))),
        ("Swish", "swish_param { beta: 2 }", X / (1 + np.exp(-2 * X))),
    ],
)
def test_formulas(tmp_path: Path, kind: str, param: str, wanted: np.ndarray) -> None:
    FAMILY.check(tmp_path, _layer(kind, param), {"x": X}, expected=[wanted])


def test_prelu(tmp_path: Path) -> None:
    FAMILY.check(tmp_path, _layer("PReLU"), {"x": X}, blobs={"f": [rand(3)]})
    text = _layer("PReLU", "prelu_param { channel_shared: true }")
    FAMILY.check(tmp_path, text, {"x": X}, blobs={"f": [rand(1)]})
    x, slopes = rand(4, 3), rand(3)
    wanted = np.where(x < 0, x * slopes, x)
    text = _layer("PReLU")
    FAMILY.check(tmp_path, text, {"x": x}, blobs={"f": [slopes]}, expected=[wanted])


@pytest.mark.parametrize(
    "param",
    [
        "",
        "operation: PROD",
        "operation: MAX",
        "operation: SUM coeff: [2, -1, 0.5]",
    ],
)
def test_eltwise(tmp_path: Path, param: str) -> None:
    inputs = {name: rand(2, 3, 4, 5, seed=i) for i, name in enumerate("abc")}
    text = (
        'layer { name: "e" type: "Eltwise" bottom: "a" bottom: "b" bottom: "c" '
        f'top: "y" eltwise_param {{ {param} }} }}'
    )
    FAMILY.check(tmp_path, text, inputs)


def test_a_difference(tmp_path: Path) -> None:
    inputs = {name: rand(2, 3, seed=i) for i, name in enumerate("ab")}
    text = (
        'layer { name: "e" type: "Eltwise" bottom: "a" bottom: "b" top: "y" '
        "eltwise_param { coeff: 1 coeff: -1 } }"
    )
    FAMILY.check(tmp_path, text, inputs, expected=[inputs["a"] - inputs["b"]])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (_layer("Log", "log_param { base: -2 }"), "base is -2"),
        (_layer("Clip"), "clip_param is missing"),
        (_layer("Clip", "clip_param { min: 1 }"), "lacks .*clip_param.max"),
        (_layer("Eltwise"), "has 1 bottoms; at least 2"),
        (
            'layer { name: "e" type: "Eltwise" bottom: "x" bottom: "z" top: "y" }',
            "bottoms have different shapes",
        ),
        (
            'layer { name: "e" type: "Eltwise" bottom: "x" bottom: "x" top: "y" '
            "eltwise_param { operation: MAX coeff: 1 coeff: 2 } }",
            "2 coeff for 2 bottoms; only sums",
        ),
        (_layer("PReLU"), r"slopes must have the shape \[3\]"),
    ],
)
def test_what_cannot_be_converted(tmp_path: Path, layer: str, message: str) -> None:
    inputs = {"x": X, "z": rand(2, 3)}
    text = with_inputs(layer, inputs)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, text, inputs, ["y"], {"f": [rand(4)]})


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
