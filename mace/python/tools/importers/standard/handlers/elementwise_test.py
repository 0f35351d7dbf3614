# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    compare,
    import_proto,
    make_model,
    run_mace,
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
    compare(model, feeds, tmp_path)


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
    compare(model, {"x": x}, tmp_path)


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
    compare(model, feeds, tmp_path)
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
    compare(model, {"x": x}, tmp_path)


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


_NARROW = [np.int8, np.uint8, np.int16, np.uint16]
_TYPES = [*_NARROW, np.int32, np.uint32, np.int64]
_FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
}


def _numbers(dtype: Any) -> Array:
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2**31)), min(info.max, 2**31 - 1)
    rng = np.random.default_rng(5)
    return np.append(rng.integers(low, high, 30), [low, high]).astype(dtype)


def _run(op: str, inputs: dict[str, Array], folder: Path, **attributes: Any) -> Array:
    node = onnx.helper.make_node(op, [*inputs], ["z"], **attributes)
    model = make_model([node], inputs, ["z"], opset=26 if op == "BitCast" else 18)
    return run_mace(model, inputs, folder)[0]


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("op", _FUNCTIONS)
def test_two_operands(op: str, dtype: Any, tmp_path: Path) -> None:
    x = _numbers(dtype)
    inputs = {"x": x[:, None], "y": x[None, ::3]}
    wanted = _FUNCTIONS[op](inputs["x"], inputs["y"])
    assert_same([_run(op, inputs, tmp_path)], [wanted])


@pytest.mark.parametrize("dtype", [*_NARROW, np.int32, np.int64])
def test_not(dtype: Any, tmp_path: Path) -> None:
    x = _numbers(dtype)
    assert_same([_run("BitwiseNot", {"x": x}, tmp_path)], [np.invert(x)])


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_not_of_what_int32_cannot_hold(dtype: Any, tmp_path: Path) -> None:
    with pytest.raises(MaceError, match="above those of int32"):
        _run("BitwiseNot", {"x": np.ones(1, dtype)}, tmp_path)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", [*_NARROW, np.int32])
def test_shifts(dtype: Any, direction: str, tmp_path: Path) -> None:
    x = _numbers(dtype)
    bits = np.dtype(dtype).itemsize * 8
    inputs = {"x": x[:, None], "y": np.arange(bits).astype(dtype)}
    shift = np.left_shift if direction == "LEFT" else np.right_shift
    found = _run("BitShift", inputs, tmp_path, direction=direction)
    assert_same([found], [shift(inputs["x"], inputs["y"])])


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_casts_to_16_bits_wrap_around(dtype: Any, tmp_path: Path) -> None:
    x = _numbers(np.int32)
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    assert_same([_run("Cast", {"x": x}, tmp_path, to=kind)], [x.astype(dtype)])


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_casts_to_halves_round(dtype: Any, half: str, tmp_path: Path) -> None:
    import ml_dtypes

    rng = np.random.default_rng(5)
    x = (rng.standard_normal(999) * 3000).astype(dtype)
    narrow = np.float16 if half == "float16" else ml_dtypes.bfloat16
    kind = onnx.TensorProto.DataType.Value(half.upper())
    node = onnx.helper.make_node("Cast", ["x"], ["h"], to=kind)
    back = onnx.helper.make_node("Cast", ["h"], ["z"], to=1)
    model = make_model([node, back], {"x": x}, ["z"])
    (found,) = run_mace(model, {"x": x}, tmp_path)
    wanted = x.astype(np.float32).astype(narrow).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)


def test_bits_that_become_another_type(tmp_path: Path) -> None:
    x = _numbers(np.uint16)
    kind = onnx.TensorProto.INT16
    assert_same([_run("BitCast", {"x": x}, tmp_path, to=kind)], [x.view(np.int16)])
    with pytest.raises(MaceError, match="integers of the same size"):
        _run("BitCast", {"x": np.ones(1, np.int32)}, tmp_path, to=1)
