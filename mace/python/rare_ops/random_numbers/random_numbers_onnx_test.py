# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that draw random numbers: how these are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import make_model, normal, run_mace
from mace.python.tools.ir.dtypes import Array

_make = onnx.helper.make_node
_SHAPE = (50, 400)
_COUNT = 20000


def _run(
    tmp_path: Path,
    nodes: list[onnx.NodeProto],
    outputs: list[str],
    inputs: Mapping[str, Array] | None = None,
    constants: Mapping[str, Array] | None = None,
) -> list[Array]:
    inputs = inputs or {"x": normal(*_SHAPE)}
    return run_mace(make_model(nodes, inputs, outputs, constants), inputs, tmp_path)


def _random(op_type: str, output: str, **attributes: Any) -> onnx.NodeProto:
    if op_type.endswith("Like"):
        return _make(op_type, ["x"], [output], **attributes)
    return _make(op_type, [], [output], shape=_SHAPE, **attributes)


@pytest.mark.parametrize("op", ["RandomUniform", "RandomUniformLike"])
def test_uniform(op: str, tmp_path: Path) -> None:
    nodes = [_random(op, "y", low=2.0, high=6.0), _random(op, "z")]
    y, z = _run(tmp_path, nodes, ["y", "z"])
    for found, low, high in ((y, 2, 6), (z, 0, 1)):
        assert found.shape == _SHAPE
        assert low <= found.min() < low + 0.01
        assert high - 0.01 < found.max() <= high
        # 5 deviations of the mean of so many.
        assert abs(found.mean() - (low + high) / 2) < 5 * 0.29 * (high - low) / 141
    assert abs(np.corrcoef(y.ravel(), z.ravel())[0, 1]) < 0.036


@pytest.mark.parametrize("op", ["RandomNormal", "RandomNormalLike"])
def test_normal(op: str, tmp_path: Path) -> None:
    nodes = [_random(op, "y", mean=3.0, scale=2.0), _random(op, "z", seed=1.5)]
    y, z = _run(tmp_path, nodes, ["y", "z"])
    for found, mean, scale in ((y, 3, 2), (z, 0, 1)):
        assert found.shape == _SHAPE
        assert abs(found.mean() - mean) < 5 * scale / 141
        assert abs(found.std() - scale) < 5 * scale / 200
    assert abs(np.corrcoef(y.ravel(), z.ravel())[0, 1]) < 0.036


def test_a_seed_repeats_the_numbers(tmp_path: Path) -> None:
    nodes = [
        _random("RandomNormal", "a", seed=7.0),
        _random("RandomNormalLike", "b", seed=7.0),
        _random("RandomNormal", "c", seed=8.0),
        _random("RandomNormal", "d"),
    ]
    a, b, c, d = _run(tmp_path, nodes, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(a, b)
    assert not np.isclose(a, c).any(1).all()
    # Without a seed, a node has one of its own, the same in every conversion.
    assert not np.isclose(a, d).any(1).all()
    np.testing.assert_array_equal(d, _run(tmp_path, nodes[3:], ["d"])[0])


def test_the_shape_may_follow_from_others(tmp_path: Path) -> None:
    nodes = [
        _make("ConstantOfShape", ["shape"], ["like"]),
        _make("RandomNormalLike", ["like"], ["y"], dtype=1),
    ]
    (y,) = _run(tmp_path, nodes, ["y"], constants={"shape": np.array([3, 4])})
    assert y.shape == (3, 4)


def test_bernoulli(tmp_path: Path) -> None:
    chances = np.linspace(0, 1, 5, dtype=np.float32)[:, None] * np.ones((1, 4000))
    inputs = {"x": chances.astype(np.float32)}
    nodes = [
        _make("Bernoulli", ["x"], ["y"]),
        _make("Bernoulli", ["x"], ["z"], dtype=onnx.TensorProto.INT64, seed=2.0),
        _make("Bernoulli", ["x"], ["b"], dtype=onnx.TensorProto.BOOL),
    ]
    y, z, b = _run(tmp_path, nodes, ["y", "z", "b"], inputs)
    assert [a.dtype.name for a in (y, z, b)] == ["float32", "int32", "bool"]
    for found in (y, z, b):
        assert set(np.unique(found)) == {0, 1}
        assert not found[0].any()
        assert found[4].all()
        np.testing.assert_allclose(found.mean(1), chances[:, 0], atol=0.04)


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_multinomial(classes: int, tmp_path: Path) -> None:
    rows = np.log(np.arange(1, classes + 1, dtype=np.float32))
    inputs = {"x": np.stack([rows, -rows, 100 + 0 * rows])}
    node = _make("Multinomial", ["x"], ["y"], sample_size=4000)
    (y,) = _run(tmp_path, [node], ["y"], inputs)
    assert y.dtype == np.int32
    assert y.shape == (3, 4000)
    for found, row in zip(y, inputs["x"]):
        shares = np.bincount(found, minlength=classes) / 4000
        chances = np.exp(row - row.max())
        chances /= chances.sum()
        np.testing.assert_allclose(shares, chances, atol=0.04)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (_make("RandomNormal", [], ["y"], shape=[2], dtype=7), "dtype is INT64"),
        (_make("Multinomial", ["x"], ["y"]), r"\[batch, classes\] is needed"),
        (_make("RandomUniformLike", ["i"], ["y"]), "no floats; give dtype"),
    ],
)
def test_what_is_refused(node: onnx.NodeProto, reason: str, tmp_path: Path) -> None:
    inputs = {"x": normal(2, 3, 4), "i": np.arange(3)}
    with pytest.raises(MaceError, match=reason):
        _run(tmp_path, [node], ["y"], inputs)
