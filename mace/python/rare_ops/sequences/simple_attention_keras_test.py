# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention without heads, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("simple_attention_keras")


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
