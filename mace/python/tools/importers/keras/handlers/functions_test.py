# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Activations, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.keras.handlers.functions import _PLAIN
from mace.python.tools.importers.keras.testing import Family, imported, rand

keras = pytest.importorskip("keras")
layers = keras.layers
# Keras 3 writes ReLU instead.
FAMILY = Family("functions", not_made=["ThresholdedReLU"])


def test_names(tmp_path: Path) -> None:
    names = [*_PLAIN, "linear", "hard_sigmoid", "exponential", "softmax", "selu"]
    names += ["log_softmax", "mish", "log_sigmoid", "hard_tanh", "celu"]
    names += ["hard_shrink", "soft_shrink", "tanh_shrink"]
    x = np.concatenate([rand(1, 5), 9 * rand(1, 5)], axis=1)
    FAMILY.check(tmp_path, lambda x: [layers.Activation(n)(x) for n in names], x)


def test_layers(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.ReLU()(x),
            layers.ReLU(6.0)(x),
            layers.ReLU(1.0, negative_slope=0.2)(x),
            layers.ReLU(1.0, negative_slope=0.2, threshold=0.5)(x),
            layers.ReLU(threshold=0.5)(x),
            layers.LeakyReLU()(x),
            layers.LeakyReLU(0.01)(x),
            layers.ELU(0.7)(x),
            layers.PReLU()(x),
            layers.PReLU(shared_axes=[1, 2])(x),
            layers.Softmax()(x),
            layers.Softmax(axis=1)(x),
            layers.Masking(0.0)(x),
        ],
        np.where(rand(2, 3, 2, 4) < 0, rand(2, 3, 2, 4) * [[[0.0], [1.0]]], 1.0).astype(
            np.float32
        ),
        endings=("keras", "h5"),
    )


def test_what_is_refused(tmp_path: Path) -> None:
    x = keras.Input((3,), name="x0")
    path = tmp_path / "m.keras"
    keras.Model(x, layers.Activation("sparsemax", name="y")(x)).save(path)
    with pytest.raises(UnsupportedNodesError, match="'sparsemax' is not supported"):
        imported(path, [rand(1, 3)], ["y"])


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
