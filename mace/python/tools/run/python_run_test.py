# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""--fallback=python: models that mace_run has no kernels for, or that has none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.errors import MaceError, MissingToolError, UsageError
from mace.python.tools.run import deployment_run
from mace.python.tools.run.inputs import make_inputs
from mace.python.tools.run.options import LayerRange
from mace.python.tools.run.testing.project import DEPLOYMENT, MODEL, Project

_REFUSAL = "conv0: this library has no such operator for CPU"


def _project(folder: Path, says: str) -> Project:
    """A project whose mace_run refuses each model."""
    program = folder / "build" / "bin" / "host" / "mace_run"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "E mace_run.cc:1 {says}" >&2\nexit 2\n')
    program.chmod(0o755)
    return Project(folder / "build")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return _project(tmp_path, f"MACE_UNSUPPORTED: {_REFUSAL}")


@pytest.mark.parametrize("image_format", ["NHWC", "NCHW"])
def test_a_refused_model_is_validated(project: Project, image_format: str) -> None:
    formats = f"[{image_format}]"
    yaml = DEPLOYMENT.format(
        models=MODEL.format(
            name="m",
            path=project.folder / "m.onnx",
            runtime="cpu",
            extra=f"        input_data_formats: {formats}\n"
            f"        output_data_formats: {formats}",
        )
    )
    if image_format == "NCHW":
        yaml = yaml.replace("1,6,5,4", "1,4,6,5").replace("1,6,5,8", "1,8,6,5")
    deployment = load_deployment_text(yaml, project.folder / "d.yml")
    project.convert(deployment)
    results = project.folder / "results"
    report = project.run(
        deployment,
        validate=True,
        fallback="python",
        layers=LayerRange(),
        output_dir=results,
        report=True,
    )
    assert report.passed
    (run,) = report.runs
    assert run.comparisons[0].metrics.max_rel_error < 1e-5
    assert [layer.comparison.passed for layer in run.layers] == [True] * len(run.layers)
    assert run.layers
    assert run.in_python.endswith("2 Conv2D")
    session = onnxruntime.InferenceSession(project.folder / "m.onnx")
    x = make_inputs(deployment.models["m"].whole)["x"]
    fed = x if image_format == "NCHW" else x.transpose(0, 3, 1, 2)
    (wanted,) = session.run(["y"], {"x": fed})
    if image_format == "NHWC":
        wanted = wanted.transpose(0, 2, 3, 1)
    got = np.fromfile(results / "y", np.float32).reshape(wanted.shape)
    np.testing.assert_allclose(got, wanted, 1e-5, 1e-5)
    text = project.output.getvalue()
    assert "computed in Python, without MACE's kernels, because of --fallback" in text
    assert _REFUSAL in text
    assert "validated without MACE's kernels" in text.replace(",", "")
    written = json.loads(next(p for p in run.files if p.suffix == ".json").read_text())
    assert written["computed_by"] == "python"
    assert written["in_python"] == run.in_python


def test_a_wrong_conversion_is_found(project: Project, tmp_path: Path) -> None:
    np.save(tmp_path / "expected.npy", np.ones((1, 6, 5, 8), np.float32))
    given = f"validation_outputs_data: [{tmp_path / 'expected.npy'}]"
    report = project.convert_and_run(given, validate=True, fallback="python")
    assert not report.passed


def test_the_error_names_the_flag(project: Project) -> None:
    with pytest.raises(MaceError, match=r"(?s)no such operator.*--fallback=python"):
        project.convert_and_run(validate=True)


def test_other_refusals_stay(tmp_path: Path) -> None:
    project = _project(tmp_path, "MACE_INVALID_ARGS: the model file is damaged")
    with pytest.raises(MaceError, match="is damaged") as caught:
        project.convert_and_run(validate=True, fallback="python")
    assert "fallback" not in str(caught.value)


def test_a_program_that_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object) -> Path:
        raise MissingToolError("bazel", "building mace_run", "apt-get install bazel")

    monkeypatch.setattr(deployment_run, "find_program", nothing)
    project = Project(tmp_path / "build")
    report = project.convert_and_run(validate=True, fallback="python")
    assert report.passed
    assert "bazel is missing" in report.runs[0].not_native
    with pytest.raises(MissingToolError):
        project.run(project.deployment(), validate=True)


def test_not_with_samples(project: Project) -> None:
    folder, _ = project.samples()
    with pytest.raises((MaceError, UsageError), match="--fallback"):
        project.convert_and_run(
            input_dir=folder, output_dir=folder / "out", fallback="python"
        )


def test_models_that_samples_quantize_are_refused(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    object.__setattr__(deployment.models["m"], "quantize", True)
    with pytest.raises(MaceError, match="samples quantize"):
        project.run(deployment, validate=True, fallback="python")
