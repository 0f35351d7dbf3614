# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes an exported program of TorchScript. Runs in a child process: it needs PyTorch.

python -m mace.python.tools.importers.pytorch.script_worker FOLDER

FOLDER/request.json has the file, its inputs, and how many bytes it may take beyond what
PyTorch itself needs; program.pt2 and answer.json are written.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch


class ScriptError(Exception):
    """TorchScript cannot be converted; the message says why."""


def load_script(path: Path) -> Any:
    """A module for inference.

    Raises:
        ScriptError: it cannot be read.
    """
    try:
        module = torch.jit.load(str(path), map_location="cpu")
    except (MemoryError, RuntimeError, ValueError) as error:
        raise ScriptError(f"PyTorch cannot read it: {_line(error)}") from error
    return module.eval()


def argument_names(module: Any) -> list[str]:
    """The names of the arguments of forward."""
    return [entry.name for entry in module.forward.schema.arguments[1:]]


def export_script(module: Any, inputs: Mapping[str, torch.Tensor]) -> Any:
    """The exported program of a module, for these inputs.

    Raises:
        ScriptError: PyTorch cannot convert it, or the inputs are others.
    """
    from torch._export.converter import TS2EPConverter

    names = argument_names(module)
    if set(inputs) != set(names):
        raise ScriptError(
            f"input_tensors: forward takes {', '.join(names)}; the deployment file has "
            f"{', '.join(inputs)}"
        )
    arguments = tuple(inputs[name] for name in names)
    try:
        with torch.no_grad():
            return TS2EPConverter(module, arguments, {}).convert()
    except Exception as error:  # PyTorch's exporter raises many kinds
        raise ScriptError(f"PyTorch cannot export it: {_line(error)}") from error


def limit_memory(more: int) -> None:
    """Lets this process have so many bytes more than it has, of its own data: what
    libraries map is not counted.
    """
    try:
        import resource

        statistics = Path("/proc/self/statm").read_text(encoding="ascii").split()
        wanted = int(statistics[5]) * resource.getpagesize() + more
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    except (ImportError, OSError, ValueError):
        return  # systems without such limits


def _line(error: Exception) -> str:
    # Behind the reason, PyTorch tells where in its own graph it was.
    reason = str(error).split("\nWhile executing %")[0]
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _example(entry: Mapping[str, Any]) -> torch.Tensor:
    return torch.zeros(entry["shape"], dtype=getattr(torch, entry["dtype"]))


def main(arguments: Sequence[str]) -> int:
    """Converts what a folder asks for."""
    folder = Path(arguments[0])
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    answer: dict[str, Any] = {"error": None}
    # What PyTorch needs for itself is not the file's.
    import torch._export.converter

    limit_memory(request["memory"])
    try:
        module = load_script(Path(request["file"]))
        inputs = {name: _example(entry) for name, entry in request["inputs"].items()}
        program = export_script(module, inputs)
        torch.export.save(program, str(folder / "program.pt2"))
        answer["names"] = dict(
            zip(argument_names(module), program.graph_signature.user_inputs)
        )
    except ScriptError as error:
        answer["error"] = str(error)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
