# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What an inspection says of a model."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from mace.python.tools.cli.main import main

_DIGITS = Path(__file__).parents[3] / "examples" / "digits"


@pytest.mark.parametrize("words", [["digits.onnx", "--dims=N=1"], ["digits.yml"]])
def test_a_model(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    name, *flags = words
    assert main(["inspect", str(_DIGITS / name), *flags]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("digits.onnx (ONNX, operator set 17, 0.1 MB)")
    assert lines[1].split(maxsplit=3) == ["input", "image", "float32", "[N, 1, 8, 8]"]
    assert lines[2].split(maxsplit=3) == ["output", "probability", "float32", "[N, 10]"]
    assert lines[3].startswith("  nodes  13: 3 BatchNormalization, 3 Conv")
    assert "converts it to 6 operators" in lines[4]
    assert lines[5].endswith("million multiply-accumulates")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(_DIGITS / "digits.onnx"), "--format=json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["inputs"] == [
        {"name": "image", "type": "float32", "shape": ["N", 1, 8, 8]}
    ]
    assert model["nodes"]["Conv"] == 3
    assert model["bytes"] == (_DIGITS / "digits.onnx").stat().st_size


def test_what_cannot_be_converted_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = onnx.helper.make_node("Odd", ["x"], ["y"], domain="org.example")
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node], "g", [info("x", 1, [2])], [info("y", 1, [2])]
    )
    path = tmp_path / "odd.onnx"
    onnx.save(onnx.helper.make_model(graph, ir_version=8), path)
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert "1 org.example.Odd" in text
    assert "1 node cannot be converted; converter.py check says why" in text


def test_what_open_dimensions_prevent_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may convert once they have numbers."""
    info = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Hardmax", ["x"], ["y"])
    graph = onnx.helper.make_graph(
        [node], "g", [info("x", 1, ["N", "M"])], [info("y", 1, None)]
    )
    path = tmp_path / "open.onnx"
    onnx.save(onnx.helper.make_model(graph, ir_version=8), path)
    assert main(["inspect", str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "cannot be converted with all of its dimensions open;" in text


def test_the_conversion_finds_shapes_of_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["y"]),
        onnx.helper.make_node("Relu", ["unnamed"], ["z"]),
    ]
    info = onnx.helper.make_tensor_value_info
    inputs = [info("x", 1, ["N", 2]), info("unnamed", 1, [None, 3])]
    graph = onnx.helper.make_graph(
        nodes, "g", inputs, [info("y", 1, None), info("z", 1, None)]
    )
    path = tmp_path / "open.onnx"
    onnx.save(onnx.helper.make_model(graph, ir_version=8), path)
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].split(maxsplit=3) == ["output", "y", "float32", "[N, 2]"]
    assert lines[4].split(maxsplit=3) == ["output", "z", "float32", "[?, 3]"]


def test_a_converted_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = f"--build_dir={tmp_path}"
    flags = ["--dims=N=-1", build]
    assert main(["convert", str(_DIGITS / "digits.onnx"), *flags]) == 0
    capsys.readouterr()
    graph = tmp_path / "digits/model/digits.pb"
    assert main(["inspect", str(graph)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"{graph} (a MACE model, 0.1 MB; mace-converter " in lines[0]
    image = ["input", "image", "float32", "[?, 1, 8, 8]", "NCHW"]
    assert lines[1].replace(", ", ",").split() == [w.replace(", ", ",") for w in image]
    assert lines[3].startswith("  operators  6: 3 Conv2D, ")
    assert lines[4].startswith("  made for   CPU; ")
    assert main(["inspect", str(graph), "--format=json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["devices"] == ["CPU"] and model["operators"]["Conv2D"] == 3
    graph.with_suffix(".data").unlink()
    assert main(["inspect", str(graph)]) == 2
    assert "digits.data does not exist" in capsys.readouterr().err
