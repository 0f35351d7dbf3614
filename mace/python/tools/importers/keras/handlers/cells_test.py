# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cells of recurrent layers, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("cells")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def _stacked() -> object:
    return layers.StackedRNNCells(
        [layers.LSTMCell(3), layers.GRUCell(4), layers.LSTMCell(2, use_bias=False)]
    )


def test_layers_around_cells(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, h: [
            *layers.RNN(layers.LSTMCell(4), return_state=True)(x),
            layers.RNN(layers.GRUCell(4), go_backwards=True, return_sequences=True)(x),
            layers.RNN(layers.SimpleRNNCell(4))(x, initial_state=[h]),
            layers.RNN(_stacked(), return_sequences=True)(x),
            layers.RNN(_stacked(), go_backwards=True)(x),
            layers.Bidirectional(layers.RNN(layers.GRUCell(4)))(x),
            layers.RNN([layers.GRUCell(3), layers.GRUCell(2)])(x),
        ],
        rand(2, 5, 3),
        rand(2, 4),
        endings=("keras", "h5"),
    )


def test_single_steps(tmp_path: Path) -> None:
    def build(x: object, h: object, c: object) -> list[object]:
        y, states = layers.LSTMCell(4)(x, [h, c])
        z, _ = layers.GRUCell(4)(x, [h])
        w, _ = layers.SimpleRNNCell(4)(x, [c])
        cells = layers.StackedRNNCells([layers.GRUCell(4), layers.GRUCell(4)])
        v, _ = cells(x, [h, c])
        return [y, *states, z, w, v]

    FAMILY.check(tmp_path, build, rand(2, 3), rand(2, 4), rand(2, 4) / 2)


def test_masked_cells(tmp_path: Path) -> None:
    tokens = np.array([[1, 4, 0, 2], [3, 0, 0, 0]], np.int32)
    table = layers.Embedding(5, 3, mask_zero=True)
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.RNN(_stacked())(table(x)),
            layers.RNN(layers.LSTMCell(4), return_sequences=True)(table(x)),
        ],
        tokens,
    )
