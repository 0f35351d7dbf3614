# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("convolution")


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


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pooling(tmp_path: Path, dims: int) -> None:
    def build(x: Any) -> list[Any]:
        results = []
        for kind in ("Max", "Average"):
            pool = getattr(layers, f"{kind}Pooling{dims}D")
            over_all = getattr(layers, f"Global{kind}Pooling{dims}D")
            results += [
                pool(2)(x),
                pool(3, strides=2, padding="same")(x),
                pool(2, strides=1)(x),
                over_all()(x),
                over_all(keepdims=True)(x),
            ]
        return results

    FAMILY.check(tmp_path, build, rand(2, *[5, 6, 4][:dims], 3))


def test_the_mean_of_the_steps_that_count(tmp_path: Path) -> None:
    x = rand(2, 5, 3)
    x[0, 1:3] = 0
    x[1, 4] = 0

    def build(y: Any) -> list[Any]:
        masked = layers.Dense(4)(layers.Masking()(y))
        return [
            layers.GlobalAveragePooling1D()(masked),
            layers.GlobalAveragePooling1D(keepdims=True)(masked),
        ]

    FAMILY.check(tmp_path, build, x)


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
