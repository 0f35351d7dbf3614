# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions between layers, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
ops = keras.ops
# Absolute stands for them in the current version.
FAMILY = Family("operations", not_made=["ops.Abs", "ops.Fabs"])


def test_arithmetic(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, y: [
            x + y,
            x * 2.0,
            3 - x,
            x / y,
            ops.divide(x, 3.0),
            x - np.arange(4, dtype=np.float32),
            -x,
            y**0.5,
            ops.maximum(x, 0.5),
            ops.minimum(x, y),
            ops.clip(x, -0.5, 1.0),
            *(f(x, 0.5) for f in (ops.less, ops.less_equal, ops.equal)),
            *(f(x, 0.5) for f in (ops.greater, ops.greater_equal, ops.not_equal)),
            ops.matmul(x, ops.transpose(y, (0, 2, 1))),
            *(f(x) for f in (ops.abs, ops.square, ops.exp, ops.floor, ops.ceil)),
            *(f(x) for f in (ops.round, ops.sign, ops.erf, ops.sin, ops.cos)),
            *(f(y) for f in (ops.sqrt, ops.rsqrt, ops.log, ops.reciprocal)),
        ],
        rand(2, 3, 4),
        rand(2, 3, 4, low=0.5),
        endings=("keras", "h5"),
    )


def test_activations(tmp_path: Path) -> None:
    nn = ops.nn
    FAMILY.check(
        tmp_path,
        lambda x: [
            *(f(x) for f in (nn.relu, nn.relu6, nn.sigmoid, nn.silu, nn.hard_silu)),
            *(f(x) for f in (nn.hard_sigmoid, nn.softplus, nn.softsign, nn.selu)),
            *(f(x) for f in (nn.log_sigmoid, ops.tanh)),
            nn.gelu(x),
            nn.gelu(x, approximate=False),
            nn.softmax(x),
            nn.softmax(x, axis=1),
            nn.log_softmax(x, axis=-1),
        ],
        3 * rand(2, 3, 4),
    )


def test_shapes(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            ops.mean(x, axis=1),
            ops.sum(x, axis=(1, 2), keepdims=True),
            ops.max(x, axis=-1),
            ops.any(x > 0.5, axis=-1),
            ops.all(x > -1.5, axis=(1, 2), keepdims=True),
            ops.min(x, axis=2),
            ops.prod(x, axis=1),
            ops.reshape(x, (-1, 12)),
            ops.transpose(x, (0, 2, 1)),
            ops.squeeze(ops.expand_dims(x, 1), 1),
            ops.concatenate([x, x], axis=1),
            ops.stack([x, x], axis=-1),
            x[:, 1:],
            x[:, ::-1, 2],
            x[..., -1],
            x[:, 0],
        ],
        rand(2, 3, 4),
    )


def test_elements(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, y: [
            ops.cast(x > 0, "float32"),
            ops.cast(x, "int32"),
            ops.floor_divide(x, y),
            ops.logical_and(x > 0, y > 1),
            ops.logical_or(x > 0, y > 1),
            ops.logical_xor(x > 0, y > 1),
            ops.logical_not(x > 0),
            ops.where(x > y, x, 0.5),
            ops.ones_like(x) + x,
            ops.zeros_like(x) + y,
            ops.full_like(x, 2.5) + y,
            ops.stop_gradient(x) * 2,
            ops.copy(x) * 3,
        ],
        rand(2, 3, 4),
        rand(2, 3, 4, low=0.5),
    )


def test_activations_with_numbers(tmp_path: Path) -> None:
    nn = ops.nn
    FAMILY.check(
        tmp_path,
        lambda x: [
            nn.leaky_relu(x, negative_slope=0.3),
            nn.elu(x, alpha=0.7),
            ops.normalize(x, axis=1),
        ],
        3 * rand(2, 4, 6),
    )


def test_along_axes(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            ops.amax(x, axis=1),
            ops.amin(x, axis=(1, 2), keepdims=True),
            ops.logsumexp(x, axis=-1),
            ops.var(x, axis=1),
            ops.std(x, axis=(1, 2), keepdims=True),
            ops.argmax(x, axis=1),
            ops.argmin(x, axis=-1, keepdims=True),
            ops.cumsum(x, axis=1),
            *ops.top_k(x, 2),
        ],
        rand(2, 3, 4),
    )


def test_order(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            ops.tile(x, (1, 2, 1, 3)),
            ops.pad(x, ((0, 0), (1, 2), (0, 1), (0, 0))),
            ops.pad(x, ((0, 0), (1, 1), (1, 2), (0, 0)), mode="reflect"),
            ops.take(x, np.array([2, 0, 1]), axis=1),
            *ops.split(x, 2, axis=2),
            *ops.split(x, [1, 2], axis=1),
        ],
        rand(2, 3, 4, 5),
    )


def test_products_of_tensors(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, y: [
            ops.einsum("bij,bkj->bik", x, y),
        ],
        rand(2, 3, 4),
        rand(2, 5, 4),
        tolerance=5e-5,
    )


def test_classes(tmp_path: Path) -> None:
    x = np.array([[0, 3, 1], [2, 2, 0]], np.int32)
    FAMILY.check(
        tmp_path,
        lambda x: [ops.one_hot(x, 4), ops.one_hot(x, 4, axis=1, dtype="int32")],
        x,
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
