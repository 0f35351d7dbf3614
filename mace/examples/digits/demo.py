# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Classifies the sample images with the converted model and shows the result.

    python mace/examples/digits/demo.py

Needs the converted model and `mace_run`, as `bash tools/demo.sh` makes them.
The images go through the model one by one, since it was converted for one. Prints
each image's prediction beside the truth and draws a contact sheet,
`build/digits/digits.png`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

Array = np.ndarray[Any, np.dtype[Any]]
HERE = Path(__file__).resolve().parent
COLUMNS = 10


@dataclass(frozen=True)
class Sample:
    """An image, its digit, and the model's output."""

    pixels: Array
    truth: int
    digit: int
    probability: float


def load_images(folder: Path) -> tuple[Array, list[int]]:
    """Images [N, 8, 8, 1] in [0, 1], and the digits in their names."""
    files = sorted(folder.glob("*_is_[0-9].png"))
    if not files:
        raise SystemExit(f"no images (<number>_is_<digit>.png) in {folder}")
    images = [np.asarray(Image.open(f).convert("L")) for f in files]
    pixels = np.stack(images).astype(np.float32)[..., None] / 255
    return pixels, [int(f.stem[-1]) for f in files]


def classify(images: Array, runner: Path, model: Path) -> Array:
    """Probabilities [N, 10], from one run of the model for each image."""
    return np.stack([classify_one(image, runner, model) for image in images])


def classify_one(image: Array, runner: Path, model: Path) -> Array:
    """The probabilities of the ten digits."""
    with tempfile.TemporaryDirectory() as folder:
        prefix_in, prefix_out = Path(folder) / "in", Path(folder) / "out"
        image.tofile(f"{prefix_in}_image")
        command = [
            str(runner),
            f"--model_file={model}",
            f"--model_data_file={model.with_suffix('.data')}",
            "--input_node=image",
            "--input_shape=1,8,8,1",
            "--output_node=probability",
            "--output_shape=1,10",
            f"--input_file={prefix_in}",
            f"--output_file={prefix_out}",
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SystemExit(result.stderr or result.stdout)
        return np.fromfile(f"{prefix_out}_probability", np.float32)


def contact_sheet(samples: list[Sample], path: Path) -> None:
    """Draws every image with prediction, probability and truth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = -(-len(samples) // COLUMNS)
    figure, axes = pyplot.subplots(
        rows, COLUMNS, figsize=(COLUMNS * 1.15, rows * 1.5 + 0.6)
    )
    for axis in np.ravel(axes):
        axis.axis("off")
    for axis, sample in zip(np.ravel(axes), samples):
        right = sample.digit == sample.truth
        axis.imshow(sample.pixels[..., 0], cmap="gray_r", vmin=0, vmax=1)
        axis.set_title(
            f"{sample.digit}  ({sample.probability:.0%})"
            + ("" if right else f"\nis {sample.truth}"),
            color="#14632b" if right else "#b3261e",
            fontsize=10,
        )
    correct = sum(s.digit == s.truth for s in samples)
    figure.suptitle(
        f"MACE: {correct} of {len(samples)} held-out digits right", fontsize=13
    )
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def print_table(samples: list[Sample], console: Console) -> None:
    """One column per truth, one line per image of it."""
    table = Table(title="prediction (probability) by truth")
    for digit in range(10):
        table.add_column(str(digit), justify="center")
    by_truth = [[s for s in samples if s.truth == d] for d in range(10)]
    for row in range(max(map(len, by_truth))):
        cells = []
        for group in by_truth:
            if row >= len(group):
                cells.append("")
                continue
            sample = group[row]
            style = "green" if sample.digit == sample.truth else "bold red"
            cells.append(f"[{style}]{sample.digit}[/] {sample.probability:.2f}")
        table.add_row(*cells)
    console.print(table)


def main() -> int:
    """Runs the demo; 0 if at least 9 of 10 images are recognised."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--images", type=Path, default=HERE / "images")
    parser.add_argument("--runner", type=Path, default=Path("build/bin/host/mace_run"))
    parser.add_argument(
        "--model", type=Path, default=Path("build/digits/model/digits.pb")
    )
    parser.add_argument("--sheet", type=Path, default=Path("build/digits/digits.png"))
    args = parser.parse_args()
    for path in (args.runner, args.model):
        if not path.exists():
            raise SystemExit(f"{path} is missing: run `bash tools/demo.sh`")
    images, truth = load_images(args.images)
    probabilities = classify(images, args.runner, args.model)
    samples = [
        Sample(pixels, digit, int(row.argmax()), float(row.max()))
        for pixels, digit, row in zip(images, truth, probabilities)
    ]
    samples.sort(key=lambda sample: sample.truth)
    console = Console()
    print_table(samples, console)
    contact_sheet(samples, args.sheet)
    correct = sum(s.digit == s.truth for s in samples)
    console.print(f"{correct} of {len(samples)} right; contact sheet: {args.sheet}")
    return 0 if correct * 10 >= len(samples) * 9 else 1


if __name__ == "__main__":
    sys.exit(main())
