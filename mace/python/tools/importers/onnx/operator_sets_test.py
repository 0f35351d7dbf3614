# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of all operator sets and element types.

The truth is onnxruntime; where it no longer runs an old set, ONNX's own version
converter brings the model to one that it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.version_converter
import pytest

from mace.python.tools.errors import MaceError
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

_NEW_ENOUGH = 13


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _check(
    tmp_path: Path,
    op_type: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array],
    opset: int,
    outputs: int = 1,
    **attributes: Any,
) -> None:
    names = [f"y{index}" for index in range(outputs)]
    node = onnx.helper.make_node(op_type, [*inputs, *constants], names, **attributes)
    model = make_model([node], inputs, names, constants, opset)
    found = run_mace(model, inputs, tmp_path)
    if opset < 7:
        model = onnx.version_converter.convert_version(model, _NEW_ENOUGH)
    assert_same(found, run_onnxruntime(model, inputs))


X = normal(2, 3, 4, 5)


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize(("shape", "axis"), [((3,), 1), ((3, 4), 1), ((4, 5), 2)])
def test_old_broadcasting(
    op_type: str, shape: tuple[int, ...], axis: int, tmp_path: Path
) -> None:
    # The converter refuses an axis in the middle; the specification of that
    # time says that b gets trailing dimensions of 1.
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}.get(
        op_type, np.divide
    )
    b = np.abs(normal(*shape)) + 1
    trailing = (1,) * (4 - axis - len(shape))
    wanted = function(X, b.reshape(*shape, *trailing))
    for extra in ({"axis": axis}, {"axis": axis - 4}, {}):
        if not extra and trailing:
            continue
        node = onnx.helper.make_node(op_type, ["x", "b"], ["y"], broadcast=1, **extra)
        model = make_model([node], {"x": X}, ["y"], {"b": b}, 6)
        assert_same(run_mace(model, {"x": X}, tmp_path), [wanted])
    if not trailing:
        _check(tmp_path, op_type, {"x": X}, {"b": b}, 13)


@pytest.mark.parametrize("opset", [7, 9, 13, 21])
def test_softmax_over_the_rest_or_one_axis(opset: int, tmp_path: Path) -> None:
    for op_type in ("Softmax", "LogSoftmax"):
        _check(tmp_path, op_type, {"x": X}, {}, opset)
        for axis in (0, 1, 2, 3):
            _check(tmp_path, op_type, {"x": X}, {}, opset, axis=axis)
    _check(tmp_path, "Softmax", {"x": normal(2, 7, 1, 1)}, {}, opset, axis=1)


@pytest.mark.parametrize("opset", [6, 7, 9, 14, 15])
def test_batch_normalization(opset: int, tmp_path: Path) -> None:
    constants = {
        "scale": normal(3),
        "b": normal(3, seed=1),
        "mean": normal(3, seed=2),
        "var": np.abs(normal(3, seed=3)) + 0.1,
    }
    extra = {"is_test": 1} if opset < 7 else {}
    inputs = {"x": X}
    _check(tmp_path, "BatchNormalization", inputs, constants, opset, **extra)
    if opset >= 7:
        for shape in ((2, 3), (2, 3, 4)):
            inputs = {"x": normal(*shape)}
            _check(tmp_path, "BatchNormalization", inputs, constants, opset)


@pytest.mark.parametrize("opset", [6, 7, 10, 13])
def test_dropout_does_nothing(opset: int, tmp_path: Path) -> None:
    extra = {"is_test": 1} if opset < 7 else {}
    if opset < 12:
        _check(tmp_path, "Dropout", {"x": X}, {}, opset, ratio=0.3, **extra)
    _check(tmp_path, "Dropout", {"x": X}, {}, opset, **extra)


@pytest.mark.parametrize("opset", [6, 7, 9, 13])
def test_gemm(opset: int, tmp_path: Path) -> None:
    for shape in ((5,), (4, 5), (1, 5)):
        constants = {"b": normal(5, 3), "c": normal(*shape)}
        attrs: dict[str, Any] = {"alpha": 0.5, "beta": 2.0, "transB": 1, "transA": 1}
        if opset < 7:
            attrs["broadcast"] = 1
        _check(tmp_path, "Gemm", {"a": normal(3, 4)}, constants, opset, **attrs)


