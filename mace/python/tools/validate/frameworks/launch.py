# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Starts the child process in which a framework runs.

Frameworks load slowly, write to standard error, keep gigabytes after a run and may
crash. A child process keeps this away from the process that the user runs.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from mace.python.installation import PACKAGE, install
from mace.python.tools.errors import MissingToolError
from mace.python.tools.validate.frameworks.reference import (
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.validate.metrics import Metrics

# Where `python -m` finds the worker.
_ROOT = PACKAGE.parent

# Framework -> extra of the Python project that installs it.
_EXTRAS = {
    "cv2": "caffe",
    "keras": "tensorflow",
    "onnxruntime": "validate",
    "tensorflow": "tensorflow",
    "tflite": "tensorflow",
    "torch": "pytorch",
}
# Framework -> modules of which one is enough, and package, if they are called
# differently. The interpreter of TensorFlow Lite is part of TensorFlow, and a package.
_MODULES = {"tflite": ("ai_edge_litert", "tensorflow")}
_PACKAGES = {"cv2": "opencv-python-headless", "tflite": "tensorflow"}

# The time limit of a reference run; after it, the run counts as hung.
_TIME_LIMIT_S = 1800.0

_LAST_LINES = 12


def run_reference(request: ReferenceRequest) -> ReferenceResult:
    """Runs the original model.

    Raises:
        MissingToolError: the framework is not installed.
        FrameworkError: it cannot run this model, or crashed.
    """
    _require(request.framework)
    with tempfile.TemporaryDirectory(prefix="mace_reference_") as folder:
        _write_request(request, Path(folder))
        command = [
            sys.executable,
            "-m",
            "mace.python.tools.validate.frameworks.worker",
            folder,
        ]
        try:
            process = subprocess.run(
                command,
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIME_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FrameworkError(
                f"{request.framework} did not finish {request.model_file} within "
                f"{_TIME_LIMIT_S:.0f} s"
            ) from None
        return _read_result(request, Path(folder), process)


def _require(framework: str) -> None:
    extra = _EXTRAS[framework]
    modules = _MODULES.get(framework, (framework,))
    if not any(importlib.util.find_spec(name) for name in modules):
        raise MissingToolError(
            f"Python package {_PACKAGES.get(framework, framework)}",
            "comparing with the original framework (--validate)",
            install(extra),
        )


def _write_request(request: ReferenceRequest, folder: Path) -> None:
    names = list(request.inputs)
    # Tensor names may be invalid as names in an archive, so numbers are used.
    arrays = {f"t{i}": request.inputs[name] for i, name in enumerate(names)}
    np.savez(folder / "inputs.npz", **arrays)  # type: ignore[arg-type]
    text = json.dumps(
        {
            "framework": request.framework,
            "model_file": str(request.model_file.resolve()),
            "inputs": names,
            "outputs": request.outputs,
            "optional_outputs": request.optional_outputs,
            "varied": request.varied,
            "weight_file": request.weight_file and str(request.weight_file.resolve()),
        }
    )
    (folder / "request.json").write_text(text, encoding="utf-8")


def _read_result(
    request: ReferenceRequest,
    folder: Path,
    process: subprocess.CompletedProcess[str],
) -> ReferenceResult:
    answer = folder / "result.json"
    if process.returncode != 0 or not answer.is_file():
        tail = "\n".join(process.stderr.strip().splitlines()[-_LAST_LINES:])
        raise FrameworkError(
            f"{request.framework} stopped with status {process.returncode} while "
            f"running {request.model_file}:\n{tail}"
        )
    result = json.loads(answer.read_text(encoding="utf-8"))
    if result["error"] is not None:
        raise FrameworkError(result["error"])
    with np.load(folder / "outputs.npz", allow_pickle=False) as archive:
        tensors = {name: archive[f"t{i}"] for i, name in enumerate(result["tensors"])}
    variations = {n: Metrics(*found) for n, found in result["variations"].items()}
    return ReferenceResult(tensors, result["version"], variations, result["nodes"])
