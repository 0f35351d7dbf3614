# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The request to a framework, and its response."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.installation import PACKAGE, install
from mace.python.tools.errors import MaceError, MissingToolError
from mace.python.tools.validate.metrics import Metrics

Array = npt.NDArray[Any]


class FrameworkError(MaceError):
    """The original framework cannot run the model as asked."""


@dataclass(frozen=True)
class ReferenceRequest:
    """One run of the original model.

    Attributes:
        framework: 'onnxruntime', 'tensorflow', 'tflite', 'keras', 'torch' or 'cv2'.
        model_file: in the framework's own format.
        inputs: by framework tensor name, in the framework's layout.
        outputs: tensors that must be returned.
        optional_outputs: tensors to return if the framework knows them.
        weight_file: where the weights are, if not in model_file.
        varied: whether to run on inputs moved by rounding, too.
    """

    framework: str
    model_file: Path
    inputs: dict[str, Array]
    outputs: tuple[str, ...]
    optional_outputs: tuple[str, ...] = ()
    weight_file: Path | None = None
    varied: bool = True


@dataclass(frozen=True)
class ReferenceResult:
    """Tensors by the requested names, in the framework's layout.

    Attributes:
        variations: how each changes if the inputs are moved by rounding; those of
            tensors with NaN or infinity are left out.
        nodes: what computes each in the model file, where its name does not say.
    """

    tensors: dict[str, Array] = field(default_factory=dict)
    version: str = ""
    variations: dict[str, Metrics] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)


# The interface of a framework's module: `run`, executed in the child process. It raises
# FrameworkError for problems that the user can solve.
Runner = Callable[[ReferenceRequest], ReferenceResult]


# Starts the child process in which a framework runs.
#
# Frameworks load slowly, write to standard error, keep gigabytes after a run and may
# crash. A child process keeps this away from the process that the user runs.


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
