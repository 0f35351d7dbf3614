# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images become raw files of float32, which runs read: `image_to_tensor.py`."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.atomic import atomic_write
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.images.files import (
    ImageError,
    find_files,
    make_parser,
    require_pillow,
)

Array = npt.NDArray[Any]

# Pillow's modes with 8 bits for each channel.
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
# Modes with wider elements; Pillow would cut them off.
_WIDE = ("I", "F")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def _run(arguments: list[str]) -> int:
    parser = make_parser(
        "image_to_tensor.py",
        "images to raw files of float32, <name>.dat, of the shape 1,HEIGHT,WIDTH,"
        "CHANNELS",
        "--input=cat.jpg --output_dir=build --image_shape=224,224,3",
    )
    parser.add_argument(
        "--mean",
        type=_numbers,
        default=(),
        metavar="NUMBER[,NUMBER]",
        help="for each channel, or one for all: pixels become (pixel - mean) / 255; "
        "without it, numbers from -1 to 1",
    )
    args = parser.parse_args(arguments)
    channels = args.image_shape[2]
    if channels not in _MODES:
        parser.error(
            f"--image_shape: found {channels} channels, accepted: 1 (gray), 3 (RGB) or "
            "4 (RGBA)"
        )
    if args.mean and len(args.mean) not in (1, channels):
        parser.error(
            f"--mean: found {len(args.mean)} numbers for {channels} channels, "
            f"accepted: 1 or {channels}"
        )
    require_pillow()
    for source, target in find_files(args.input, args.output_dir, ".dat").items():
        tensor = image_to_tensor(source, args.image_shape, args.mean)
        with atomic_write(target) as stream:
            stream.write(tensor.astype("<f4").tobytes())
        sys.stdout.write(f"{target}\n")
    return 0


def _numbers(text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = (float("nan"),)
    if not np.isfinite(numbers).all():
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: numbers, such as 123.7,116.8,103.9"
        )
    return numbers


def image_to_tensor(
    path: Path, shape: tuple[int, int, int], mean: Sequence[float] = ()
) -> Array:
    """The pixels of an image, of shape (1, *shape).

    Args:
        shape: height, width and channels.
        mean: subtracted from pixels before they are divided by 255, one number or one
            for each channel; without it, they become numbers from -1 to 1.

    Raises:
        ImageError: the file is no image that can be read.
    """
    pixels = _pixels(path, _MODES[shape[2]]).astype(np.float32)
    if mean:
        pixels = (pixels - np.asarray(mean, np.float32)) / np.float32(255)
    else:
        pixels = (pixels / np.float32(255) - np.float32(0.5)) * np.float32(2)
    return resize(pixels, shape[0], shape[1])[np.newaxis]


def _pixels(path: Path, mode: str) -> Array:
    """The pixels, of shape [height, width, channels]."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            # Of details of the file, and of large images.
            warnings.simplefilter("ignore")
            with Image.open(path) as image:
                found = image.mode
                array = np.asarray(image.convert(mode), np.uint8)
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        Image.DecompressionBombError,
    ) as error:
        reason = getattr(error, "strerror", None) or str(error).strip()
        reason = reason.splitlines()[0] if reason else type(error).__name__
        raise ImageError(f"{path} cannot be read as an image: {reason}") from error
    if found.startswith(_WIDE):
        raise ImageError(
            f"{path} has {found} pixels, accepted: images with 8 bits for each channel"
        )
    return array.reshape(*array.shape[:2], -1)


def resize(image: Array, height: int, width: int) -> Array:
    """Bilinear, as `tf.image.resize_bilinear` of TensorFlow 1: row y of the result is
    at y * (old height / height).
    """
    for axis, size in enumerate((height, width)):
        image = _resize_axis(image, axis, size)
    return image


def _resize_axis(image: Array, axis: int, size: int) -> Array:
    old = image.shape[axis]
    place = np.arange(size, dtype=np.float32) * np.float32(old / size)
    first = np.minimum(place.astype(np.int64), old - 1)
    second = np.minimum(first + 1, old - 1)
    share = (place - first).reshape([-1 if i == axis else 1 for i in range(3)])
    low, high = (np.take(image, index, axis) for index in (first, second))
    return np.asarray(low + (high - low) * share, np.float32)
