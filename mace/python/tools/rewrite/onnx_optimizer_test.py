# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The simplified file computes the same with fewer nodes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError, MissingToolError, UsageError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_onnxruntime,
)
from mace.python.tools.rewrite import onnx_optimizer

pytest.importorskip("onnxoptimizer")

_X = normal(2, 3, 6, 5)
_TOOL = Path(__file__).resolve().parents[4] / "tools/onnx_optimizer.py"


def _model() -> onnx.ModelProto:
    make = onnx.helper.make_node
    nodes = [
        make("Identity", ["x"], ["i"]),
        make("Conv", ["i", "w"], ["c"]),
        make("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
        make("Transpose", ["n"], ["t1"], perm=[0, 2, 3, 1]),
        make("Transpose", ["t1"], ["t2"], perm=[0, 3, 1, 2]),
        make("Pad", ["t2", "none"], ["p"]),
        make("Relu", ["p"], ["y"]),
    ]
    constants = {
        "w": normal(4, 3, 2, 2),
        "s": normal(4),
        "b": normal(4, seed=1),
        "m": normal(4, seed=2),
        "v": np.abs(normal(4, seed=3)) + 0.5,
        "none": np.zeros(8, np.int64),
        "unused": normal(100),
    }
    return make_model(nodes, {"x": _X}, ["y"], constants, opset=13)


def _write(folder: Path) -> Path:
    path = folder / "model.onnx"
    model = onnx.shape_inference.infer_shapes(_model())
    path.write_bytes(model.SerializeToString())
    return path


def test_same_answers_with_fewer_nodes(tmp_path: Path) -> None:
    source, target = _write(tmp_path), tmp_path / "out" / "model_opt.onnx"
    report = onnx_optimizer.optimize_file(source, target)
    after = onnx.load(str(target))
    assert [node.op_type for node in after.graph.node] == ["Conv", "Relu"]
    assert report.nodes == (7, 2)
    wanted = run_onnxruntime(_model(), {"x": _X})
    assert_same(run_onnxruntime(after, {"x": _X}), wanted, rtol=1e-4)


def test_old_files_whose_weights_are_inputs(tmp_path: Path) -> None:
    source, target = tmp_path / "model.onnx", tmp_path / "out.onnx"
    model = onnx.shape_inference.infer_shapes(_model())
    model.ir_version = 3
    for tensor in model.graph.initializer:
        model.graph.input.append(
            onnx.helper.make_tensor_value_info(
                tensor.name, tensor.data_type, tensor.dims
            )
        )
    source.write_bytes(model.SerializeToString())
    onnx_optimizer.optimize_file(source, target)
    after = onnx.load(str(target))
    assert "BatchNormalization" not in [node.op_type for node in after.graph.node]
    wanted = run_onnxruntime(_model(), {"x": _X})
    assert_same(run_onnxruntime(after, {"x": _X}), wanted, rtol=1e-4)


def test_target_may_be_the_source(tmp_path: Path) -> None:
    source = _write(tmp_path)
    onnx_optimizer.optimize_file(source, source)
    assert len(onnx.load(str(source)).graph.node) == 2
    assert os.listdir(tmp_path) == ["model.onnx"]


def test_usual_passes_exist() -> None:
    assert set(onnx_optimizer.DEFAULT_PASSES) <= set(onnx_optimizer.available_passes())


def test_bad_requests_leave_nothing(tmp_path: Path) -> None:
    source, target = _write(tmp_path), tmp_path / "out.onnx"
    with pytest.raises(UsageError, match="fuse_everything unknown"):
        onnx_optimizer.optimize_file(source, target, ["fuse_everything"])
    whole = source.read_bytes()
    for damage in (b"", whole[:100], b"x" * 500):
        source.write_bytes(damage)
        with pytest.raises(MaceError, match="model.onnx"):
            onnx_optimizer.optimize_file(source, target)
    source.unlink()
    with pytest.raises(MaceError, match="cannot read"):
        onnx_optimizer.optimize_file(source, target)
    assert os.listdir(tmp_path) == []


def test_where_weights_are_is_told_on_one_line(tmp_path: Path) -> None:
    model = _model()
    (weight, *_) = model.graph.initializer
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="a\nb\x1b[2J")
    source = tmp_path / "model.onnx"
    source.write_bytes(model.SerializeToString())
    with pytest.raises(MaceError, match=r"^[^\n\x1b]*cannot be read: [^\n\x1b]*$"):
        onnx_optimizer.optimize_file(source, tmp_path / "out.onnx")


def test_a_child_that_dies_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_optimizer, "_CHILD", "import os; os.abort()")
    with pytest.raises(onnx_optimizer.OptimizeError, match="cannot be simplified"):
        onnx_optimizer.optimize_file(_write(tmp_path), tmp_path / "out.onnx")
    assert os.listdir(tmp_path) == ["model.onnx"]


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingToolError, match="pip install onnxoptimizer"):
        onnx_optimizer.available_passes()


def _tool(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(_TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command_line(tmp_path: Path) -> None:
    source, target = _write(tmp_path), tmp_path / "out.onnx"
    done = _tool(source, target)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 nodes (were 7)" in done.stdout
    done = _tool(tmp_path / "missing.onnx", target)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot read")
    done = _tool(source)
    assert done.returncode == 2
    assert done.stderr.startswith("error: onnx_optimizer.py: two files are needed")
    assert done.stderr.count("\n") == 1
    assert "fuse_bn_into_conv (usual)" in _tool("--list").stdout
