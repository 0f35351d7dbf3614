# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes images of the training set as raw files, from which ranges are found.

    python mace/examples/digits/samples.py --out build/digits/samples

Each file, `image_<index>`, has 8 x 8 numbers of float32 in [0, 1]. Every tenth image of
the training set is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from train import load

STEP = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    images, *_ = load()
    out.mkdir(parents=True, exist_ok=True)
    for index in range(0, len(images), STEP):
        images[index].tofile(out / f"image_{index:04}")
    print(f"{len(range(0, len(images), STEP))} samples in {out}")


if __name__ == "__main__":
    main()
