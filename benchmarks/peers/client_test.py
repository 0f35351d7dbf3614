# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests a worker process with ONNX Runtime, which tests need anyway."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from benchmarks.peers.client import Client, WorkerError

pytest.importorskip("onnxruntime")


@pytest.fixture
def job(tmp_path: Path) -> dict[str, Any]:
    """A network that doubles its input."""
    shape = [1, 2, 3, 4]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        "double",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(
        helper.make_model(graph, opset_imports=opset, ir_version=8),
        str(tmp_path / "double.onnx"),
    )
    np.save(tmp_path / "image.npy", np.arange(24, dtype=np.float32).reshape(shape))
    return {
        "model": str(tmp_path / "double.onnx"),
        "threads": 1,
        "image": str(tmp_path / "image.npy"),
        "input_name": "x",
        "output_name": "y",
        "output_shape": shape,
        "output": str(tmp_path / "output.npy"),
    }


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_loads_then_runs(job: dict[str, Any], log: Path) -> None:
    with Client(Path(sys.executable), "onnxruntime", log) as client:
        loaded = client.ask(do="load", **job)
        times = client.ask(do="run", count=4)["ms"]
    np.testing.assert_array_equal(np.load(job["output"]), 2 * np.arange(24))
    assert loaded["first_ms"] > 0
    assert 0 < loaded["base_mb"] < loaded["peak_mb"]
    assert len(times) == 4 and min(times) > 0


def test_stands_still_until_asked(job: dict[str, Any], log: Path) -> None:
    with Client(Path(sys.executable), "onnxruntime", log) as client:
        client.ask(do="load", **job)
        status = Path(f"/proc/{client.pid}/status").read_text()
        assert "State:\tT" in status
        assert len(client.ask(do="run", count=1)["ms"]) == 1


def test_reports_what_an_engine_says(job: dict[str, Any], log: Path) -> None:
    Path(job["model"]).write_bytes(b"no model")
    with Client(Path(sys.executable), "onnxruntime", log) as client:
        with pytest.raises(WorkerError, match="double.onnx"):
            client.ask(do="load", **job)


def test_reports_how_a_process_ended(log: Path) -> None:
    with Client(Path(sys.executable), "no_such_engine", log) as client:
        with pytest.raises(WorkerError, match="status 1: KeyError: 'no_such_engine'"):
            client.ask(do="run", count=1)


def test_a_worker_has_other_variables(
    job: dict[str, Any], log: Path, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "onnxruntime.py").write_text("raise RuntimeError('of the folder')")
    variables = {"PYTHONPATH": str(packages)}
    with Client(Path(sys.executable), "onnxruntime", log, variables) as client:
        with pytest.raises(WorkerError, match="of the folder"):
            client.ask(do="load", **job)
