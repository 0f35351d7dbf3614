# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong use of commands with a model in the place of a deployment file.

A message must not name keys that such a user has not written.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mace.python.tools.cli.main import main

_DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
_COMMANDS = ("inspect", "init", "convert", "run", "explain", "check")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(_DIGITS, "net.onnx")
    Path("empty.onnx").touch()
    Path("gone.onnx").symlink_to("/nowhere/gone.onnx")
    Path("folder").mkdir()
    Path("folder.onnx").mkdir()
    Path("cut.tflite").write_bytes(b"\x20\x00\x00\x00TFL3" + bytes(10))
    Path("weights.pb").write_bytes(b"no model")


def _message(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[-1].startswith("error: "), captured.err
    return lines[-1].removeprefix("error: ")


@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [
        ("nte.onnx", "nte.onnx: no such file", "did you mean {}/net.onnx?"),
        ("empty.onnx", "{}/empty.onnx is empty", "is the download complete?"),
        ("gone.onnx", "gone.onnx: is a link to /nowhere/", "which is not there"),
        ("folder", "{}/folder is a folder without saved_model.pb", "SavedModel"),
        ("folder.onnx", "folder.onnx: {}/folder.onnx is a folder", "file is needed"),
        ("cut.tflite", "{}/cut.tflite is cut off or damaged: ", "export it again"),
        ("weights.pb", "{}/weights.pb is not a frozen TensorFlow graph", ""),
    ],
)
def test_a_file_that_is_none(
    command: str, name: str, begin: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = _message(capsys, command, name)
    assert message.startswith(begin.format(Path.cwd()))
    assert message.endswith(end.format(Path.cwd()))
    assert not Path("build").exists()


@pytest.mark.parametrize("command", _COMMANDS[1:])
def test_open_dimensions(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--dims=N=1 " in _message(capsys, command, "net.onnx")


def test_a_key_of_a_deployment_file_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("d.yml").write_text(
        "library_name: d\ntarget_abis: host\nmodels:\n  m:\n"
        "    model_file_path: empty.onnx\n    runtime: cpu\n"
    )
    message = _message(capsys, "convert", "d.yml")
    assert message.startswith("d.yml:5: ")
    assert "model_file_path: " in message


def test_no_model_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert "FILE (a model, or a deployment file)" in _message(capsys, "run")
