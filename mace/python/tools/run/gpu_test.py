# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models on an OpenCL driver of this computer, from deployment file to report."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.doctor.computer import Computer
from mace.python.tools.errors import MissingToolError
from mace.python.tools.inspection.explain import explain_deployment
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.report.results import ModelRun
from mace.python.tools.run.invocation import RunnerError
from mace.python.tools.run.options import GpuHint, LayerRange, RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.testing.project import BENCHMARK_SECTIONS, Project
from test.here import only_with_all

_ROOT = Path(__file__).resolve().parents[4]

# As many keys of the GPU as a file may have.
_DEPLOYMENT = """
library_name: lib
target_abis: [host]
target_socs: all
model_graph_format: file
model_data_format: file
models:
  m:
    platform: onnx
    model_file_path: {path}
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["1,6,5,4"]
        input_ranges: ["-2,2"]
        output_tensors: [y]
        output_shapes: ["1,6,5,8"]
    runtime: {runtime}
    data_type: {data_type}
    cl_mem_type: {storage}
    limit_opencl_kernel_time: 1
    opencl_queue_window_size: 8
"""


@pytest.fixture(scope="module")
def gpu_mace_run() -> Path:
    """mace_run with the GPU runtime for this computer, built if necessary."""
    only_with_all("GPUs")
    # Not in this process: drivers bring their own LLVM, as TensorFlow does.
    if not Computer(_ROOT).opencl().get("devices"):
        pytest.skip("no OpenCL device: bash tools/setup.sh --for test")
    try:
        return find_program(Abi.HOST, RunOptions(build_dir=_ROOT / "build"), gpu=True)
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")


@pytest.fixture
def gpu_project(
    project: Project, gpu_mace_run: Path, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A project whose operators run on the GPU, although the CPU would be faster."""
    program = project.build_dir / "bin" / "host-gpu" / "mace_run"
    program.parent.mkdir()
    shutil.copy(gpu_mace_run, program)
    monkeypatch.setenv("MACE_OPENCL_PLACE_ALL", "1")
    return project


def _convert(
    project: Project,
    runtime: str = "gpu",
    data_type: str = "fp16_fp32",
    storage: str = "buffer",
) -> None:
    text = _DEPLOYMENT.format(
        path=project.folder / "m.onnx",
        runtime=runtime,
        data_type=data_type,
        storage=storage,
    )
    (project.folder / "d.yml").write_text(text)
    project.convert(load_deployment_text(text, project.folder / "d.yml"))


def _run(project: Project, **options: object) -> ModelRun:
    text = (project.folder / "d.yml").read_text()
    deployment = load_deployment_text(text, project.folder / "d.yml")
    (run,) = project.run(deployment, **options).runs
    return run


def _devices(run: ModelRun) -> set[str]:
    return {op["device"] for op in run.report["placement"]["operators"]}


@pytest.mark.parametrize("runtime", ["gpu", "cpu+gpu", "cpu_gpu"])
@pytest.mark.parametrize(
    ("data_type", "storage", "similarity"),
    [("fp16_fp32", "image", 0.9999), ("fp32_fp32", "buffer", 0.99999)],
)
def test_the_result_is_the_framework_s(
    gpu_project: Project,
    caplog: pytest.LogCaptureFixture,
    runtime: str,
    data_type: str,
    storage: str,
    similarity: float,
) -> None:
    _convert(gpu_project, runtime, data_type, storage)
    run = _run(gpu_project, validate=True, layers=LayerRange())
    assert run.failure == ""
    assert run.runtime.value == runtime.replace("cpu_gpu", "cpu+gpu")
    assert _devices(run) == {"gpu"}
    compared = [*run.comparisons, *(layer.comparison for layer in run.layers)]
    assert len(compared) == 3
    assert all(c.metrics.similarity >= similarity for c in compared)
    half = {op["output"].split("[")[0] for op in run.report["placement"]["operators"]}
    assert ("float16" in half) == (data_type == "fp16_fp32")
    # Every key of the file has an effect.
    assert "what has no effect" not in caplog.text


def test_the_benchmark_has_the_times_of_kernels(gpu_project: Project) -> None:
    _convert(gpu_project)
    run = _run(gpu_project, benchmark=True, full=True, round=3, report=True)
    text = gpu_project.output.getvalue()
    for section in BENCHMARK_SECTIONS:
        assert section in text
    operators = run.report["benchmark"]["ops"]
    assert [op["device"] for op in operators] == ["gpu", "gpu"]
    assert all(op["avg_ms"] > 0 and op["macs"] > 0 for op in operators)
    peak = run.report["gpu_peak"]
    assert peak["name"]
    for rate in ("gflops", "gbytes_per_s", "cache_gbytes_per_s"):
        assert 0.01 < peak[rate] < 1e6
    (page,) = (gpu_project.build_dir / "lib" / "report").glob("m_host_gpu.html")
    assert "Roofline of the GPU" in page.read_text("utf-8")


def test_flags_of_the_gpu(gpu_project: Project) -> None:
    _convert(gpu_project)
    run = _run(
        gpu_project,
        gpu_perf_hint=GpuHint.LOW,
        gpu_priority_hint=GpuHint.LOW,
        gpu_out_of_range_check=True,
        opencl_cache_reuse_policy=0,
    )
    assert run.failure == ""


def test_kernels_are_compiled_once(gpu_project: Project) -> None:
    _convert(gpu_project)
    kept = "opencl/lib/host/mace_cl_compiled_program.bin"
    assert _run(gpu_project).failure == ""
    (file,) = gpu_project.build_dir.glob(f"**/{kept}")
    before = file.stat()
    assert _run(gpu_project).failure == ""
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert before.st_size > 0


def test_without_a_driver(
    gpu_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_OPENCL_LIBRARY", "/no/driver.so")
    _convert(gpu_project, "cpu+gpu")
    run = _run(gpu_project, validate=True)
    assert run.failure == ""
    assert _devices(run) == {"cpu"}
    (left_out,) = run.report["placement"]["left_out"]
    assert left_out["device"] == "gpu"
    assert "/no/driver.so" in left_out["reason"]
    _convert(gpu_project, "gpu")
    with pytest.raises(RunnerError, match=r"no OpenCL driver: .*/no/driver\.so"):
        _run(gpu_project)


def test_explain_names_the_storage(gpu_project: Project) -> None:
    _convert(gpu_project, storage="image")
    text = (gpu_project.folder / "d.yml").read_text()
    deployment = load_deployment_text(text, gpu_project.folder / "d.yml")
    stream = io.StringIO()
    options = ExplainOptions(build_dir=gpu_project.build_dir, format="json")
    explain_deployment(deployment, options, stream)
    (run,) = json.loads(stream.getvalue())["runs"]
    assert [op["device"] for op in run["operators"]] == ["gpu", "gpu"]
    assert "in image of half" in run["operators"][0]["output"]