@pytest.mark.parametrize("opset", [7, 11, 13])
def test_what_became_an_input(opset: int, tmp_path: Path) -> None:
    inputs = {"x": X}
    ones = {"x": normal(2, 1, 3, 1)}
    if opset < 13:
        _check(tmp_path, "Squeeze", ones, {}, opset, axes=[1, 3])
        _check(tmp_path, "Unsqueeze", inputs, {}, opset, axes=[0, 5])
        _check(tmp_path, "Split", inputs, {}, opset, outputs=2, axis=3, split=[2, 3])
        _check(tmp_path, "ReduceSum", inputs, {}, opset, axes=[1, 2], keepdims=0)
    else:
        axes = {"axes": _ints(1, 3)}
        _check(tmp_path, "Squeeze", ones, axes, opset)
        _check(tmp_path, "Unsqueeze", inputs, {"axes": _ints(0, 5)}, opset)
        split = {"split": _ints(2, 3)}
        _check(tmp_path, "Split", inputs, split, opset, outputs=2, axis=3)
        axes = {"axes": _ints(1, 2)}
        _check(tmp_path, "ReduceSum", inputs, axes, opset, keepdims=0)
    if opset < 10:
        cut: dict[str, Any] = {"starts": [1, -4], "ends": [99, -1], "axes": [2, 3]}
        _check(tmp_path, "Slice", inputs, {}, opset, **cut)
    else:
        constants = {
            "starts": _ints(-1, 1),
            "ends": _ints(-(2**40), 2**40),
            "axes": _ints(2, 3),
            "steps": _ints(-2, 1),
        }
        _check(tmp_path, "Slice", inputs, constants, opset)
    if opset < 11:
        pads = [0, 0, 1, 2, 0, 0, 3, 0]
        _check(tmp_path, "Pad", inputs, {}, opset, pads=pads, value=1.5)
        _check(tmp_path, "Clip", inputs, {}, opset, min=-0.5, max=0.25)
    else:
        constants = {
            "pads": _ints(0, 0, 1, 2, 0, 0, 3, -1),
            "value": np.array(2, np.float32),
        }
        _check(tmp_path, "Pad", inputs, constants, opset)
        bounds = {"low": np.array(-0.5, np.float32), "high": np.array(0.2, np.float32)}
        _check(tmp_path, "Clip", inputs, bounds, opset)


@pytest.mark.parametrize("opset", [1, 4, 5, 13])
def test_reshape(opset: int, tmp_path: Path) -> None:
    node = onnx.helper.make_node("Reshape", ["x"], ["y0"], shape=[0, -1])
    constants: dict[str, Array] = {}
    if opset >= 5:
        constants = {"shape": _ints(0, -1)}
        node = onnx.helper.make_node("Reshape", ["x", "shape"], ["y0"])
    model = make_model([node], {"x": X}, ["y0"], constants, opset)
    (found,) = run_mace(model, {"x": X}, tmp_path)
    np.testing.assert_array_equal(found, X.reshape(2, -1))


@pytest.mark.parametrize("opset", [6, 7, 8, 13])
@pytest.mark.parametrize("op_type", ["Sum", "Max", "Min", "Mean"])
def test_many_operands(op_type: str, opset: int, tmp_path: Path) -> None:
    inputs = {name: normal(2, 3, seed=i) for i, name in enumerate("abc")}
    if opset >= 8:
        inputs["c"] = normal(3)
    _check(tmp_path, op_type, inputs, {}, opset)
    _check(tmp_path, op_type, {"a": inputs["a"]}, {}, opset)


@pytest.mark.parametrize("opset", [7, 9, 16])
def test_prelu(opset: int, tmp_path: Path) -> None:
    for shape in ((1,), (3, 1, 1), (5,), (3, 4, 5)):
        slope = {"slope": normal(*shape)}
        _check(tmp_path, "PRelu", {"x": X}, slope, opset)


_X = (normal(2, 4, 6, 8) * 60).clip(-128, 127)


