# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, compared with Keras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

layers = pytest.importorskip("keras").layers
FAMILY = Family("convolution")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    FAMILY.assert_all_tried()


def test_images(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.Conv2D(4, 3, activation="relu")(x),
            layers.Conv2D(4, (3, 2), strides=(2, 1), padding="same", use_bias=False)(x),
            layers.Conv2D(6, 3, dilation_rate=2, groups=2, padding="same")(x),
            layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same")(x),
            layers.DepthwiseConv2D(3, strides=2, use_bias=False)(x),
            layers.SeparableConv2D(5, 3, depth_multiplier=2, activation="tanh")(x),
            layers.SeparableConv2D(5, 3, strides=2, padding="same", use_bias=False)(x),
        ],
        rand(2, 9, 8, 4),
        endings=("keras", "h5"),
    )


def test_transposed_images(tmp_path: Path) -> None:
    make = layers.Conv2DTranspose
    FAMILY.check(
        tmp_path,
        lambda x: [
            make(3, 3, strides=2, padding="same", activation="relu")(x),
            make(3, 3, strides=2, use_bias=False)(x),
            make(3, (2, 3), strides=(3, 1), padding="same")(x),
            make(3, (2, 3), strides=(3, 1))(x),
            make(3, 3, strides=2, padding="same", output_padding=1)(x),
            make(3, 4, strides=2, output_padding=1)(x),
            make(3, 3, dilation_rate=2)(x),
        ],
        rand(1, 5, 4, 2),
    )


def test_sequences(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.Conv1D(4, 3, padding="causal", dilation_rate=2)(x),
            layers.Conv1D(4, 3, strides=2, padding="same", activation="gelu")(x),
            layers.Conv1D(4, 3, groups=2)(x),
            layers.DepthwiseConv1D(3, depth_multiplier=2, padding="same")(x),
            layers.SeparableConv1D(5, 3, padding="same")(x),
            layers.Conv1DTranspose(3, 3, strides=2)(x),
            layers.Conv1DTranspose(3, 3, strides=2, padding="same")(x),
        ],
        rand(2, 9, 4),
    )


def test_volumes(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.Conv3D(3, (2, 3, 2), activation="relu")(x),
            layers.Conv3D(3, 3, strides=2, padding="same", use_bias=False)(x),
            layers.Conv3DTranspose(3, 2, strides=2)(x),
            layers.Conv3DTranspose(3, 3, strides=2, padding="same")(x),
        ],
        rand(1, 4, 5, 4, 2),
    )
