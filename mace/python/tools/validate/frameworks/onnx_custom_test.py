# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of which ONNX Runtime computes a part."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from mace.python.tools.custom_ops import custom_folders, use_custom_ops
from mace.python.tools.importers.onnx.testing import make_model, normal
from mace.python.tools.validate.frameworks.onnx_runtime import run
from mace.python.tools.validate.frameworks.reference import (
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)

pytest.importorskip("onnxruntime")

_EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "custom_op" / "operators"
_X = normal(1, 2, 3, 4)


@pytest.fixture(autouse=True)
def operators(tmp_path: Path) -> Iterator[Path]:
    before = custom_folders()
    copied = tmp_path / "operators"
    shutil.copytree(_EXAMPLE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    use_custom_ops([copied])
    yield copied
    use_custom_ops(before)


def _pool(x: str, y: str, mode: int = 1) -> onnx.NodeProto:
    return helper.make_node("MMCVCornerPool", [x], [y], domain="mmcv", mode=mode)


def _run(
    model: onnx.ModelProto, folder: Path, *outputs: str, **inputs: np.ndarray
) -> ReferenceResult:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    given = inputs or {"x": _X}
    return run(ReferenceRequest("onnxruntime", path, given, outputs, ()))


def test_parts_before_between_and_after(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["negated"]),
        _pool("negated", "pooled"),
        helper.make_node("Mul", ["pooled", "factor"], ["scaled"]),
        helper.make_node("Add", ["scaled", "x"], ["sum"]),
        _pool("sum", "again", 2),
        _pool("factor", "constant", 1),
        helper.make_node("Sub", ["again", "negated"], ["y"]),
    ]
    factor = normal(1, 2, 3, 1, seed=3)
    model = make_model(nodes, {"x": _X}, ["y"], {"factor": factor})
    result = _run(model, tmp_path, "y", "pooled", "constant", "x")
    pooled = np.maximum.accumulate(-_X, 2)
    again = np.maximum.accumulate((pooled * factor + _X)[..., ::-1], 3)[..., ::-1]
    np.testing.assert_allclose(result.tensors["y"], again + _X, rtol=1e-6)
    np.testing.assert_array_equal(result.tensors["pooled"], pooled)
    constant = np.maximum.accumulate(factor, 2)
    np.testing.assert_array_equal(result.tensors["constant"], constant)
    np.testing.assert_array_equal(result.tensors["x"], _X)
    assert "mmcv.MMCVCornerPool by its class in custom_ops" in result.version


def test_an_inner_tensor_as_input(tmp_path: Path) -> None:
    nodes = [helper.make_node("Neg", ["x"], ["n"]), _pool("n", "y")]
    model = make_model(nodes, {"x": _X}, ["y"])
    result = _run(model, tmp_path, "y", n=_X)
    np.testing.assert_array_equal(result.tensors["y"], np.maximum.accumulate(_X, 2))


def test_models_without_such_nodes_are_left_to_onnxruntime(tmp_path: Path) -> None:
    model = make_model([helper.make_node("Neg", ["x"], ["y"])], {"x": _X}, ["y"])
    assert "custom_ops" not in _run(model, tmp_path, "y").version


def test_a_wrong_shape_is_told(tmp_path: Path) -> None:
    model = make_model([_pool("x", "y")], {"x": _X}, ["y"])
    with pytest.raises(FrameworkError, match=r"has shape \[3\].* wants \[1, 2, 3"):
        _run(model, tmp_path, "y", x=normal(3))


def test_a_mistake_in_the_class_is_told_with_its_line(
    operators: Path, tmp_path: Path
) -> None:
    path = operators / "corner_pool" / "corner_pool_onnx.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("y = np.array(x)", "y = np.array(z)"), "utf-8")
    model = make_model([_pool("x", "y")], {"x": _X}, ["y"])
    reason = r"class of mmcv.MMCVCornerPool .* node 'y': .*onnx.py, line \d+: NameError"
    with pytest.raises(FrameworkError, match=reason):
        _run(model, tmp_path, "y")


def test_without_a_class_the_user_is_told_how_to_give_one(tmp_path: Path) -> None:
    node = helper.make_node("Other", ["x"], ["y"], domain="org.example")
    model = make_model([node], {"x": _X}, ["y"])
    reason = r"org.example.Other, say.*\nclass|class Other\(onnx.*op_domain = 'org.exa"
    with pytest.raises(FrameworkError, match=reason):
        _run(model, tmp_path, "y")


def test_within_another_node_it_cannot_be_computed(tmp_path: Path) -> None:
    value = helper.make_tensor_value_info("inner", onnx.TensorProto.FLOAT, None)
    branch = helper.make_graph([_pool("x", "inner")], "branch", [], [value])
    node = helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
    nodes = [_pool("x", "y"), node]
    condition = np.array(True)
    model = make_model(nodes, {"x": _X, "c": condition}, ["y", "z"])
    with pytest.raises(FrameworkError, match="within the graph of another node"):
        _run(model, tmp_path, "y", "z", x=_X, c=condition)
