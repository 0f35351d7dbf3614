# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.importers.base import UnsupportedNodesError
from mace.python.tools.importers.keras.testing import Family, imported, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("attention")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def test_attention(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda q, v, k: [
            layers.MultiHeadAttention(2, 3)(q, q),
            layers.MultiHeadAttention(2, 3, value_dim=5, use_bias=False)(q, v),
            layers.MultiHeadAttention(2, 3, output_shape=7)(query=q, value=v, key=k),
            layers.MultiHeadAttention(1, 4, dropout=0.1)(q, q, use_causal_mask=True),
            layers.Attention()([q, v]),
            layers.Attention(use_scale=True)([q, v, k]),
            layers.AdditiveAttention()([q, v]),
            layers.AdditiveAttention(use_scale=False)([q, v, k]),
            layers.Attention()([q, q], use_causal_mask=True),
        ],
        rand(2, 4, 6),
        rand(2, 5, 6),
        rand(2, 5, 6) + 0.5,
        endings=("keras", "h5"),
    )


def test_masks_are_refused(tmp_path: Path) -> None:
    x, mask = keras.Input((4, 6), name="x0"), keras.Input((4, 4), name="x1")
    path = tmp_path / "m.keras"
    y = layers.MultiHeadAttention(2, 3, name="y")(x, x, attention_mask=mask)
    keras.Model([x, mask], y).save(path)
    with pytest.raises(UnsupportedNodesError, match="called with attention_mask"):
        imported(path, [rand(1, 4, 6), rand(1, 4, 4)], ["y"])
