# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent convolutions and attention without heads, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("sequences_keras")


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


def test_attention(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda q, v, k, steps: [
            layers.Attention()([q, v]),
            layers.Attention(use_scale=True)([q, v, k]),
            layers.AdditiveAttention()([q, v]),
            layers.AdditiveAttention(use_scale=False)([q, v, k]),
            layers.Attention()([q, q], use_causal_mask=True),
            layers.Attention()([q, v], mask=[None, steps]),
            *layers.Attention(score_mode="concat", use_scale=True)(
                [q, v], mask=[None, steps], return_attention_scores=True
            ),
            layers.AdditiveAttention()([q, v], mask=[None, steps]),
        ],
        rand(2, 4, 6),
        rand(2, 5, 6),
        rand(2, 5, 6) + 0.5,
        rand(2, 5, 6).sum(2) > 0,
        endings=("keras", "h5"),
    )


def test_masks_of_embeddings(tmp_path: Path) -> None:
    table = layers.Embedding(5, 6, mask_zero=True)
    other = layers.Embedding(5, 6, mask_zero=True)
    FAMILY.check(
        tmp_path,
        lambda x, y: layers.Attention()([table(x), other(y)], use_causal_mask=True),
        np.array([[1, 4, 2, 0], [3, 0, 0, 0]], np.int32),
        np.array([[2, 1, 0, 4], [1, 1, 1, 3]], np.int32),
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
