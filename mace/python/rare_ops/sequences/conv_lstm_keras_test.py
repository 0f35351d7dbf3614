# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent convolutions, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("conv_lstm_keras")


def test_conv_lstm(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, line, h, c: [
            layers.ConvLSTM2D(3, 3)(x),
            *layers.ConvLSTM2D(
                2,
                (2, 3),
                strides=2,
                padding="same",
                use_bias=False,
                return_sequences=True,
                return_state=True,
            )(x),
            layers.ConvLSTM2D(
                2,
                3,
                padding="same",
                go_backwards=True,
                recurrent_activation="hard_sigmoid",
            )(x, initial_state=[h, c]),
            layers.ConvLSTM1D(3, 3, dilation_rate=2, return_sequences=True)(line),
            *layers.ConvLSTM1D(2, 2, return_state=True)(line),
            layers.Bidirectional(layers.ConvLSTM2D(2, 2, return_sequences=True))(x),
        ],
        rand(2, 3, 5, 6, 2),
        rand(1, 4, 7, 2).repeat(2, 0),
        rand(2, 5, 6, 2),
        rand(2, 5, 6, 2) / 2,
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
