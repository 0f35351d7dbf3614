# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TorchScript: PyTorch makes an exported program of it, in a child process."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from mace.python.installation import PACKAGE
from mace.python.tools.importers.frame.budget import TIMES
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    user_to_framework,
)
from mace.python.tools.importers.pytorch.model import Model, read_model
from mace.python.tools.ir.graph import DataFormat

# Where `python -m` finds the worker.
_ROOT = PACKAGE.parent
_TIME_LIMIT_S = 1800.0
# What PyTorch needs to export a small file: its compiler's modules and its threads.
_FLOOR_BYTES = 1 << 30
_LAST_LINES = 5


def read_script(request: ImportRequest) -> Model:
    """Reads a TorchScript file as a program.

    Raises:
        ImportModelError: PyTorch is not installed, or cannot export the file.
    """
    path = request.model_path
    if importlib.util.find_spec("torch") is None:
        raise ImportModelError(
            f"model_file_path: {path} is TorchScript, which PyTorch has to export: "
            "pip install torch, or save the model by torch.export.save as .pt2"
        )
    with tempfile.TemporaryDirectory(prefix="mace_script_") as name:
        folder = Path(name)
        text = json.dumps(
            {
                "file": str(path.resolve()),
                "inputs": {
                    spec.name: _example(spec, spec.name in request.constants)
                    for spec in request.inputs
                },
                "memory": _memory(request),
            }
        )
        (folder / "request.json").write_text(text, encoding="utf-8")
        answer = _run(path, folder)
        if answer["error"] is not None:
            raise ImportModelError(f"{path}: {answer['error']}")
        model = read_model(folder / "program.pt2")
    names = answer["names"]
    assert isinstance(names, dict)
    return replace(model, path=path, names={**model.names, **names})


def _example(spec: InputSpec, is_constant: bool) -> dict[str, object]:
    # An empty shape is one that the deployment does not give, or that of a number.
    if not (is_constant or spec.shape) or min(spec.shape, default=0) < 0:
        raise ImportModelError(
            f"input_shapes: TorchScript needs a fixed shape of {spec.name!r}; give it, "
            "or save the model by torch.export.save with dynamic_shapes"
        )
    shape = user_to_framework(spec.shape, spec.data_format, DataFormat.NCHW)
    return {"shape": list(shape), "dtype": spec.dtype.value}


def _memory(request: ImportRequest) -> int:
    """The bytes that the child process may take: a multiple of the file's and those of
    its inputs.
    """
    given = sum(
        math.prod(spec.shape) * spec.dtype.numpy.itemsize for spec in request.inputs
    )
    return _FLOOR_BYTES + TIMES * (request.model_path.stat().st_size + given)


def _run(path: Path, folder: Path) -> dict[str, object]:
    module = "mace.python.tools.importers.pytorch.script_worker"
    try:
        process = subprocess.run(
            [sys.executable, "-m", module, str(folder)],
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ImportModelError(
            f"{path}: PyTorch did not export it within {_TIME_LIMIT_S:.0f} s"
        ) from None
    answer = folder / "answer.json"
    if process.returncode != 0 or not answer.is_file():
        tail = "\n".join(process.stderr.strip().splitlines()[-_LAST_LINES:])
        raise ImportModelError(f"{path}: PyTorch stopped while exporting it:\n{tail}")
    found: dict[str, object] = json.loads(answer.read_text(encoding="utf-8"))
    return found
