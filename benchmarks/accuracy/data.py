# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images of digits, 32 x 32 pixels, for training, calibration and the final test.

They are made of the 1,797 test images of the UCI "Optical Recognition of Handwritten
Digits" set (8 x 8 pixels) that scikit-learn ships. Every third original is held out.
Each image is an original that was rotated, scaled, moved, blurred by the enlargement,
and covered with noise, all at random from fixed seeds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SIZE = 32
_SEED = 20261125
_SOURCE_SIZE = 8
# Images made of each original that is held out: 599 * 8 = 4792.
_TESTS_OF_EACH = 8
_CALIBRATION = 256
_TURN, _ZOOM, _MOVE, _CONTRAST, _NOISE = 0.35, 0.2, 1.2, 0.4, 0.12


@dataclass(frozen=True)
class Images:
    """Images and their digits.

    Attributes:
        pixels: float32 [N, 1, 32, 32], mostly in [0, 1].
        digits: int64 [N].
    """

    pixels: Array
    digits: Array


def originals(held_out: bool) -> Images:
    """The images of scikit-learn, [N, 8, 8] in [0, 1], that are held out or not."""
    from sklearn.datasets import load_digits

    found = load_digits()
    chosen = (np.arange(len(found.images)) % 3 == 0) == held_out
    pixels = (found.images[chosen] / 16).astype(np.float32)
    return Images(pixels, found.target[chosen].astype(np.int64))


def varied(images: Array, rng: np.random.Generator) -> Array:
    """Images of 32 x 32 pixels made of [N, 8, 8], each in its own way."""
    count = len(images)

    def uniform(limit: float) -> Array:
        return rng.uniform(-limit, limit, (count, 1, 1))

    angle, zoom = uniform(_TURN), 1 + uniform(_ZOOM)
    down, right = uniform(_MOVE), uniform(_MOVE)
    # The place in the original of each pixel, from its centre.
    steps = (np.arange(SIZE) + 0.5) * (_SOURCE_SIZE / SIZE) - _SOURCE_SIZE / 2
    y, x = steps[None, :, None] / zoom, steps[None, None, :] / zoom
    rows = np.cos(angle) * y - np.sin(angle) * x + down + _SOURCE_SIZE / 2 - 0.5
    columns = np.sin(angle) * y + np.cos(angle) * x + right + _SOURCE_SIZE / 2 - 0.5
    pixels = _interpolated(images, rows, columns)
    pixels = pixels * (1 + uniform(_CONTRAST))
    pixels += rng.normal(0, _NOISE, pixels.shape)
    return pixels.astype(np.float32)[:, None]


def _interpolated(images: Array, rows: Array, columns: Array) -> Array:
    """The bilinear interpolation at places of each image; 0 outside."""
    padded = np.pad(images, ((0, 0), (1, 2), (1, 2)))
    limit = _SOURCE_SIZE + 0.999
    rows, columns = (np.clip(v + 1, 0, limit) for v in (rows, columns))
    top, left = rows.astype(np.int64), columns.astype(np.int64)
    low, right = rows - top, columns - left
    image = np.arange(len(images))[:, None, None]

    def at(dy: int, dx: int) -> Array:
        corner: Array = padded[image, top + dy, left + dx]
        return corner

    above = at(0, 0) * (1 - right) + at(0, 1) * right
    below = at(1, 0) * (1 - right) + at(1, 1) * right
    result: Array = above * (1 - low) + below * low
    return result


def write(path: Path) -> None:
    """Writes originals for training, and images for calibration and the test."""
    train, test = originals(held_out=False), originals(held_out=True)
    rng = np.random.default_rng(_SEED)
    chosen = rng.choice(len(train.pixels), _CALIBRATION, replace=False)
    digits = np.tile(test.digits, _TESTS_OF_EACH)
    repeated = np.tile(test.pixels, (_TESTS_OF_EACH, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        train=train.pixels,
        train_digits=train.digits,
        calibration=varied(train.pixels[chosen], rng),
        test=varied(repeated, rng),
        test_digits=digits,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path, help="where to write them, as .npz")
    write(parser.parse_args().file)


if __name__ == "__main__":
    main()
