# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Integers beyond 32 bits, and infinite parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_operator,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_LARGE = 2**31 - 1


def _run(
    op_type: str,
    inputs: Mapping[str, Array],
    folder: Path,
    constants: Mapping[str, Array],
    names: tuple[str, ...],
    **attributes: Any,
) -> tuple[onnx.ModelProto, Any]:
    node = onnx.helper.make_node(op_type, names, ["y"], **attributes)
    model = make_model([node], inputs, ["y"], dict(constants))
    return model, lambda: run_mace(model, inputs, folder)


_CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    # The first numbers fit, the second do not, with the second operand.
    "Add": ([_LARGE - 3, 5], [_LARGE, 5], {"b": [1, 1]}),
    "Sub": ([-_LARGE, 5], [-(2**31), 5], {"b": [1, 1]}),
    "Mul": ([46340, -46340], [2, 46341], {"b": [46340, 46341]}),
    "Neg": ([_LARGE, 0], [-(2**31), 0], {}),
    "Abs": ([-_LARGE, 0], [-(2**31), 0], {}),
    "Pow": ([2, -2], [3, 2], {"b": [30, 30]}),
    "ReduceSum": ([_LARGE, -5], [_LARGE, 5], {"axes": [0]}),
    "ReduceProd": ([2**16, 2**14], [2**16, 2**15], {"axes": [0]}),
    "ReduceL1": ([_LARGE - 7, -5], [_LARGE, -5], {"axes": [0]}),
    "ReduceSumSquare": ([30000, 30000], [40000, 40000], {"axes": [0]}),
    "CumSum": ([_LARGE, -5], [_LARGE, 5], {"axis": np.array(0)}),
}


@pytest.mark.parametrize("kind", _CASES)
def test_results_fit_or_are_an_error(kind: str, tmp_path: Path) -> None:
    fits, exceeds, operands = _CASES[kind]
    constants = {name: np.array(array, np.int64) for name, array in operands.items()}
    names = ("x", *constants)
    for numbers in (fits, exceeds):
        x = {"x": np.array(numbers, np.int64)}
        model, run = _run(kind, x, tmp_path, constants, names)
        if numbers is fits:
            assert_same(run(), run_onnxruntime(model, x))
        else:
            with pytest.raises(OverflowError, match="exceeds 32 bits"):
                run()


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul"])
def test_int32_wraps_around(kind: str, tmp_path: Path) -> None:
    x = {"x": np.array([_LARGE, -(2**31), 46341], np.int32)}
    b = np.array([2**31 - 5, 7, 46341], np.int32)
    model, run = _run(kind, x, tmp_path, {"b": b}, ("x", "b"))
    assert_same(run(), run_onnxruntime(model, x))


def test_sums_of_int32_wrap_around(tmp_path: Path) -> None:
    x = {"x": np.array([_LARGE, _LARGE, 5], np.int32)}
    axes = {"axes": np.array([0], np.int64)}
    # ONNX Runtime saturates; NumPy and TensorFlow wrap around.
    _, run = _run("ReduceSum", x, tmp_path, axes, ("x", "axes"))
    assert_same(run(), [np.array([3], np.int32)])


@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_scattered_updates(reduction: str, tmp_path: Path) -> None:
    constants = {"at": np.array([1]), "updates": np.array([2])}
    names = ("x", "at", "updates")
    for number, fits in ((3, True), (_LARGE, False)):
        x = {"x": np.array([7, number])}
        model, run = _run(
            "ScatterElements", x, tmp_path, constants, names, reduction=reduction
        )
        if fits:
            assert_same(run(), run_onnxruntime(model, x))
        else:
            with pytest.raises(OverflowError):
                run()


def test_casts_of_floats(tmp_path: Path) -> None:
    to = {"to": onnx.TensorProto.INT64}
    for number, fits in ((2.0**30, True), (2.0**31, False), (-(2.0**40), False)):
        x = {"x": np.array([0.5, number], np.float32)}
        model, run = _run("Cast", x, tmp_path, {}, ("x",), **to)
        if fits:
            assert_same(run(), run_onnxruntime(model, x))
        else:
            with pytest.raises(OverflowError):
                run()


@pytest.mark.parametrize("between", [None, "Identity", "Concat"])
@pytest.mark.parametrize("kind", ["Add", "Mul", "Mod", "Cast"])
def test_constants_must_fit_what_computes_with_them(
    kind: str, between: str | None, tmp_path: Path
) -> None:
    make = onnx.helper.make_node
    nodes, big = [], "big"
    if between is not None:
        attributes = {"axis": 0} if between == "Concat" else {}
        nodes.append(make(between, ["big"], ["moved"], **attributes))
        big = "moved"
    x: dict[str, Array] = {"x": np.array([3, 5])}
    if kind == "Cast":
        x = {"x": np.array([3, 5], np.float32)}
        nodes += [
            make("Cast", [big], ["real"], to=onnx.TensorProto.FLOAT),
            make("Mul", ["x", "real"], ["y"]),
        ]
    else:
        nodes.append(make(kind, ["x", big], ["y"]))
    model = make_model(nodes, x, ["y"], {"big": np.array([2**40, 1])})
    with pytest.raises(MaceError, match="beyond the 32 bits"):
        run_mace(model, x, tmp_path)


def test_constants_may_say_how_far_something_goes(tmp_path: Path) -> None:
    x = {"x": np.array([3, 5, 7])}
    make = onnx.helper.make_node
    nodes = [
        make("Slice", ["x", "begin", "end"], ["part"]),
        make("Min", ["part", "most"], ["y"]),
    ]
    constants = {
        "begin": np.array([1]),
        "end": np.array([2**63 - 1]),
        "most": np.array(2**63 - 1),
    }
    model = make_model(nodes, x, ["y"], constants)
    assert_same(run_mace(model, x, tmp_path), [np.array([5, 7])])


_INF = float("inf")
_X = np.array([[-2, -0.5, 0, 0.5, 3], [4, -1, -_INF, _INF, np.nan]], np.float32)


@pytest.mark.parametrize("number", [_INF, -_INF, np.nan])
@pytest.mark.parametrize("shape", [(1,), (5,), (2, 5), (2, 1)])
@pytest.mark.parametrize("is_computed", [False, True])
def test_slopes(
    number: float, shape: tuple[int, ...], is_computed: bool, tmp_path: Path
) -> None:
    slope = normal(*shape)
    slope.reshape(-1)[:1] = number
    inputs, constants = {"x": _X}, {"slope": slope}
    if is_computed:
        inputs, constants = {**inputs, **constants}, {}
    with np.errstate(invalid="ignore"):
        check_operator(tmp_path, "PRelu", inputs, ["x", "slope"], constants=constants)


@pytest.mark.parametrize("alpha", [_INF, -_INF])
def test_leaky_relu(alpha: float, tmp_path: Path) -> None:
    x = _X[:, [0, 1, 3, 4]][:1]
    check_operator(tmp_path, "LeakyRelu", {"x": x}, ["x"], alpha=alpha)


@pytest.mark.parametrize(
    "bounds", [(0, _INF), (-_INF, _INF), (-_INF, 1), (-1, _INF), (-_INF, 0)]
)
def test_bounds(bounds: tuple[float, float], tmp_path: Path) -> None:
    low, high = (np.array(bound, np.float32) for bound in bounds)
    constants: dict[str, Any] = {"low": low, "high": high}
    names = ["x", "low", "high"]
    check_operator(tmp_path, "Clip", {"x": _X}, names, constants=constants)
