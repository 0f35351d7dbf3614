# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import pytest

from mace.python.tools.cli.main import main


def _model(folder: Path, length: Any, kind: str) -> Path:
    """Squeeze of open axes, or a grid of a length that the elements say."""
    info = onnx.helper.make_tensor_value_info
    inputs = [info("x", onnx.TensorProto.FLOAT, [2, length])]
    nodes = [onnx.helper.make_node("Hardmax", ["x"], ["y"])]
    if kind == "Range":
        nodes = [
            onnx.helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
            onnx.helper.make_node("Range", ["zero", "most", "one"], ["y"]),
        ]
    numbers = {"zero": 0.0, "one": 1.0} if kind == "Range" else {}
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        inputs,
        [info("y", onnx.TensorProto.FLOAT, None)],
        [
            onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, [], [number])
            for name, number in numbers.items()
        ],
    )
    path = folder / "net.onnx"
    opsets = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.parametrize(
    ("given", "said", "unsaid"),
    [
        ({"length": "n", "kind": "Hardmax"}, "--dims, or dims of mace.load", "fixed"),
        ({"length": 3, "kind": "Range"}, "", "fixed input_shapes"),
    ],
    ids=["open", "fixed"],
)
def test_hints_for_those_without_a_deployment_file(
    given: Mapping[str, Any],
    said: str,
    unsaid: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = _model(tmp_path, **given)
    flags = [f"--build_dir={tmp_path / 'build'}", "--dims=n=-1"]
    assert main(["convert", str(path), *flags[: 2 if said else 1]]) != 0
    text = " ".join(capsys.readouterr().err.split())
    assert "cannot be converted" in text
    assert said in text
    assert unsaid not in text


def test_hints_for_those_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _model(tmp_path, "n", "Hardmax")
    config = tmp_path / "net.yml"
    config.write_text(f"""
library_name: l
target_abis: host
models:
  m:
    model_file_path: {path}
    runtime: cpu
    subgraphs:
      - input_tensors: x
        input_shapes: 2,-1
        input_data_formats: NONE
        output_tensors: y
        output_shapes: 2,-1
        output_data_formats: NONE
""")
    build = f"--build_dir={tmp_path / 'build'}"
    assert main(["convert", f"--config={config}", build]) != 0
    text = " ".join(capsys.readouterr().err.split())
    assert "give fixed input_shapes" in text
