# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that PyTorch exported give the results that it computed."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.pytorch import HANDLERS, import_model
from mace.python.tools.importers.pytorch.functional import base_name, is_in_place
from mace.python.tools.importers.pytorch.model import read_model
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.validate.frameworks import ReferenceRequest, run_reference

_FOLDER = Path(__file__).parent
_RECORDED = _FOLDER / "recorded.zip"
# Computed only where the converter knows the tensor, which PyTorch then does, too.
_ONLY_REFUSED = frozenset({"aten.item"})
# torch.export can write them, and writes others instead (numbers_test.py has them).
_NOT_WRITTEN = frozenset({"_operator.pos", "torch.sym_int"})
_KINDS = ("training", "core")
# Functions of PyTorch that round differently: exponentials, Winograd, sums.
_RELATIVE, _ABSOLUTE = 2e-4, 2e-5


def _families() -> list[str]:
    with zipfile.ZipFile(_RECORDED) as archive:
        return sorted(n[:-4] for n in archive.namelist() if n.endswith(".npz"))


def _compare(recorded: Path, name: str, kind: str, folder: Path) -> None:
    """Converts a recorded program and runs it in the reference executor."""
    # Dimensions that the program leaves open.
    is_open = name.startswith("lengths")
    path = folder / "model.pt2"
    with zipfile.ZipFile(recorded) as archive:
        path.write_bytes(archive.read(f"{name}_{kind}.pt2"))
        arrays = dict(np.load(io.BytesIO(archive.read(f"{name}.npz"))))
        has_keys = f"{name}.json" in archive.namelist()
        keys = json.loads(archive.read(f"{name}.json")) if has_keys else []
        others = [
            dict(np.load(io.BytesIO(archive.read(other))))
            for other in archive.namelist()
            if other.startswith(f"{name}.other")
        ]
    program = read_model(path).program
    inputs = {n: arrays[f"input_{i}"] for i, n in enumerate(program.inputs)}
    graph = import_model(
        ImportRequest(
            name,
            path,
            tuple(_spec(n, array, is_open) for n, array in inputs.items()),
            tuple(
                OutputSpec(n, DataFormat.NONE) for n in dict.fromkeys(program.outputs)
            ),
        )
    )
    dims = [dim for value in graph.inputs for dim in value.shape or ()]
    assert is_open != all(isinstance(dim, int) for dim in dims)
    assert len(program.outputs) == sum(n.startswith("output_") for n in arrays)
    wrong = []
    for given in (arrays, *others):
        feeds = {n: narrow(given[f"input_{i}"]) for i, n in enumerate(inputs)}
        wrong += _differences(run_graph(graph, feeds), program.outputs, given, keys)
    assert not wrong, "\n".join(wrong)


def _differences(
    results: Mapping[str, Array],
    outputs: Sequence[str],
    arrays: Mapping[str, Array],
    keys: Sequence[str],
) -> list[str]:
    """What PyTorch computed otherwise."""
    wrong = []
    for index, output in enumerate(outputs):
        found, wanted = results[output], narrow(arrays[f"output_{index}"])
        key = keys[index] if keys else str(index)
        if found.dtype != wanted.dtype or found.shape != wanted.shape:
            wrong.append(f"{key}: {found.dtype}{found.shape}")
        elif not np.allclose(found, wanted, _RELATIVE, _ABSOLUTE, equal_nan=True):
            wrong.append(f"{key}: {found.ravel()[:5]}, not {wanted.ravel()[:5]}")
    return wrong


def _spec(name: str, array: Array, is_open: bool = False) -> InputSpec:
    shape = () if is_open else array.shape
    return InputSpec(name, shape, DataType.of(array.dtype), DataFormat.NONE)


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("name", _families())
def test_recorded_programs(name: str, kind: str, tmp_path: Path) -> None:
    _compare(_RECORDED, name, kind, tmp_path)


def test_every_handler_is_compared(tmp_path: Path) -> None:
    used = set()
    with zipfile.ZipFile(_RECORDED) as archive:
        for name in archive.namelist():
            if name.endswith(".pt2"):
                path = tmp_path / name
                path.write_bytes(archive.read(name))
                for node in read_model(path).program.graph.nodes:
                    own = base_name(node.target)
                    used |= {own, own[:-1] if is_in_place(node.target) else own}
    assert sorted(set(HANDLERS.types()) - used - _ONLY_REFUSED - _NOT_WRITTEN) == []


def _torch_python() -> str:
    given = os.environ.get("MACE_TORCH_PYTHON", "")
    has_torch = importlib.util.find_spec("torch") is not None
    return given or (sys.executable if has_torch else "")


@pytest.mark.skipif(not _torch_python(), reason="PyTorch is not installed")
def test_the_installed_pytorch(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded.zip"
    command = [_torch_python(), str(_FOLDER / "record.py"), "--output", str(recorded)]
    subprocess.run(command, check=True, capture_output=True)
    for name in _families():
        for kind in _KINDS:
            _compare(recorded, name, kind, tmp_path)


_GREEDY = """
import sys, torch
net = torch.jit.ScriptModule()
net.define("def forward(self, x):\\n    return x + torch.ones([1 << 30]).sum()\\n")
net.save(sys.argv[1])
"""
_LIMITED = """
import sys, torch
from mace.python.tools.importers.pytorch import script_worker
script_worker.limit_memory(1 << 30)
print(float(script_worker.load_script(sys.argv[1])(torch.zeros(1))))
"""


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)
def test_torchscript_has_a_limit_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "greedy.pt"
    subprocess.run([sys.executable, "-c", _GREEDY, str(path)], check=True)
    asked = [sys.executable, "-c", _LIMITED, str(path)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "tried to allocate 4294967296 bytes" in done.stderr


_SCRIPT = """
import sys, torch
from torch import nn
torch.manual_seed(1)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
net = net.eval()
example = torch.zeros(1, 3, 6, 6)
torch.jit.script(net).save(sys.argv[1])
torch.export.save(torch.export.export(net, (example,)), sys.argv[2])
"""


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)
def test_torchscript_and_validation(tmp_path: Path) -> None:
    script, program = tmp_path / "net.pt", tmp_path / "net.pt2"
    command = [sys.executable, "-c", _SCRIPT, str(script), str(program)]
    subprocess.run(command, check=True, capture_output=True)
    x = np.random.default_rng(2).standard_normal((1, 3, 6, 6)).astype(np.float32)
    for path, inner in ((script, ()), (program, ("relu", "unknown"))):
        inputs = {"input": x}
        asked = ReferenceRequest("torch", path, inputs, ("flatten",), inner)
        wanted = run_reference(asked).tensors
        assert set(wanted) == {"flatten", *inner} - {"unknown"}
        outputs = tuple(OutputSpec(name, DataFormat.NONE) for name in wanted)
        graph = import_model(ImportRequest("net", path, (_spec("input", x),), outputs))
        found = run_graph(graph, inputs)
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, _RELATIVE, _ABSOLUTE)
