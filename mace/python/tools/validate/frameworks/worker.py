# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The child process: reads a request from a folder and writes the response to it."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import ModuleType

import numpy as np

from mace.python.tools.validate.frameworks.reference import (
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
    Runner,
)
from mace.python.tools.validate.metrics import (
    Metrics,
    compute_metrics,
    moved_by_rounding,
)

_MODULES = {
    "cv2": "mace.python.tools.validate.frameworks.opencv_dnn",
    "keras": "mace.python.tools.validate.frameworks.keras_model",
    "onnxruntime": "mace.python.tools.validate.frameworks.onnx_runtime",
    "tensorflow": "mace.python.tools.validate.frameworks.tensorflow_v1",
    "tflite": "mace.python.tools.validate.frameworks.tflite_interpreter",
    "torch": "mace.python.tools.validate.frameworks.torch_program",
}
# Packages that a framework imports at start if they are there, but runs no model with:
# 40 % of the time that TensorFlow and Keras take to load.
_NEEDLESS = {
    "keras": ("matplotlib", "sklearn"),
    "tensorflow": ("keras",),
    "tflite": ("keras",),
}


def main(folder: Path) -> None:
    """Executes the request; a `FrameworkError` becomes the response."""
    raw = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    with np.load(folder / "inputs.npz", allow_pickle=False) as archive:
        inputs = {name: archive[f"t{i}"] for i, name in enumerate(raw["inputs"])}
    request = ReferenceRequest(
        framework=raw["framework"],
        model_file=Path(raw["model_file"]),
        inputs=inputs,
        outputs=tuple(raw["outputs"]),
        optional_outputs=tuple(raw["optional_outputs"]),
        weight_file=Path(raw["weight_file"]) if raw["weight_file"] else None,
        varied=raw["varied"],
    )
    leave_out_needless(request.framework, sys.modules)
    error = None
    result = ReferenceResult()
    try:
        result = answer(request)
    except FrameworkError as failure:
        error = str(failure)
    arrays = {f"t{i}": array for i, array in enumerate(result.tensors.values())}
    np.savez(folder / "outputs.npz", **arrays)  # type: ignore[arg-type]
    text = {
        "error": error,
        "version": result.version,
        "tensors": list(result.tensors),
        "nodes": result.nodes,
        "variations": {
            name: dataclasses.astuple(found)
            for name, found in result.variations.items()
        },
    }
    (folder / "result.json").write_text(json.dumps(text), encoding="utf-8")


def leave_out_needless(
    framework: str, modules: MutableMapping[str, ModuleType]
) -> None:
    """Makes a framework start as if packages were not installed that it can do without.

    Args:
        modules: `sys.modules` of a process that does nothing but run the framework.
    """
    for name in _NEEDLESS.get(framework, ()):
        # As Python's import system has it: no such module.
        modules[name] = None  # type: ignore[assignment]


def answer(request: ReferenceRequest) -> ReferenceResult:
    """Runs the framework in this process.

    Raises:
        FrameworkError: it cannot run the model.
    """
    run: Runner = importlib.import_module(_MODULES[request.framework]).run
    result = run(request)
    variations = _variations(run, request, result)
    return dataclasses.replace(result, variations=variations)


def _variations(
    run: Runner, request: ReferenceRequest, result: ReferenceResult
) -> dict[str, Metrics]:
    """How each tensor changes if the inputs are moved by rounding."""
    moved = {name: moved_by_rounding(array) for name, array in request.inputs.items()}
    if not request.varied or all(moved[name] is request.inputs[name] for name in moved):
        return {}
    other = run(dataclasses.replace(request, inputs=moved)).tensors
    found = {
        name: compute_metrics(array, other[name])
        for name, array in result.tensors.items()
        if name in other and other[name].shape == array.shape
    }
    return {name: m for name, m in found.items() if not math.isnan(m.similarity)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
