# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("attention")


def test_attention(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda q, v, k: [
            layers.MultiHeadAttention(2, 3)(q, q),
            layers.MultiHeadAttention(2, 3, value_dim=5, use_bias=False)(q, v),
            layers.MultiHeadAttention(2, 3, output_shape=7)(query=q, value=v, key=k),
            layers.MultiHeadAttention(1, 4, dropout=0.1)(q, q, use_causal_mask=True),
        ],
        rand(2, 4, 6),
        rand(2, 5, 6),
        rand(2, 5, 6) + 0.5,
        endings=("keras", "h5"),
    )


def test_masks(tmp_path: Path) -> None:
    grouped = layers.GroupQueryAttention
    q, pairs = rand(2, 4, 6), rand(2, 4, 5) > 0
    pairs[1, 2] = False  # a query for which no key counts
    steps = rand(2, 5, 6).sum(2) > 0
    FAMILY.check(
        tmp_path,
        lambda q, v, pairs, steps: [
            layers.MultiHeadAttention(2, 3)(q, v, attention_mask=pairs),
            layers.MultiHeadAttention(2, 3, dropout=0.1)(q, v, attention_mask=pairs),
            *layers.MultiHeadAttention(2, 3)(
                q,
                v,
                value_mask=steps,
                use_causal_mask=True,
                return_attention_scores=True,
            ),
            layers.MultiHeadAttention(2, 3, use_gate=True, sliding_window=2)(q, v),
            grouped(3, 4, 2)(q, v, attention_mask=pairs),
            grouped(3, 4, 1, use_gate=True, use_bias=False)(q, q, use_causal_mask=True),
        ],
        q,
        rand(2, 5, 6) + 0.5,
        pairs,
        steps,
        endings=("keras", "h5"),
    )


def test_masks_of_embeddings(tmp_path: Path) -> None:
    table = layers.Embedding(5, 6, mask_zero=True)
    other = layers.Embedding(5, 6, mask_zero=True)
    tokens = np.array([[1, 4, 2, 0], [3, 0, 0, 0]], np.int32)
    FAMILY.check(
        tmp_path,
        lambda x, y: [
            layers.MultiHeadAttention(2, 3)(table(x), table(x)),
            layers.GlobalAveragePooling1D()(
                layers.MultiHeadAttention(2, 3)(table(x), other(y))
            ),
            layers.GroupQueryAttention(3, 2, 1)(table(x), other(y)),
        ],
        tokens,
        np.array([[2, 1, 0, 4], [1, 1, 1, 3]], np.int32),
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
