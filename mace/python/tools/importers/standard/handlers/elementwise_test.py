# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators compared with onnxruntime, for special values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    make_model,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array


def test_is_nan_finds_nan_alone(tmp_path: Path) -> None:
    """Exports of attention use IsNaN to replace rows that are fully masked."""
    values = [np.nan, 0.0, -1.0, np.inf, -np.inf, -np.nan]
    feeds = {"x": np.array([values], np.float32), "z": np.zeros(1, np.float32)}
    nodes = [
        onnx.helper.make_node("IsNaN", ["x"], ["bad"]),
        onnx.helper.make_node("Where", ["bad", "z", "x"], ["y"]),
    ]
    model = make_model(nodes, feeds, ["y"])
    assert_same(run_mace(model, feeds, tmp_path), run_onnxruntime(model, feeds))


@pytest.mark.parametrize("negative", [0, 1])
@pytest.mark.parametrize("positive", [0, 1])
def test_is_inf_finds_the_wanted_ones(
    positive: int, negative: int, tmp_path: Path
) -> None:
    x = np.array([np.nan, 0.0, -1.0, np.inf, -np.inf, 3e38], np.float32)
    wanted = {"detect_positive": positive, "detect_negative": negative}
    nodes = [
        onnx.helper.make_node("IsInf", ["x"], ["bad"], **wanted),
        onnx.helper.make_node("Cast", ["bad"], ["y"], to=1),
    ]
    model = make_model(nodes, {"x": x}, ["y"])
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(("zero", "casts"), [(0, 0), (40, 1)])
def test_quantized_numbers_are_clipped_as_activation(
    zero: int, casts: int, relu: bool, tmp_path: Path
) -> None:
    """PyTorch trains activations for 7 bits."""
    make = onnx.helper.make_node
    nodes = [
        make("Relu" if relu else "Identity", ["x"], ["r"]),
        make("QuantizeLinear", ["r", "s", "z"], ["q"]),
        make("Clip", ["q", "low", "high"], ["c"]),
        make("DequantizeLinear", ["c", "s", "z"], ["y"]),
    ]
    feeds = {"x": np.linspace(-20, 20, 97, dtype=np.float32).reshape(1, 97)}
    constants: dict[str, Array] = {
        "s": np.array(0.1, np.float32),
        "z": np.array(zero, np.uint8),
        "low": np.array(0, np.uint8),
        "high": np.array(127, np.uint8),
    }
    model = make_model(nodes, feeds, ["y"], constants)
    assert_same(run_mace(model, feeds, tmp_path), run_onnxruntime(model, feeds))
    graph = import_proto(model, feeds, ["y"], tmp_path)
    assert bool(sum(op.type == "Cast" for op in graph.ops)) == bool(casts)


@pytest.mark.parametrize(
    ("op", "low", "high"),
    [
        ("Acos", -1, 1),
        ("Acosh", 1, 50),
        ("Asin", -1, 1),
        ("Asinh", -50, 50),
        ("Atan", -50, 50),
        ("Atanh", -1, 1),
        ("Cosh", -20, 20),
        ("Sinh", -20, 20),
        ("Tan", -1.5, 1.5),
    ],
)
def test_trigonometry(op: str, low: float, high: float, tmp_path: Path) -> None:
    x = np.linspace(low, high, 999, dtype=np.float32)
    model = make_model([onnx.helper.make_node(op, ["x"], ["y"])], {"x": x}, ["y"])
    assert_same(run_mace(model, {"x": x}, tmp_path), run_onnxruntime(model, {"x": x}))


# ONNX has no other remainder of floats.
@pytest.mark.parametrize(
    ("dtype", "fmod"),
    [(np.float32, 1)] + [(t, f) for t in (np.int64, np.int8, np.uint8) for f in (0, 1)],
)
def test_remainders(dtype: type, fmod: int, tmp_path: Path) -> None:
    x: Array = np.array([7, 5, 3, 0, 1, 120], dtype)
    y: Array = np.array([3, 7, 2, 9, 1, 7], dtype)
    if dtype is not np.uint8:
        x, y = np.concatenate([x, -x]), np.concatenate([y, y])
        x, y = np.concatenate([x, x]), np.concatenate([y, -y])
    inputs = {"x": x, "y": y}
    node = onnx.helper.make_node("Mod", ["x", "y"], ["z"], fmod=fmod)
    model = make_model([node], inputs, ["z"])
    wanted = (np.fmod if fmod else np.mod)(x, y)
    assert_same(run_mace(model, inputs, tmp_path), [wanted])
