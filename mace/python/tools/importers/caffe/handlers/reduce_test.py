# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over axes and positions of maxima, by Caffe's definitions."""

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

FAMILY = Family("reduce")
X = rand(2, 3, 4, 5)


def _layer(kind: str, param: str) -> str:
    return f'layer {{ name: "r" type: "{kind}" bottom: "x" top: "y" {param} }}'


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("operation", ["SUM", "ASUM", "SUMSQ", "MEAN"])
def test_reduction(tmp_path: Path, axis: int, operation: str) -> None:
    axes = tuple(range(axis % 4, 4))
    numbers = {"ASUM": np.abs(X), "SUMSQ": X**2}.get(operation, X)
    wanted = numbers.mean(axes) if operation == "MEAN" else numbers.sum(axes)
    for coeff in (1, 0.5):
        param = f"operation: {operation} axis: {axis} coeff: {coeff}"
        text = _layer("Reduction", f"reduction_param {{ {param} }}")
        FAMILY.check(tmp_path, text, {"x": X}, expected=[np.asarray(wanted * coeff)])


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_arg_max_of_an_axis(tmp_path: Path, axis: int) -> None:
    x = np.round(X)  # some are equal
    last = x.shape[axis] - 1 - np.flip(x, axis).argmax(axis, keepdims=True)
    text = _layer("ArgMax", f"argmax_param {{ axis: {axis} }}")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[last])
    text = _layer("ArgMax", f"argmax_param {{ axis: {axis} out_max_val: true }}")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[x.max(axis, keepdims=True)])


@pytest.mark.parametrize("shape", [(2, 7), (2, 3, 4), (2, 3, 4, 5)])
def test_arg_max_of_images(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = rand(*shape)
    flat, after = x.reshape(2, -1), (1,) * max(len(shape) - 2, 1)
    best = flat.argmax(1).reshape(2, 1, *after)
    FAMILY.check(tmp_path, _layer("ArgMax", ""), {"x": x}, expected=[best])
    both = np.concatenate([best, flat.max(1).reshape(best.shape)], 1)
    text = _layer("ArgMax", "argmax_param { out_max_val: true }")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[both])


@pytest.mark.parametrize("axis", [1, -1])
def test_several_maxima_of_an_axis(tmp_path: Path, axis: int) -> None:
    x = np.round(X)  # some are equal: the last ones come first
    length = x.shape[axis]
    order = np.flip(np.argsort(x, axis, stable=True), axis)
    order = order.take(range(3), axis)
    for param, wanted in (
        ("", order),
        ("out_max_val: true", np.take_along_axis(x, order, axis)),
    ):
        text = _layer("ArgMax", f"argmax_param {{ axis: {axis} top_k: 3 {param} }}")
        FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])
    text = with_inputs(
        _layer("ArgMax", f"argmax_param {{ axis: {axis} top_k: {length + 1} }}"),
        {"x": x},
    )
    with pytest.raises(UnsupportedNodesError, match=f"top_k is {length + 1}"):
        import_net(tmp_path, text, {"x": x}, ["y"])


@pytest.mark.parametrize("shape", [(2, 7), (2, 3, 4), (2, 3, 4, 5)])
def test_several_maxima_of_images(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = rand(*shape)
    flat, after = x.reshape(2, -1), (1,) * max(len(shape) - 3, 0)
    order = np.argsort(-flat, 1)[:, :5]
    best = order.reshape(2, 1, 5, *after)
    text = _layer("ArgMax", "argmax_param { top_k: 5 }")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[best])
    values = np.take_along_axis(flat, order, 1).reshape(best.shape)
    text = _layer("ArgMax", "argmax_param { top_k: 5 out_max_val: true }")
    both = np.concatenate([best, values], 1)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[both])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
