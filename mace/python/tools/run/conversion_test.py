# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models in the place of a deployment file are converted before they run."""

from __future__ import annotations

import os

import onnx
import pytest
from onnx import numpy_helper

from mace.python import installation
from mace.python.tools.cli.main import main
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.export.model_file import ModelFileError, read_message
from mace.python.tools.run import conversion
from mace.python.tools.run.invocation import RunnerError
from mace.python.tools.run.testing.project import DEPLOYMENT, MODEL, Project


class _Commands:
    """Commands on the model of a project."""

    def __init__(self, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
        self.model = project.folder / "m.onnx"
        self.graph = project.build_dir / "m" / "model" / "m.pb"
        self._build_dir = project.build_dir
        self._capsys = capsys

    def __call__(self, command: str, *flags: str) -> str:
        """Messages of a command that succeeds."""
        status, messages = self.status(command, *flags)
        assert status == 0, messages
        return messages

    def status(self, command: str, *flags: str) -> tuple[int, str]:
        words = [command, str(self.model), f"--build_dir={self._build_dir}", *flags]
        status = main(words)
        return status, self._capsys.readouterr().err

    def changes_model(self) -> None:
        model = onnx.load(self.model)
        weights = model.graph.initializer[0]
        weights.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(weights) * 2, weights.name)
        )
        onnx.save(model, self.model)


@pytest.fixture
def commands(project: Project, capsys: pytest.CaptureFixture[str]) -> _Commands:
    return _Commands(project, capsys)


def test_run_converts_what_was_not_converted(commands: _Commands) -> None:
    messages = commands("run", "--validate").splitlines()
    assert messages[0] == (
        f"m: converting {commands.model} to {commands.graph} first (not converted yet)"
    )
    assert not any("operators became" in line for line in messages)
    assert "converting" not in commands("run")
    assert "converting" not in commands("explain")


def test_run_converts_again_what_has_changed(commands: _Commands) -> None:
    commands("convert")
    assert "converting" not in commands("run")
    commands.changes_model()
    assert f"first ({commands.model} has changed)" in commands("run")
    assert "has changed" not in commands("run", "--validate")


def test_run_converts_again_what_cannot_be_read(commands: _Commands) -> None:
    commands("convert")
    commands.graph.write_bytes(b"\x08")
    assert f"first ({commands.graph} cannot be read)" in commands("explain")
    commands.graph.with_suffix(".data").unlink()
    assert "first (not converted yet)" in commands("run")


def test_another_converter_converts_again(
    commands: _Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands("convert")
    graph = read_message(commands.graph)
    graph.producer = "mace-converter 0.0.1 (onnx)"
    commands.graph.write_bytes(graph.SerializeToString())
    assert f"first (MACE is {installation.VERSION}, was 0.0.1)" in commands("run")
    assert "converting" not in commands("run")
    later = os.stat(commands.graph).st_mtime_ns + 1
    monkeypatch.setattr(conversion, "converter_changed_ns", lambda: later)
    assert "first (the converter has changed)" in commands("run")


def test_each_step_is_told_if_asked_for(commands: _Commands) -> None:
    assert "3 operators became 2" in commands("run", "--verbose")


def test_a_model_that_cannot_be_converted_is_one_error(commands: _Commands) -> None:
    commands.model.write_bytes(b"not a model")
    status, messages = commands.status("run")
    assert status == 2
    assert messages.count("error: ") == 1
    assert str(commands.model) in messages


def test_integers_that_are_lost_are_told(commands: _Commands, project: Project) -> None:
    folder, _ = project.samples()
    commands("quantize", f"--input_dir={folder}")
    messages = " ".join(commands("run").split())
    assert "converting" not in messages
    assert "which computes in integers" in messages
    commands.changes_model()
    messages = commands("run")
    assert "has changed" in messages
    assert (
        "warning: m: the model that was there before computed in integers" in messages
    )


def test_a_deployment_file_needs_convert(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(project.folder / "m.onnx")
    assert main(["init", model]) == 0
    config = project.folder / "d.yml"
    config.write_text(capsys.readouterr().out)
    assert main(["run", f"--config={config}", f"--build_dir={project.build_dir}"]) == 2
    assert "convert the model first" in capsys.readouterr().err


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
