# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models on all phones and boards and all their ABIs, in one report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.config.vocabulary import Abi
from test.conformance.models.built import make_built_model
from test.device_farm.farm import Farm
from test.devices.conftest import convert, give_programs
from test.devices.tool import Tool

ALL = "--target_abis=arm64-v8a,armeabi-v7a,arm64,armhf"


def _places(farm: Farm) -> set[tuple[str, str]]:
    """Device and ABI of every run."""
    expected = {
        ("MI 6", "arm64-v8a"),
        ("MI 6", "armeabi-v7a"),
        ("Redmi Go", "armeabi-v7a"),
    }
    if farm.boards:
        expected |= {("nanopi", "arm64"), ("nanopi", "armhf")}
    return expected


def _check_report(folder: Path, model: str, farm: Farm) -> None:
    """All runs passed, with operators timed, and are in every form of the report."""
    with open(folder / "all_runs.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["device"], row["abi"]) for row in rows} == _places(farm)
    for row in rows:
        assert row["result"] == "passed"
        assert float(row["similarity"]) >= 0.99999
        assert float(row["run_ms"]) > 0
        assert int(row["peak_memory"]) > 1_000_000
        # QEMU emulates all features of the architecture.
        assert row["isa"] == ("neon_dotprod" if "arm64" in row["abi"] else "neon")
        assert (folder / row["page"]).is_file()
    content = json.loads((folder / "all_runs.json").read_text(encoding="utf-8"))
    assert content["passed"] is True
    for run in content["runs"]:
        assert run["model"] == model
        assert run["reference"].startswith("onnxruntime")
        assert len(run["mace_run"]["benchmark"]["ops"]) > 3
    page = (folder / "all_runs.html").read_text(encoding="utf-8")
    assert "every run passed" in page
    for device in {device for device, _ in _places(farm)}:
        assert f'<td class="left">{device}</td>' in page


def test_digits(tool: Tool, farm: Farm) -> None:
    ended = tool.run(ALL, "--validate", "--benchmark", "--report")
    assert ended.status == 0, ended.text
    _check_report(tool.build_dir / "digits/report", "digits", farm)
    for device, abi in _places(farm):
        assert f"digits on {device} ({abi}): probability: cosine" in ended.text


def test_x86_board(tool: Tool, farm: Farm) -> None:
    """A board without any of the libraries of this computer."""
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    flags = ("--target_abis=host", "--devices_to_run=up_squared", "--validate")
    ended = tool.run(*flags)
    assert ended.status == 0, ended.text
    assert "up_squared (host)" in ended.text
    assert "validated, similarity 1.0000000" in ended.text


def test_mobilenet_v2(
    tool: Tool, farm: Farm, programs: dict[Abi, Path], tmp_path: Path
) -> None:
    make_built_model("mobilenet_v2")
    config = "test/conformance/models/mobilenet_v2.yml"
    convert(config, tmp_path / "mobilenet")
    give_programs(tmp_path / "mobilenet", programs)
    mobile = Tool(tmp_path / "mobilenet", farm, config)
    ended = mobile.run(ALL, "--validate", "--benchmark", "--report", limit_s=500.0)
    assert ended.status == 0, ended.text
    folder = tmp_path / "mobilenet/mobilenet_v2/report"
    _check_report(folder, "mobilenet_v2", farm)


_LARGE = """
library_name: large
target_abis: [arm64-v8a]
model_graph_format: file
model_data_format: file
models:
  large:
    platform: onnx
    model_file_path: {path}
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["1,5000"]
        input_data_formats: [NONE]
        output_tensors: [y]
        output_shapes: ["1,5000"]
        output_data_formats: [NONE]
    runtime: cpu
    data_type: fp32_fp32
"""


def _large_model(path: Path) -> None:
    """One layer of 5000 x 5000 weights: 100 MB."""
    weights = np.random.default_rng(7).standard_normal((5000, 5000), np.float32)
    shape = [1, 5000]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def test_a_large_file_is_sent_once(
    farm: Farm, programs: dict[Abi, Path], tmp_path: Path
) -> None:
    """100 MB of weights: the second run copies none of them."""
    _large_model(tmp_path / "large.onnx")
    config = tmp_path / "large.yml"
    config.write_text(_LARGE.format(path=tmp_path / "large.onnx"), encoding="utf-8")
    convert(str(config), tmp_path / "build")
    give_programs(tmp_path / "build", programs)
    large = Tool(tmp_path / "build", farm, str(config))
    flags = ("--target_abis=arm64-v8a", "--devices_to_run=MI 6", "--validate")
    begin = farm.phones[0].status()["push"]
    ended = large.run(*flags)
    assert ended.status == 0, ended.text
    first = farm.phones[0].status()["push"]
    assert first - begin > 100_000_000
    ended = large.run(*flags)
    assert ended.status == 0, ended.text
    # The input, 20,000 bytes.
    assert farm.phones[0].status()["push"] - first < 25_000
