# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fused layers of the domain com.microsoft, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_node,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)


@pytest.mark.parametrize(
    ("activation", "numbers"),
    [
        ("Relu", None),
        ("Sigmoid", None),
        ("Tanh", None),
        ("LeakyRelu", [0.3]),
        ("Clip", [-0.5, 0.75]),
        ("HardSigmoid", [0.3, 0.4]),
    ],
)
def test_fused_conv(
    activation: str, numbers: list[float] | None, tmp_path: Path
) -> None:
    more: dict[str, Any] = {} if numbers is None else {"activation_params": numbers}
    check_node(
        tmp_path,
        "com.microsoft.FusedConv",
        {"x": normal(1, 4, 6, 6)},
        {"w": normal(8, 4, 3, 3), "b": normal(8)},
        activation=activation,
        pads=[1, 1, 1, 1],
        **more,
    )


def test_an_activation_that_nobody_knows(tmp_path: Path) -> None:
    inputs, constants = {"x": normal(1, 4, 6, 6)}, {"w": normal(8, 4, 3, 3)}
    with pytest.raises(MaceError, match="activation is 'Wave'; Clip, .* work"):
        check_node(
            tmp_path, "com.microsoft.FusedConv", inputs, constants, activation="Wave"
        )


@pytest.mark.parametrize(
    "kind", ["com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv"]
)
def test_convolutions_with_channels_last(kind: str, tmp_path: Path) -> None:
    """ONNX Runtime's CPU has none in floats: the same in ONNX's order."""
    x, w, b = normal(2, 6, 5, 4), normal(8, 2, 3, 3), normal(8)
    shape = {"pads": [1, 0, 1, 2], "strides": [2, 1], "group": 2}
    turned = {"x": x.transpose(0, 3, 1, 2).copy()}
    plain = onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"], **shape)
    model = make_model([plain], turned, ["y"], {"w": w, "b": b}, opset=17)
    wanted = run_onnxruntime(model, turned)[0].transpose(0, 2, 3, 1)
    inputs, names, more = {"x": x}, ["x", "w", "b"], dict(shape)
    domain, op_type = kind.rsplit(".", 1)
    if op_type == "NhwcConv":
        w = w.transpose(0, 2, 3, 1).copy()
    else:
        inputs["z"] = normal(*wanted.shape)
        wanted, names = np.maximum(wanted + inputs["z"], 0), [*names, "z"]
        more["activation"] = "Relu"
    node = onnx.helper.make_node(op_type, names, ["y"], domain=domain, **more)
    model = make_model([node], inputs, ["y"], {"w": w, "b": b}, opset=17)
    assert_same(run_mace(model, inputs, tmp_path), [wanted], 1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_distances(metric: str, tmp_path: Path) -> None:
    inputs = {"a": normal(5, 3), "b": normal(4, 3)}
    check_node(tmp_path, "com.microsoft.CDist", inputs, metric=metric)


def test_expand_dims(tmp_path: Path) -> None:
    axis = {"axis": np.array(-2, np.int32)}
    check_node(tmp_path, "com.microsoft.ExpandDims", {"x": normal(2, 3)}, axis)


def test_fused_gemm(tmp_path: Path) -> None:
    check_node(
        tmp_path,
        "com.microsoft.FusedGemm",
        {"a": normal(3, 4)},
        {"b": normal(4, 5), "c": normal(5)},
        activation="Relu",
    )
