# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How many images small trained networks recognise in floats and in 8 bits.

    bash benchmarks/setup.sh exports
    python -m benchmarks.accuracy.score [--networks NAME ...] [--require_goals]

Trains the networks where their files are missing or older than the programs, which
takes some minutes; quantizes each by every quantizer with the same 256 images; and
classifies 4,792 images made of originals that no training has seen. See README.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from benchmarks.accuracy import data, engines, mace_quantizer, onnx_quantizer
from benchmarks.accuracy.engines import Digits, Pixels
from benchmarks.exports import require_exporter
from benchmarks.library import Library
from benchmarks.networks import DIRECTORY, ROOT
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table

_HERE = Path(__file__).resolve().parent
_FOLDER = DIRECTORY / "accuracy"
_PYTHON = ROOT / "build/exports-venv/bin/python"
# What is measured, and the network whose training gives it.
NETWORKS = {
    "mobilenet_v2": "mobilenet_v2",
    "mobilenet_v3": "mobilenet_v3",
    "resnet": "resnet",
    "resnet_unequal": "resnet",
    "transformer": "transformer",
}
# LiteRT's converter reads networks of images alone (peers/tflite.py).
_NOT_BY_LITERT = ("transformer",)
# Whose time is that of products, which can be quantized in each run.
_OF_PRODUCTS = ("transformer",)
_COLUMNS = {
    "float": "float: MACE",
    "float_onnxruntime": "ONNX Runtime",
    "ptq_mace_samples": "PTQ: MACE",
    "ptq_mace_range_file": "by range file",
    "ptq_onnxruntime_min_max": "ONNX Runtime min-max",
    "ptq_onnxruntime_percentile": "percentile",
    "ptq_onnxruntime_entropy": "entropy",
    "ptq_litert": "LiteRT",
    "dynamic_mace": "dynamic: MACE",
    "dynamic_onnxruntime": "ONNX Runtime",
    "qat_mace": "QAT: MACE",
    "qat_onnxruntime": "ONNX Runtime",
}
# The most that MACE may lose, in points.
_GOALS = {"ptq_mace_samples": 0.5, "dynamic_mace": 0.2, "qat_mace": 0.2}
# Differences of fewer points, five images, say nothing: 50 to 110 of the images are not
# recognised, and chance alone moves that by seven or more.
_NOISE = 0.1