def _model(
    op: str,
    dtype: Any,
    constants: dict[str, Array],
    outputs: int = 1,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    inputs: dict[str, Array] = {"x": _X.astype(np.int8).astype(dtype)}
    if op in ("Concat", "Max"):
        inputs["x2"] = inputs["x"][::-1].copy()
    # An empty name is an input that is absent.
    names = [f"y{index}" for index in range(outputs)]
    node = onnx.helper.make_node(op, [*inputs, *constants], names, **attributes)
    constants.pop("", None)
    return make_model([node], inputs, names, constants), inputs


_BYTES = (np.uint8, np.int8)
_MOVES: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    ("Concat", {}, {"axis": 2}),
    ("Gather", {"i": _ints(3, 0)}, {"axis": 1}),
    ("Reshape", {"s": _ints(4, -1)}, {}),
    ("Slice", {"b": _ints(1), "e": _ints(3), "a": _ints(2)}, {}),
    ("Split", {"s": _ints(1, 3)}, {"axis": 1, "outputs": 2}),
    ("Transpose", {}, {"perm": [2, 0, 3, 1]}),
]
_CHOOSE: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    ("DepthToSpace", {}, {"blocksize": 2}),
    ("Max", {}, {}),
    ("MaxPool", {}, {"kernel_shape": [3, 2], "strides": [2, 1]}),
    ("Pad", {"p": _ints(0, 0, 1, 2, 0, 0, 0, 1)}, {}),
    ("ReduceMax", {"a": _ints(2)}, {}),
    (
        "Resize",
        {"": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 2], np.float32)},
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
]


@pytest.mark.parametrize(
    ("dtype", "case"),
    [
        *((dtype, case) for case in _MOVES for dtype in (*_BYTES, np.bool_)),
        *((dtype, case) for case in _CHOOSE for dtype in _BYTES),
    ],
)
def test_elements_stay_what_they_are(
    dtype: Any, case: tuple[str, dict[str, Array], dict[str, Any]], tmp_path: Path
) -> None:
    op, constants, attributes = case
    model, inputs = _model(op, dtype, dict(constants), **attributes)
    compare(model, inputs, tmp_path)


@pytest.mark.parametrize("dtype", [*_BYTES, np.bool_])
def test_a_condition_of_booleans_stays_one(dtype: Any, tmp_path: Path) -> None:
    x = _X.astype(np.int8).astype(dtype)
    inputs = {"c": normal(2, 4, 6, 8) > 0, "x": x, "y": x[::-1].copy()}
    model = make_model(
        [onnx.helper.make_node("Where", [*inputs], ["z"])], inputs, ["z"]
    )
    # ONNX Runtime has none of booleans.
    assert_same(run_mace(model, inputs, tmp_path), [np.where(*inputs.values())])


def test_the_result_keeps_the_name_and_type(tmp_path: Path) -> None:
    model, inputs = _model("Max", np.uint8, {})
    graph = import_proto(model, inputs, ["y0"], tmp_path)
    (output,) = graph.outputs
    assert output.name == "y0"
    assert output.dtype.value == "uint8"
    assert [op.type for op in graph.ops] == ["Cast", "Cast", "Eltwise", "Cast"]


_ARITHMETIC = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Equal": np.equal,
    "Less": np.less,
    "GreaterOrEqual": np.greater_equal,
}


@pytest.mark.parametrize("op", _ARITHMETIC)
@pytest.mark.parametrize("dtype", _BYTES)
def test_sums_of_bytes_wrap_around(op: str, dtype: Any, tmp_path: Path) -> None:
    """As in NumPy; ONNX Runtime has few of them."""
    info = np.iinfo(dtype)
    every = np.arange(info.min, info.max + 1).astype(dtype)
    inputs = {"x": every[:, None], "y": every[None, ::5]}
    model = make_model([onnx.helper.make_node(op, ["x", "y"], ["z"])], inputs, ["z"])
    wanted = _ARITHMETIC[op](inputs["x"], inputs["y"])
    assert_same(run_mace(model, inputs, tmp_path), [wanted])


@pytest.mark.parametrize("op", ["Add", "Mul", "Mod", "BitwiseXor", "BitwiseAnd"])
def test_constants_of_more_than_32_bits_are_refused(op: str, tmp_path: Path) -> None:
    """Hashes of places, whose factors would become other numbers."""
    inputs = {"x": np.array([3, 5], np.int32).astype(np.int64)}
    node = onnx.helper.make_node(op, ["x", "c"], ["y"])
    model = make_model([node], inputs, ["y"], {"c": np.array(2654435761)})
    with pytest.raises(MaceError, match="c has integers beyond the 32 bits"):
        run_mace(model, inputs, tmp_path)
    small = make_model([node], inputs, ["y"], {"c": np.array(2147483647)})
    import_proto(small, inputs, ["y"], tmp_path)


def test_limits_may_be_beyond_32_bits(tmp_path: Path) -> None:
    inputs = {"x": np.array([3, 5], np.int64)}
    node = onnx.helper.make_node("Min", ["x", "c"], ["y"])
    model = make_model([node], inputs, ["y"], {"c": np.array(1 << 40)})
    compare(model, inputs, tmp_path)
