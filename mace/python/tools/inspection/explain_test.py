# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a deployment to what is printed, with the real program."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from mace.python.tools.cli.main import main
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.export.model_file import ModelFileError
from mace.python.tools.inspection import explain
from mace.python.tools.inspection.explain import (
    explain_deployment,
    explanation_json,
    explanation_text,
)
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.report.testing import two_devices
from mace.python.tools.run.deployment_run import DeploymentRuns
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.testing.project import DEPLOYMENT, MODEL, Project


def _explain(
    project: Project, deployment: Deployment, **options: Any
) -> tuple[str, RunReport]:
    stream = io.StringIO()
    report = explain_deployment(
        deployment, ExplainOptions(build_dir=project.build_dir, **options), stream
    )
    return stream.getvalue(), report


def test_every_operator_has_a_device_and_an_estimate(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    text, report = _explain(project, deployment)
    assert report.passed
    lines = text.splitlines()
    assert lines[0] == "m on host, runtime cpu:"
    assert lines[1].startswith("  2 operators on cpu, estimated ")
    assert lines[2].startswith("  memory: intermediate tensors ")
    rows = [line.split() for line in lines[5:]]
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("0", "cpu", "Conv2D"),
        ("1", "cpu", "Conv2D"),
    ]
    assert all(float(row[2]) > 0 and row[3] == "us" for row in rows)
    assert "measured" not in text
    # What else `run` prints is not there.
    assert "capability" not in text


