# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions between layers, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

ops = pytest.importorskip("keras").ops
# Absolute stands for it in the current version.
FAMILY = Family("operations", not_made=["ops.Abs"])


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


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
