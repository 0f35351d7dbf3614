# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a check says of models that can be converted and of others."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.cli.main import main
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.node import HANDLERS
from mace.python.tools.inspection.check import check_deployment
from mace.python.tools.inspection.options import CheckOptions

_FIND = HANDLERS.find


@pytest.fixture(autouse=True)
def _no_sine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HANDLERS, "find", lambda op: None if op == "Sin" else _FIND(op))


def _write(path: Path, nodes: list[onnx.NodeProto]) -> None:
    """A model from x [1, 3, 6, 5] to y."""
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(weights.astype(np.float32), "w"),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def _file(folder: Path, **models: str) -> Path:
    text = "library_name: lib\ntarget_abis: [host]\nmodels:\n"
    for name, output in models.items():
        text += (
            f"  {name}:\n    platform: onnx\n    model_file_path: {name}.onnx\n"
            "    subgraphs:\n      - input_tensors: x\n        input_shapes: 1,3,6,5\n"
            f"        input_data_formats: NCHW\n        output_tensors: {output}\n"
            "        output_data_formats: NCHW\n"
            "        output_shapes: 1,-1,-1,-1\n"
            "    runtime: cpu\n"
        )
    path = folder / "lib.yml"
    path.write_text(text, encoding="utf-8")
    return path


def _check(path: Path, **options: Any) -> tuple[bool, str]:
    deployment = load_deployment_text(path.read_text(encoding="utf-8"), path)
    stream = io.StringIO()
    passed = check_deployment(deployment, CheckOptions(**options), stream)
    return passed, stream.getvalue()


_GOOD = [
    helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[0] * 4),
    helper.make_node("Relu", ["c"], ["y"], name="relu"),
]


def test_all_nodes_have_operators_work_and_devices(tmp_path: Path) -> None:
    _write(tmp_path / "good.onnx", _GOOD)
    passed, text = _check(_file(tmp_path, good="y"))
    assert passed
    lines = text.splitlines()
    assert lines[0] == "good (onnx, good.onnx):"
    # 4 x 3 pixels of 8 channels, each the sum of 27 products.
    assert lines[1] == (
        "  2 nodes, all can be converted, to 1 operator, "
        "0.0 million multiply-accumulates"
    )
    header, conv, relu = lines[3:6]
    heading = "# operator node becomes output MMAC KB devices"
    assert header.split() == heading.split()
    assert conv.split() == [
        *["0", "Conv", "conv", "Conv2D", "[1,", "8,", "4,", "3]"],
        "0.00",
        # 90 inputs, 216 weights, 96 results.
        f"{4 * (90 + 216 + 96) / 1000:.1f}",
        "CPU",
        "GPU",
    ]
    assert relu.split()[:4] == ["1", "Relu", "relu", "Activation"]


def test_what_follows_a_node_that_cannot_be_converted_is_checked(
    tmp_path: Path,
) -> None:
    _write(
        tmp_path / "bad.onnx",
        [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
            helper.make_node("Sin", ["c"], ["s"], name="sine"),
            helper.make_node("Relu", ["s"], ["r"], name="relu"),
            helper.make_node("Own", ["r"], ["o"], name="mine", domain="own"),
            helper.make_node("Relu", ["o"], ["p"], name="behind"),
            helper.make_node("Sin", ["r"], ["t"], name="another"),
            helper.make_node("Add", ["p", "t"], ["y"], name="sum"),
        ],
    )
    passed, text = _check(_file(tmp_path, bad="y"))
    assert not passed
    assert text.splitlines()[1].startswith(
        "  7 nodes, 3 cannot be converted, 2 behind them cannot be checked"
    )
    becomes = {
        node["node"]: (node["outcome"], [op["operator"] for op in node["becomes"]])
        for node in json.loads(_check(_file(tmp_path, bad="y"), format="json")[1])[
            "models"
        ][0]["nodes"]
    }
    assert becomes == {
        "conv": ("converted", ["Conv2D"]),
        "sine": ("refused", []),
        "relu": ("converted", ["Activation"]),
        "mine": ("refused", []),
        "behind": ("not reached", []),
        "another": ("refused", []),
        "sum": ("not reached", []),
    }
    problems = _check(_file(tmp_path, bad="y"), only_problems=True)[1]
    assert "conv " not in problems
    assert "why: the operator set 'own' is not ONNX's own" in problems
    assert "what helps: export the model with standard operators" in problems


def test_a_problem_of_one_model_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        _write(tmp_path / f"{name}.onnx", _GOOD)
    (tmp_path / "second.onnx").write_bytes(b"\x08\x07 no model")
    passed, text = _check(_file(tmp_path, first="z", second="y", third="y"))
    assert not passed
    first, second, third = text.split("\n\n", 2)
    assert "output_tensors" in first and "'z'" in first
    assert "second.onnx" in second
    assert "all can be converted" in third


def test_a_download_that_fails_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "cache"))
    _write(tmp_path / "a.onnx", _GOOD)
    _write(tmp_path / "b.onnx", [helper.make_node("Sin", ["x"], ["y"], name="sine")])
    path = _file(tmp_path, a="y", dead="y", b="z", c="y")
    text = path.read_text(encoding="utf-8")
    dead = "http://127.0.0.1:9/dead.onnx\n    model_sha256_checksum: " + "0" * 64
    text = text.replace("model_file_path: dead.onnx", f"model_file_path: {dead}")
    text = text.replace(
        "  b:\n", "  b:\n    quantize: 1\n    quantize_range_file: ranges\n"
    )
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    passed, told = _check(path)
    assert not passed
    told = " ".join(told.split())
    for part in ("127.0.0.1", "no tensor 'z'", "ranges", "c.onnx", "no such file"):
        assert part in told
    options = ConvertOptions(build_dir=tmp_path / "build")
    with pytest.raises(MaceError) as caught:
        convert_deployment(load_deployment_text(text, path), options)
    told = str(caught.value)
    assert told.startswith("4 problems:\n")
    for part in (
        "127.0.0.1",
        "no tensor 'z'",
        "models.b.quantize_range_file",
        "c.onnx",
    ):
        assert part in told


def test_a_result_that_is_known_is_a_constant(tmp_path: Path) -> None:
    _write(
        tmp_path / "known.onnx",
        [
            helper.make_node("Neg", ["w"], ["v"], name="negative"),
            helper.make_node("Conv", ["x", "v"], ["y"], name="conv"),
        ],
    )
    text = _check(_file(tmp_path, known="y"))[1]
    (row,) = [line for line in text.splitlines() if "negative" in line]
    assert row.split() == ["0", "Neg", "negative", "a", "constant"]


def test_the_command_has_a_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path / "good.onnx", _GOOD)
    assert main(["check", f"--config={_file(tmp_path, good='y')}"]) == 0
    assert "all can be converted" in capsys.readouterr().out
    sine = [helper.make_node("Sin", ["x"], ["y"], name="sine")]
    _write(tmp_path / "good.onnx", sine)
    assert main(["check", f"--config={tmp_path / 'lib.yml'}"]) == 1
    out = capsys.readouterr().out
    assert "NOT CONVERTED" in out
    assert not list(tmp_path.glob("build*"))
