# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Classifies images of digits: the smallest program, and what it grows into.

python mace/examples/python/classify.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import mace

DIGITS = Path(__file__).resolve().parents[1] / "digits"


def read(path: Path) -> np.ndarray:
    """An image as the model takes it: 1 x 1 x 8 x 8 numbers from 0 to 1."""
    with Image.open(path) as image:
        pixels = image.convert("L").resize((8, 8))
        return np.asarray(pixels, np.float32).reshape(1, 1, 8, 8) / 255


def main() -> None:
    """Three ways to run the same model."""
    images = sorted((DIGITS / "images").glob("*.png"))

    # One image after the other.
    model = mace.load(DIGITS / "digits.onnx", dims={"N": 1})
    right = sum(path.stem.endswith(str(model(read(path)).argmax())) for path in images)
    print(f"{right} of {len(images)} images are recognised")

    # Several at once: the model leaves their number open, and each run decides.
    batches = mace.load(DIGITS / "digits.onnx")
    batch = np.concatenate([read(path) for path in images])
    print(f"all at once: {batches(batch).argmax(axis=1).tolist()}")

    # A stream of images: the arrays are fixed, and a run allocates nothing.
    bound = model.bind()
    seen = []
    for path in images:
        bound.inputs["image"][...] = read(path)
        seen.append(int(bound().argmax()))
    print(f"as a stream: {seen}")


if __name__ == "__main__":
    main()
