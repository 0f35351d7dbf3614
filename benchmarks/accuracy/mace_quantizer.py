# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes ONNX networks after training, by the commands of MACE that users call."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.accuracy.engines import Pixels
from benchmarks.networks import ROOT

# `converter.py quantize` without keys; and the largest and least numbers alone, by the
# tool for statistics.
_SAMPLES, _RANGE_FILE = "samples", "range_file"
METHODS = (_SAMPLES, _RANGE_FILE)
# `quantize_dynamic: 1`, without samples.
DYNAMIC = "dynamic"
_STATISTICS = "mace/python/tools/quantization/quantize_stat.py"
_DEPLOYMENT = """\
library_name: {name}
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  {name}:
    platform: onnx
    model_file_path: {model}
    subgraphs:
      - input_tensors: [image]
        input_shapes: ["-1,32,32,1"]
        output_tensors: [logits]
        output_shapes: ["-1,10"]
        output_data_formats: [NONE]
    runtime: cpu
    data_type: fp32_fp32
"""


def write_samples(samples: Pixels, folder: Path) -> None:
    """Writes each image as a raw file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for index, image in enumerate(samples):
        # Images of one channel are the same in NHWC.
        image.tofile(folder / f"image_{index:03}")


def quantize(source: Path, method: str, samples: Path, folder: Path) -> Path:
    """Converts a network to integers.

    Args:
        source: in float32, with the input `image` and the output `logits`.
        method: of METHODS, or DYNAMIC.
        samples: the folder of `write_samples`.
        folder: for all that is written.

    Returns:
        The path of the MACE model, without suffix.

    Raises:
        SystemExit: a command failed.
    """
    name = f"{source.stem}_{method}"
    build = f"--build_dir={folder / 'build'}"
    config = folder / f"{name}.yml"
    text = _DEPLOYMENT.format(name=name, model=source)
    if method == DYNAMIC:
        config.write_text(text + "    quantize_dynamic: 1\n", encoding="utf-8")
        _call("tools/converter.py", "convert", f"--config={config}", build)
    elif method == _RANGE_FILE:
        config.write_text(text, encoding="utf-8")
        _call("tools/converter.py", "convert", f"--config={config}", build)
        ranges = folder / f"{name}.ranges"
        _find_ranges(config, build, samples, ranges)
        text += f"    quantize: 1\n    quantize_range_file: {ranges}\n"
        config.write_text(text, encoding="utf-8")
        _call("tools/converter.py", "convert", f"--config={config}", build)
    else:
        # 0: all samples, as other quantizers take them.
        keys = f"{{input_dir: {samples}, samples: 0}}"
        text += f"    quantize: 1\n    calibration: {keys}\n"
        config.write_text(text, encoding="utf-8")
        _call("tools/converter.py", "quantize", f"--config={config}", build)
    return folder / "build" / name / "model" / name


def _find_ranges(config: Path, build: str, samples: Path, target: Path) -> None:
    """Writes the ranges of all tensors over the samples."""
    arguments = ["--quantize_stat", f"--input_dir={samples}", build]
    log = target.with_suffix(".log")
    printed = _call("tools/converter.py", "run", f"--config={config}", *arguments)
    log.write_text(printed, encoding="utf-8")
    target.write_text(_call(_STATISTICS, f"--log_file={log}"), encoding="utf-8")


def _call(program: str, *arguments: str) -> str:
    command: Sequence[str] = [sys.executable, program, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        raise SystemExit(f"{' '.join(command)} failed, see above")
    return done.stdout
