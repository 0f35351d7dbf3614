# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Raw files of float32, which runs write, become images: `tensor_to_image.py`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.atomic import atomic_write
from mace.python.tools.command_line import flags
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.images.files import (
    ImageError,
    find_files,
    make_parser,
    require_pillow,
)

Array = npt.NDArray[Any]

_CHANNELS = (1, 2, 3)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def _run(arguments: list[str]) -> int:
    parser = make_parser(
        "tensor_to_image.py",
        "raw files of float32 from 0 to 1 to images, <name>.jpg; of two channels, the "
        "second one becomes a gray image",
        "--input=build/output --output_dir=build --image_shape=224,224,3",
    )
    flags.add_switch(
        parser, "--add_softmax", "first compute Softmax over the channels of each pixel"
    )
    args = parser.parse_args(arguments)
    channels = args.image_shape[2]
    if channels not in _CHANNELS:
        parser.error(
            f"--image_shape: found {channels} channels, accepted: 1 (gray), 2 (the "
            "second one is shown) or 3 (RGB)"
        )
    require_pillow()
    for source, target in find_files(args.input, args.output_dir, ".jpg").items():
        data = _jpeg(tensor_to_pixels(source, args.image_shape, args.add_softmax))
        with atomic_write(target) as stream:
            stream.write(data)
        sys.stdout.write(f"{target}\n")
    return 0


def tensor_to_pixels(
    path: Path, shape: tuple[int, int, int], add_softmax: bool = False
) -> Array:
    """The image in a raw file, of shape [height, width] or [height, width, 3].

    Args:
        shape: height, width and channels; of two channels, the second one is taken.
        add_softmax: over the channels of each pixel, before anything else.

    Raises:
        ImageError: the file does not fit the shape, or has numbers that are none.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error.strerror}") from error
    wanted = 4 * int(np.prod(shape))
    if len(data) != wanted:
        raise ImageError(
            f"{path} has {len(data)} bytes, but --image_shape={shape[0]},{shape[1]},"
            f"{shape[2]} of float32 has {wanted}"
        )
    tensor = np.frombuffer(data, "<f4").reshape(shape)
    if not np.isfinite(tensor).all():
        raise ImageError(f"{path} has numbers that are not finite")
    if add_softmax:
        powers = np.exp(tensor - tensor.max(axis=2, keepdims=True))
        tensor = powers / powers.sum(axis=2, keepdims=True)
    if shape[2] == 2:
        tensor = tensor[:, :, 1:]
    # As tf.image.convert_image_dtype: each of the 256 numbers has the same share.
    pixels: Array = np.clip(tensor * np.float32(255.5), 0, 255).astype(np.uint8)
    return pixels[:, :, 0] if pixels.shape[2] == 1 else pixels


def _jpeg(pixels: Array) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    try:
        Image.fromarray(pixels).save(stream, "JPEG", quality=100, subsampling=0)
    except (OSError, ValueError) as error:
        raise ImageError(f"the image cannot be written as JPEG: {error}") from error
    return stream.getvalue()
