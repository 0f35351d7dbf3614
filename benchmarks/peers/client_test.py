# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests a worker process with ONNX Runtime, which tests need anyway."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from benchmarks.peers import processor
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


def test_times_what_the_process_computes(job: dict[str, Any], log: Path) -> None:
    with Client(Path(sys.executable), "onnxruntime", log) as client:
        client.ask(do="load", **job)
        assert min(client.ask(do="run", count=2, clock="cpu")["ms"]) > 0


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


# What NumPy finds by CPUID, in a thread and in a program that it starts.
_FEATURES = """
import json, subprocess, sys, threading
def find():
    from numpy._core._multiarray_umath import __cpu_features__ as found
    print(json.dumps([name for name, has in found.items() if has]), flush=True)
thread = threading.Thread(target=find)
thread.start()
thread.join()
if len(sys.argv) > 1:
    subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"),
    reason="CPUID is an instruction of x86-64, and faults on Linux alone",
)
@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("sse41", {"SSE41"}, {"AVX", "AVX2", "FMA3", "F16C", "AVX512F"}),
        ("avx2", {"AVX2", "FMA3"}, {"AVX512F", "AVX512VNNI"}),
        ("avx512", {"AVX2"}, {"AVX512VNNI", "AVX512BF16"}),
    ],
)
def test_processes_see_a_lesser_processor(
    name: str, has: set[str], lacks: set[str]
) -> None:
    command = [sys.executable, "-c", _FEATURES, _FEATURES]
    try:
        variables = processor.variables(name)
    except SystemExit:
        pytest.skip("this processor or kernel cannot let CPUID fault")
    done = subprocess.run(
        command,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    all_found = [set(json.loads(line)) for line in done.stdout.splitlines()]
    assert len(all_found) == 2
    for found in all_found:
        assert found >= has
        assert not found & lacks


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"),
    reason="CPUID is an instruction of x86-64, and faults on Linux alone",
)
def test_a_fault_still_ends_a_process_and_no_name_does_too() -> None:
    try:
        variables = processor.variables("avx2")
    except SystemExit:
        pytest.skip("this processor or kernel cannot let CPUID fault")
    environment = {**os.environ, **variables}
    fault = [sys.executable, "-c", "import ctypes; ctypes.string_at(8)"]
    assert subprocess.run(fault, env=environment, check=False).returncode == -11
    environment["MACE_BENCHMARK_PROCESSOR"] = "z80"
    done = subprocess.run(
        fault, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "names no processor" in done.stderr