class _Images:
    """What data.py writes."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as held:
            self.calibration: Pixels = held["calibration"]
            self.test: Pixels = held["test"]
            self.digits: Digits = held["test_digits"]

    def correct(self, found: Digits) -> float:
        """The percentage of images that were recognised."""
        return float((found == self.digits).mean() * 100)


def images() -> Path:
    """The file of images, which is made if it is missing or old."""
    path = _FOLDER / "images.npz"
    if not path.exists() or _is_older(path, "data.py"):
        data.write(path)
    return path


def train(name: str, pixels: Path) -> None:
    """Trains a network unless its files are newer than the programs.

    Raises:
        SystemExit: PyTorch is missing, or the training failed.
    """
    done = _FOLDER / f"{name}.json"
    programs = ("data.py", "fake_quantization.py", "networks.py", "train.py")
    if done.exists() and not _is_older(done, *programs, "unequal.py"):
        return
    require_exporter()
    print(f"training {name}", flush=True)
    command = [_PYTHON, _HERE / "train.py", name, pixels, _FOLDER]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        sys.stderr.write(ended.stderr)
        raise SystemExit(f"{name} could not be trained, see above")


def _is_older(path: Path, *programs: str) -> bool:
    newest = max((_HERE / name).stat().st_mtime for name in programs)
    return path.stat().st_mtime < newest


def score(name: str, held: _Images, library: Library) -> dict[str, float]:
    """The percentage of correct images, by column."""
    plain = _FOLDER / f"{name}_float.onnx"
    trained = _FOLDER / f"{name}_qat.onnx"

    def by_mace(model: Path) -> Digits:
        return engines.by_mace(engines.converted(model), held.test, library)

    def by_onnxruntime(model: Path) -> Digits:
        return engines.by_onnxruntime(model, held.test)

    def by_mace_quantized(method: str) -> Digits:
        samples = _FOLDER / "samples"
        mace_quantizer.write_samples(held.calibration, samples)
        model = mace_quantizer.quantize(plain, method, samples, _FOLDER)
        return engines.by_mace(model, held.test, library)

    def quantized(method: str) -> Digits:
        target = _FOLDER / f"{name}_{method}.onnx"
        onnx_quantizer.quantize(plain, method, held.calibration, target)
        return by_onnxruntime(target)

    def dynamic() -> Digits:
        samples, method = _FOLDER / "samples", mace_quantizer.DYNAMIC
        model = mace_quantizer.quantize(plain, method, samples, _FOLDER)
        return engines.by_mace(model, held.test, library)

    def dynamic_onnxruntime() -> Digits:
        target = _FOLDER / f"{name}_dynamic.onnx"
        onnx_quantizer.quantize_products(plain, target)
        return by_onnxruntime(target)

    def litert() -> Digits:
        from benchmarks.peers import tflite

        images = held.calibration.transpose(0, 2, 3, 1)
        model = tflite.convert(plain, [image[None] for image in images])
        return engines.by_litert(model, held.test)

    ways: dict[str, Callable[[], Digits]] = {
        "float": lambda: by_mace(plain),
        "float_onnxruntime": lambda: by_onnxruntime(plain),
    }
    for method in mace_quantizer.METHODS:
        ways[f"ptq_mace_{method}"] = lambda m=method: by_mace_quantized(m)  # type: ignore[misc]
    for method in onnx_quantizer.METHODS:
        ways[f"ptq_onnxruntime_{method}"] = lambda m=method: quantized(m)  # type: ignore[misc]
    if name not in _NOT_BY_LITERT:
        ways["ptq_litert"] = litert
    if name in _OF_PRODUCTS:
        ways["dynamic_mace"] = dynamic
        ways["dynamic_onnxruntime"] = dynamic_onnxruntime
    if trained.exists():
        ways["qat_mace"] = lambda: by_mace(trained)
        ways["qat_onnxruntime"] = lambda: by_onnxruntime(trained)
    return {way: held.correct(classify()) for way, classify in ways.items()}


def tables(found: Any) -> list[Table]:
    """Percentages by network, and the goals."""
    title = (
        f"images of {found['images']} that are recognised, %; ranges of PTQ are from "
        f"{found['calibration_images']} others"
    )
    shown = {k: v for k, v in _COLUMNS.items() if any(k in r for r in found["rows"])}
    table = Table("accuracy", title, ("network", *shown.values()))
    for row in found["rows"]:
        cells = (f"{row[key]:.2f}" if key in row else "-" for key in shown)
        table.add(row["network"], *cells)
    goals = Table("goals", "goals", ("goal", "met", "where", "limit", "measured"), 3)
    for key, limit in _GOALS.items():
        rows = {r["network"]: r for r in found["rows"] if key in r}
        if not rows:
            continue
        lost = {name: row["float"] - row[key] for name, row in rows.items()}
        behind = {name: _behind(row, key) for name, row in rows.items()}
        for what, points, most in (
            ("points lost", lost, limit),
            ("points behind the best other", behind, _NOISE),
        ):
            where = max(points, key=points.__getitem__)
            met = "yes" if points[where] <= most else "no"
            goals.add(
                f"{_COLUMNS[key]}: {what}, worst",
                met,
                where,
                f"≤ {most:.2f}",
                f"{points[where]:.2f}",
            )
    return [table, goals]


def _behind(row: dict[str, Any], key: str) -> float:
    """How many points MACE is behind the best of the others of its kind."""
    kind = key.partition("_")[0]
    peers = (v for k, v in row.items() if k.startswith(kind) and "mace" not in k)
    return float(max(peers) - row[key])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS)
    )
    parser.add_argument(
        "--require_goals", action="store_true", help="fail if a goal is missed"
    )
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.accuracy.score", args)
    library = Library()
    path = images()
    held = _Images(path)
    rows = []
    for name in args.networks:
        train(NETWORKS[name], path)
        print(f"measuring {name}", flush=True)
        rows.append({"network": name, **score(name, held, library)})
    found = {
        "images": len(held.digits),
        "calibration_images": len(held.calibration),
        "rows": rows,
    }
    versions = {
        "MACE": library.version,
        "ONNX Runtime": onnxruntime.__version__,
        "LiteRT of TensorFlow": metadata.version("tensorflow"),
    }
    record = output.finish(found, versions)
    goals = next(table for table in record.tables() if table.name == "goals")
    missed = any(row[1] == "no" for row in goals.rows)
    return int(args.require_goals and missed)


if __name__ == "__main__":
    sys.exit(main())
