# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products, determinants and triangles of matrices, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_operator,
    compare,
    make_model,
    normal,
    run_mace,
)

_SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 2}


@pytest.mark.parametrize(
    "equation",
    [
        "ab->ba",
        "ab->a",
        "ab->",
        "ab",
        "ba",
        "aa->a",
        "aab->b",
        "aa->",
        "ab,bc->ac",
        "ab,bc",
        "ab,cb->ca",
        "a,a->",
        "a,b->ab",
        "ab,ab->ab",
        "ab,a->ab",
        "abc,acd->abd",
        "abcd,abed->abce",
        "abcd,adec->aeb",
        "abc,abc->a",
        "ab,cd->dacb",
        "abc,d->ad",
        "ab,bc,cd->ad",
        "abc,bd,ce->ade",
        "aab,bc->ac",
        "ab , bc -> ac",
    ],
)
def test_equations(equation: str, tmp_path: Path) -> None:
    operands = equation.replace(" ", "").split("->")[0].split(",")
    inputs = {
        f"x{i}": normal(*(_SIZES[letter] for letter in text), seed=i)
        for i, text in enumerate(operands)
    }
    node = onnx.helper.make_node("Einsum", [*inputs], ["y"], equation=equation)
    model = make_model([node], inputs, ["y"])
    compare(model, inputs, tmp_path)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    "equation",
    [
        "ab->",
        "aa->",
        "bi,bj->bij",
        "ab,bc->ac",
        "abc,acd->abd",
        "ab,bc,cd->ad",
        "a,a->",
    ],
)
def test_integers(equation: str, dtype: type, tmp_path: Path) -> None:
    """They are exact, beyond what floats can tell apart."""
    sizes = {**_SIZES, "i": 3, "j": 4}
    operands = equation.split("->")[0].split(",")
    rng = np.random.default_rng(2)
    inputs = {
        f"x{i}": rng.integers(-30000, 30000, [sizes[letter] for letter in text], dtype)
        >> (10 if len(operands) == 3 else 1)
        for i, text in enumerate(operands)
    }
    node = onnx.helper.make_node("Einsum", [*inputs], ["y"], equation=equation)
    wanted = np.einsum(equation, *inputs.values())
    (found,) = run_mace(make_model([node], inputs, ["y"]), inputs, tmp_path)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ab,...bc->...ac", [(2, 3, 4), (2, 4, 5)]),
        ("...ab,...bc->...ac", [(6, 2, 3, 4), (1, 2, 4, 5)]),
        ("...ab,bc->...ac", [(6, 2, 3, 4), (4, 5)]),
        ("...a->a...", [(2, 3, 4)]),
        ("...a,...a->...", [(2, 3, 4), (1, 4)]),
        ("...,...", [(2, 3), (3,)]),
        ("...aa->...a", [(2, 3, 3)]),
    ],
)
def test_an_ellipsis(
    equation: str, shapes: list[tuple[int, ...]], tmp_path: Path
) -> None:
    inputs = {f"x{i}": normal(*shape, seed=i) for i, shape in enumerate(shapes)}
    node = onnx.helper.make_node("Einsum", [*inputs], ["y"], equation=equation)
    model = make_model([node], inputs, ["y"])
    wanted = [np.einsum(equation, *inputs.values())]
    assert_same(run_mace(model, inputs, tmp_path), wanted)


def test_a_sum_over_an_ellipsis(tmp_path: Path) -> None:
    """NumPy wants the ellipsis in the result, too."""
    inputs = {"x": normal(2, 3), "y": normal(2, 3, seed=1)}
    node = onnx.helper.make_node("Einsum", [*inputs], ["z"], equation="a...,a...->a")
    model = make_model([node], inputs, ["z"])
    wanted = [np.einsum("ab,ab->a", *inputs.values())]
    assert_same(run_mace(model, inputs, tmp_path), wanted)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("ab,bc->ac", "has 2 operands, the node 1"),
        ("abc->a", "does not fit 2 dimensions"),
        ("a1->a", "does not fit 2 dimensions"),
        ("ab->abc", "each letter of the result"),
        ("ab->aa", "each letter of the result"),
    ],
)
def test_what_is_refused(equation: str, reason: str, tmp_path: Path) -> None:
    inputs = {"x": normal(2, 3)}
    node = onnx.helper.make_node("Einsum", ["x"], ["y"], equation=equation)
    model = make_model([node], inputs, ["y"])
    with pytest.raises(MaceError, match=reason):
        run_mace(model, inputs, tmp_path)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5), (2, 3, 4, 4)])
def test_determinants(shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": normal(*shape)}
    model = make_model([onnx.helper.make_node("Det", ["x"], ["y"])], inputs, ["y"])
    compare(model, inputs, tmp_path)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 4, 4)])
def test_inverses(shape: tuple[int, ...], tmp_path: Path) -> None:
    check_operator(tmp_path, "com.microsoft.Inverse", {"x": normal(*shape)}, ["x"])


def test_matrices_that_are_not_square(tmp_path: Path) -> None:
    inputs = {"x": normal(2, 3)}
    model = make_model([onnx.helper.make_node("Det", ["x"], ["y"])], inputs, ["y"])
    with pytest.raises(MaceError, match="no square matrices"):
        run_mace(model, inputs, tmp_path)


_FAR = np.iinfo(np.int64).max


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, 0, 2, -1, -5, 9, _FAR, -_FAR])
def test_triangles(k: int | None, upper: int, tmp_path: Path) -> None:
    x = normal(2, 3, 4, 5)
    x[0, 0, 0] = [np.inf, -np.inf, np.nan, 1, 2]
    inputs, constants = ["x"], {}
    if k is not None:
        inputs.append("k")
        constants["k"] = np.array(k)
    node = onnx.helper.make_node("Trilu", inputs, ["y"], upper=upper)
    model = make_model([node], {"x": x}, ["y"], constants)
    compare(model, {"x": x}, tmp_path)