def test_a_benchmark_adds_measured_times(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    text, _ = _explain(project, deployment, benchmark=True, num_threads=1)
    lines = text.splitlines()
    assert "measured" in lines[1]
    assert "  inputs and outputs are used in place" in lines[2:4], text
    assert "measured" in lines[5]


def test_a_plan_is_told_before_any_run(project: Project) -> None:
    """The same placement as of a run, which takes no more memory; nothing is run."""
    deployment = project.deployment()
    project.convert(deployment)
    text, report = _explain(project, deployment, num_threads=1)
    plan, planned = _explain(project, deployment, num_threads=1, plan_only=True)
    lines = [
        [line for line in t.splitlines() if "memory" not in line] for t in (plan, text)
    ]
    assert lines[0] == lines[1]
    (before,), (after,) = planned.runs, report.runs
    for key in ("constant_bytes", "prepared_bytes", "state_bytes"):
        assert before.report["memory"][key] == after.report["memory"][key]
    # The run's buffers are used in place: of the output, 1 x 6 x 5 x 8 floats.
    most, taken = (run.report["memory"]["arena_bytes"] for run in (before, after))
    assert 0 < taken <= most <= taken + 4 * (6 * 5 * 8 + 6 * 5 * 4)
    assert before.report["restarts"][0]["run_ms"]["values"] == []
    assert after.report["restarts"][0]["run_ms"]["values"] != []


@pytest.mark.parametrize("wanted", [(), ("phone",)])
def test_a_plan_needs_no_device_of_any_abi(
    project: Project, monkeypatch: pytest.MonkeyPatch, wanted: tuple[str, ...]
) -> None:
    """This computer emulates Linux programs for the same processors."""
    asked: list[tuple[Deployment, RunOptions]] = []

    def run_models(
        deployment: Deployment, options: RunOptions, *_: Any, **__: Any
    ) -> DeploymentRuns:
        asked.append((deployment, options))
        return DeploymentRuns({}, [])

    monkeypatch.setattr(explain, "run_models", run_models)
    text = DEPLOYMENT.replace("[host]", "[host, arm64-v8a, armeabi-v7a, arm64]")
    text = text.replace("models:", "target_socs: [sdm845]\nmodels:")
    path = project.folder / "m.onnx"
    model = MODEL.format(name="m", path=path, extra="", runtime="cpu")
    deployment = load_deployment_text(
        text.format(models=model), project.folder / "d.yml"
    )
    _explain(project, deployment, plan_only=True, devices_to_run=wanted)
    ((planned, options),) = asked
    assert options.plan_only
    if wanted:
        assert options.devices_to_run == wanted
        assert planned == deployment
        return
    assert planned.target_abis == (Abi.HOST, Abi.ARM64, Abi.ARMHF)
    assert options.devices_to_run == ("host", "qemu-arm64", "qemu-armhf")
    assert planned.target_socs == ()
    assert deployment.target_abis[1] is Abi.ARM64_V8A


def test_a_plan_has_no_times(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project.folder / "d.yml"
    config.touch()
    flags = ["explain", f"--config={config}", "--plan_only", "--benchmark"]
    assert main(flags) == 2
    assert "--plan_only and --benchmark exclude each other" in capsys.readouterr().err


def test_json_tells_the_same(project: Project) -> None:
    deployment = project.deployment(names=("m", "n"))
    project.convert(deployment)
    text, _ = _explain(project, deployment, format="json", benchmark=True)
    data = json.loads(text)
    assert data["library"] == "lib"
    assert [run["model"] for run in data["runs"]] == ["m", "n"]
    for run in data["runs"]:
        for time in ("estimated_us", "measured_us"):
            assert run[time] == pytest.approx(sum(op[time] for op in run["operators"]))
        assert (run["device"], run["abi"], run["failure"]) == ("host", "host", "")
        assert run["copies"] == run["left_out"] == []
        for index, op in enumerate(run["operators"]):
            assert (op["index"], op["device"], op["type"]) == (index, "cpu", "Conv2D")
            assert op["estimated_us"] > 0 and op["measured_us"] > 0


@pytest.mark.usefixtures("release_without_gpu")
def test_a_device_that_is_not_there_is_left_out_and_says_why(project: Project) -> None:
    deployment = project.deployment(runtime="cpu+gpu")
    project.convert(deployment)
    text, report = _explain(project, deployment)
    assert report.passed
    assert "  gpu is left out: " in text
    data = json.loads(_explain(project, deployment, format="json")[0])
    (left_out,) = data["runs"][0]["left_out"]
    assert left_out["device"] == "gpu"
    assert "runtime" in left_out["reason"]


def test_a_model_that_is_not_converted(project: Project) -> None:
    with pytest.raises(ModelFileError, match=r"m\.pb does not exist: convert the"):
        _explain(project, project.deployment())


@pytest.mark.usefixtures("release_without_gpu")
def test_a_runtime_that_is_not_there_is_refused_as_by_run(project: Project) -> None:
    deployment = project.deployment(runtime="gpu")
    messages = []
    for command in (project.run, lambda d: _explain(project, d)):
        with pytest.raises(UnsupportedError) as caught:
            command(deployment)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "runtime: the library has no GPU runtime; it has: CPU" in messages[0]


def test_devices_that_are_not_there(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project.folder / "d.yml"
    config.write_text(
        "library_name: lib\ntarget_abis: host\nmodels:\n  m:\n    platform: onnx\n"
        f"    model_file_path: {project.folder / 'm.onnx'}\n    runtime: cpu\n"
        "    subgraphs:\n      - {input_tensors: x, input_shapes: '1,6,5,4', "
        "output_tensors: y, output_shapes: '1,6,5,8'}\n"
    )
    flags = [f"--config={config}", f"--build_dir={project.build_dir}"]
    assert main(["explain", *flags, "--devices_to_run=elsewhere"]) == 2
    assert "elsewhere" in capsys.readouterr().err
    assert main(["explain", *flags, "--device_yml=none.yml"]) == 2
    assert "--device_yml=none.yml: no such file" in capsys.readouterr().err


_TEXT = """\
m on phone (arm64), runtime cpu+gpu:
  2 operators on gpu, 1 operator on cpu, 2 copies between devices (800 bytes), \
estimated 6.0 us
  memory: intermediate tensors 1.23 MB, weights 0.04 MB
  apu is left out: this build has no APU runtime

#  device  estimated  type        operator  kernel; output
0  gpu        2.0 us  Conv2D      conv      image; float32[1, 100]
      copy of b from gpu to cpu, 400 bytes
1  cpu        2.0 us  Activation  relu      float32[1, 100]
      not on gpu: no <kernel> of rank 5
      copy of c from cpu to gpu, 400 bytes
2  gpu        2.0 us  Eltwise     add       image; float32[1, 100]

n on phone (arm64), runtime cpu: FAILED, the device is gone
"""


def _report() -> RunReport:
    memory = {"arena_bytes": 1_230_000, "constant_bytes": 40_000}
    report = {**two_devices(), "memory": memory}
    run = ModelRun("m", Abi.ARM64, "phone", Runtime.CPU_GPU, report=report)
    lost = ModelRun("n", Abi.ARM64, "phone", Runtime.CPU, failure="the device is gone")
    return RunReport((run, lost))


def test_text_shows_refusals_and_copies_where_they_are() -> None:
    assert explanation_text(_report()) == _TEXT


def test_json_has_everything() -> None:
    data = json.loads(explanation_json("lib", _report()))
    placed, lost = data["runs"]
    assert placed["copies"][0] == {
        "tensor": "b",
        "from": "gpu",
        "to": "cpu",
        "bytes": 400,
        "before_operator": 1,
    }
    refusals = placed["operators"][1]["refusals"]
    assert refusals == [{"device": "gpu", "reason": "no <kernel> of rank 5"}]
    assert placed["operators"][0]["measured_us"] is None
    assert (placed["estimated_us"], placed["measured_us"]) == (6.0, None)
    assert placed["left_out"][0]["device"] == "apu"
    assert lost["failure"] == "the device is gone"
    assert lost["operators"] == []
    assert lost["estimated_us"] is None
    assert placed["memory"] == {
        "arena_bytes": 1_230_000,
        "state_bytes": 0,
        "constant_bytes": 40_000,
        "prepared_bytes": 0,
    }


def test_a_benchmark_names_copies_of_inputs_and_outputs() -> None:
    copy = {"tensor": "x", "is_output": False, "bytes": 48, "reason": "it is NCHW"}
    for copies, line in (
        ([], "  inputs and outputs are used in place"),
        ([copy], "  1 copy of inputs and outputs (48 bytes)"),
    ):
        benchmark = {"ops": [], "border_copies": {"tensors": copies}}
        report = {**two_devices(), "benchmark": benchmark}
        run = ModelRun("m", Abi.ARM64, "phone", Runtime.CPU_GPU, report=report)
        lines = explanation_text(RunReport((run,))).splitlines()
        assert line in lines
        assert ("      input x, 48 bytes: it is NCHW" in lines) == bool(copies)
        told = json.loads(explanation_json("lib", RunReport((run,))))["runs"][0]
        assert told["border_copies"] == copies
