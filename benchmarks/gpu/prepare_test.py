# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import ast
import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from benchmarks.gpu import prepare
from benchmarks.gpu.prepare import PEERS, fold_normalisations, levelled, rounded
from benchmarks.record import ROOT, commit

onnxruntime = pytest.importorskip("onnxruntime")

_RNG = np.random.default_rng(0)


def _run(model: onnx.ModelProto, image: NDArray[np.float32]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    result: NDArray[np.float32] = session.run(None, {"x": image})[0]
    return result


@pytest.mark.parametrize("bits", [0, 1, 2, 5, 10])
def test_rounded_values_have_few_bits_and_are_near(bits: int) -> None:
    values = _RNG.standard_normal(10_000).astype(np.float32)
    found = rounded(values, bits)
    mantissas = found.astype("<f2").view("<u2") & 0x3FF
    assert found.dtype == np.float32
    assert len(np.unique(mantissas)) == 2**bits
    # The smallest values are subnormal halves, in steps of 2^-24.
    step = 2.0 ** (-24 + 10 - bits)
    limit = np.abs(values) * 2.0 ** (-bits - 1) * 1.002 + step
    assert (np.abs(found - values) <= limit).all()


def test_rounding_carries_into_the_exponent() -> None:
    values = np.array([1.9, -3.5, 0.0, 1.4], np.float32)
    assert rounded(values, 0).tolist() == [2.0, -4.0, 0.0, 1.0]


def test_levelled_weights_have_few_values_and_keep_their_scale() -> None:
    weights = 0.1 * _RNG.standard_normal(100_000).astype(np.float32)
    found = levelled(weights, 0)
    assert len(np.unique(np.abs(found))) <= 5
    assert (np.sign(found) == np.sign(weights)).all()
    assert found.std() == pytest.approx(weights.std(), rel=0.1)
    cosine = np.dot(found, weights) / np.linalg.norm(found) / np.linalg.norm(weights)
    assert cosine > 0.9
    np.testing.assert_array_equal(levelled(found * 0, 0), found * 0)


def _model(nodes: list[onnx.NodeProto], bias: bool) -> onnx.ModelProto:
    def weight(name: str, *shape: int, positive: bool = False) -> onnx.TensorProto:
        array = _RNG.standard_normal(shape).astype(np.float32)
        return numpy_helper.from_array(np.abs(array) + 0.5 if positive else array, name)

    weights = [weight("w", 6, 3, 3, 3), weight("s", 6), weight("o", 6)]
    weights += [weight("m", 6), weight("v", 6, positive=True)]
    weights += [weight("b", 6)] * bias
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 8, 8))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 6, 6, 6))],
        weights,
    )
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


_NORM = ["s", "o", "m", "v"]


@pytest.mark.parametrize("bias", [True, False])
def test_a_folded_normalisation_changes_no_result(bias: bool) -> None:
    conv = helper.make_node("Conv", ["x", "w", *["b"] * bias], ["c"])
    norm = helper.make_node("BatchNormalization", ["c", *_NORM], ["n"], epsilon=1e-3)
    model = _model([conv, norm, helper.make_node("Clip", ["n", "l"], ["y"])], bias)
    model.graph.initializer.append(numpy_helper.from_array(np.float32(-1), "l"))
    image = _RNG.standard_normal((1, 3, 8, 8)).astype(np.float32)
    before = _run(model, image)
    assert fold_normalisations(model.graph) == 1
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["Conv", "Clip"]
    (limit,) = (t for t in model.graph.initializer if t.name == "l")
    assert list(limit.dims) == []
    after = _run(model, image)
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)


def test_a_convolution_with_another_reader_is_not_folded() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", *_NORM], ["n"]),
        helper.make_node("Add", ["c", "n"], ["y"]),
    ]
    model = _model(nodes, False)
    assert fold_normalisations(model.graph) == 0
    assert len(model.graph.node) == 3


def test_simplified_weights_are_no_inputs_and_are_rounded(tmp_path: Path) -> None:
    weights = _RNG.standard_normal((40, 40)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["y"])],
        "net",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 40)),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, (40, 40)),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 40))],
        [numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(
        helper.make_model(graph, opset_imports=opset, ir_version=3),
        str(tmp_path / "a.onnx"),
    )
    prepare.simplify(tmp_path / "a.onnx", tmp_path / "b.onnx", 1)
    made = onnx.load(str(tmp_path / "b.onnx"))
    assert [value.name for value in made.graph.input] == ["x"]
    found = numpy_helper.to_array(made.graph.initializer[0])
    np.testing.assert_array_equal(found, levelled(weights, 1))


def test_packages_have_versions() -> None:
    for peer in PEERS.values():
        for package in peer.packages:
            assert prepare.pinned_version(package).startswith(f"{package}==")


def test_the_folder_has_all_modules_that_run_imports() -> None:
    """And they import nothing but each other, the standard library and NumPy."""
    modules = {code[:-3].replace("/", ".") for code in prepare._CODE}
    allowed = {"benchmarks", "numpy", *sys.stdlib_module_names, *modules}
    for code in prepare._CODE:
        for node in ast.walk(ast.parse((ROOT / code).read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] in allowed, (code, name)
                if name.startswith("benchmarks."):
                    packages = {one.rpartition(".")[0] for one in modules}
                    assert name in modules | packages, (code, name)


def test_the_program_of_a_folder_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / prepare.MANIFEST).write_text(json.dumps({"python": "3.12"}))
    for content in (b"old", b"new"):
        (tmp_path / "built").write_bytes(content)
        prepare.add_program(tmp_path, tmp_path / "built")
    assert lzma.decompress((tmp_path / prepare.PROGRAM).read_bytes()) == b"new"
    manifest = json.loads((tmp_path / prepare.MANIFEST).read_text())
    assert manifest == {"python": "3.12", "commit": commit()}
    command = [sys.executable, "-m", "benchmarks.gpu.run", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0


def test_a_folder_of_something_else_is_kept(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    with pytest.raises(SystemExit, match="not made by this program"):
        prepare.prepare(argparse.Namespace(folder=tmp_path))
    assert (tmp_path / "precious").exists()
