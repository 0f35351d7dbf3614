# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models that are not, any more, what their deployment asks for."""

from __future__ import annotations

import onnx
import pytest
from onnx import numpy_helper

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.export.model_file import ModelFileError
from mace.python.tools.run.invocation import RunnerError
from mace.python.tools.run.testing.project import DEPLOYMENT, MODEL, Project


def test_a_model_of_other_settings_is_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.convert(project.deployment())
    project.run(project.deployment())
    assert "other settings" not in caplog.text
    other = "data_type: bf16_fp32\nwinograd: 0\n"
    project.run(project.deployment(other))
    assert "data_type is bf16_fp32, was fp32_fp32; winograd is 0, was 4" in caplog.text
    project.run(project.deployment(runtime="cpu\n    quantize_large_weights: 1"))
    assert "quantize_large_weights is True, was False" in caplog.text
    text = DEPLOYMENT.format(
        models=MODEL.format(
            name="m", path=project.folder / "m.onnx", extra="", runtime="cpu"
        )
    ).replace("[x]", "[x0]")
    with pytest.raises(ModelFileError, match="says x0.*was converted with x; convert"):
        project.run(load_deployment_text(text, project.folder / "d.yml"))


def test_a_model_of_another_border_is_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.convert(project.deployment())
    text = DEPLOYMENT.format(
        models=MODEL.format(
            name="m", path=project.folder / "m.onnx", extra="", runtime="cpu"
        )
    )
    other = text.replace("1,6,5,", "2,6,5,")
    with pytest.raises(RunnerError, match="'x' .* dimension 0 is 2, .* for 1 "):
        project.run(load_deployment_text(other, project.folder / "d.yml"))
    assert "(x is [2, 6, 5, 4], was [1, 6, 5, 4]); convert it again" in caplog.text
    caplog.clear()
    project.run(project.deployment("output_data_formats: [NCHW]"))
    assert "(y is NCHW, was NHWC); convert it again" in caplog.text


def test_a_model_that_was_trained_again_is_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.convert(project.deployment())
    path = project.folder / "m.onnx"
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(
            numpy_helper.from_array(-numpy_helper.to_array(tensor), tensor.name)
        )
    onnx.save(model, path)
    assert not project.run(project.deployment(), validate=True).passed
    assert f"models.m: {path} is another file than the one that" in caplog.text
    caplog.clear()
    assert project.convert_and_run(validate=True).passed
    assert "another file" not in caplog.text


def test_other_weights_beside_the_model_are_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    path, weights = project.folder / "m.onnx", project.folder / "m.weights"
    onnx.save_model(
        onnx.load(path),
        path,
        save_as_external_data=True,
        location=weights.name,
        size_threshold=0,
    )
    project.convert(project.deployment())
    project.run(project.deployment())
    assert "another file" not in caplog.text
    weights.write_bytes(bytes(weights.stat().st_size))
    project.run(project.deployment())
    assert f"models.m: {weights} is another file than the one that" in caplog.text
    assert f"models.m: {path} is" not in caplog.text
    # A file that is gone keeps nobody from running what was made of it.
    weights.unlink()
    project.run(project.deployment())
