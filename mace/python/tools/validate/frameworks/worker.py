# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The child process: reads a request from a folder and writes the response to it."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np

from mace.python.tools.validate.frameworks.reference import (
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
    Runner,
)

_MODULES = {
    "cv2": "mace.python.tools.validate.frameworks.opencv_dnn",
    "keras": "mace.python.tools.validate.frameworks.keras_model",
    "onnxruntime": "mace.python.tools.validate.frameworks.onnx_runtime",
    "tensorflow": "mace.python.tools.validate.frameworks.tensorflow_v1",
    "tflite": "mace.python.tools.validate.frameworks.tflite_interpreter",
    "torch": "mace.python.tools.validate.frameworks.torch_program",
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
    )
    run: Runner = importlib.import_module(_MODULES[request.framework]).run
    error = None
    result = ReferenceResult()
    try:
        result = run(request)
    except FrameworkError as failure:
        error = str(failure)
    arrays = {f"t{i}": array for i, array in enumerate(result.tensors.values())}
    np.savez(folder / "outputs.npz", **arrays)  # type: ignore[arg-type]
    answer = {
        "error": error,
        "version": result.version,
        "tensors": list(result.tensors),
    }
    (folder / "result.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
