# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products that each run quantizes, on this computer and on ARM: the converter's
formula to the bit, and ONNX Runtime's results for the files of its `quantize_dynamic`.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes.manager import optimize
from mace.python.tools.quantize.dynamic import quantize_dynamically
from test.conformance.native import ABIS, native, require_emulator
from test.conformance.reference import run_onnxruntime

_SHAPE = (2, 19, 70)
_OUTPUTS = 61


def _write(path: Path) -> None:
    """A layer in floats, with a bias, and RELU."""
    rng = np.random.default_rng(3)
    constants = {
        "w": rng.standard_normal((_SHAPE[-1], _OUTPUTS)) / 8,
        "b": rng.standard_normal(_OUTPUTS) / 8,
    }
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["product"], "product"),
            helper.make_node("Add", ["product", "b"], ["sum"], "sum"),
            helper.make_node("Relu", ["sum"], ["y"], "y"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, _SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(array.astype(np.float32), name)
            for name, array in constants.items()
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def _graph(path: Path) -> Graph:
    spec = InputSpec("x", _SHAPE)
    graph = import_model(ImportRequest("m", path, (spec,), (OutputSpec("y"),)))
    optimize(graph)
    return graph


def _rows() -> Array:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(_SHAPE) * rng.uniform(0.01, 20, (*_SHAPE[:2], 1))
    return x.astype(np.float32)


@pytest.mark.parametrize("abi", ABIS)
def test_a_scale_for_each_row(abi: str, tmp_path: Path) -> None:
    require_emulator(abi)
    _write(tmp_path / "float.onnx")
    graph = _graph(tmp_path / "float.onnx")
    quantize_dynamically(graph)
    assert [op.type for op in graph.ops] == ["DynamicQuantizeMatMul"]
    x = _rows()
    found = native(abi)(graph, {"x": x})["y"]
    np.testing.assert_array_equal(found, run_graph(graph, {"x": x})["y"])
    wanted = run_onnxruntime(tmp_path / "float.onnx", ["y"], {"x": x})["y"]
    # Of each row by itself: half a step of its input and of the weights.
    error = np.abs(found - wanted).max(axis=-1)
    assert (error < 0.02 * np.abs(wanted).max(axis=-1)).all()


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("weights", ["QInt8", "QUInt8"])
def test_files_of_onnxruntime(
    weights: str, per_channel: bool, abi: str, tmp_path: Path
) -> None:
    require_emulator(abi)
    quantization = pytest.importorskip("onnxruntime.quantization")
    _write(tmp_path / "float.onnx")
    path = tmp_path / "dynamic.onnx"
    logging.disable(logging.WARNING)
    try:
        quantization.quantize_dynamic(
            tmp_path / "float.onnx",
            path,
            per_channel=per_channel,
            weight_type=quantization.QuantType[weights],
        )
    finally:
        logging.disable(logging.NOTSET)
    graph = _graph(path)
    assert [op.type for op in graph.ops] == ["DynamicQuantizeMatMul"]
    x = _rows()
    found = native(abi)(graph, {"x": x})["y"]
    np.testing.assert_array_equal(found, run_graph(graph, {"x": x})["y"])
    wanted = run_onnxruntime(path, ["y"], {"x": x})["y"]
    # ONNX Runtime may fuse the product with the sum.
    largest = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * largest)
