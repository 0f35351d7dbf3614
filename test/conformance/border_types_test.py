# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images of every element type, channels first, on this computer and on ARM.

Each model passes its input on unchanged, too, in the order of the framework,
which takes a Transpose of just this element type. The reference is ONNX
Runtime.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.config.subgraph import BorderTensor
from mace.python.tools.config.vocabulary import DataFormat as BorderFormat
from mace.python.tools.convert.scaled_inputs import scale_inputs, scaled
from mace.python.tools.data_type import DataType as BorderType
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from test.conformance.native import gpu, native, require_emulator
from test.conformance.onnx.runner import as_passed
from test.conformance.reference import run_onnxruntime

_SEED = 7
# Around the tiles of 16, 8, 4 and 2 elements.
_SHAPE = (2, 19, 5, 7)
_TYPES = (
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
)


def _write_model(path: Path, kind: str) -> None:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    rng = np.random.default_rng(_SEED)
    filters = rng.standard_normal((4, _SHAPE[1], 1, 1)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
            helper.make_node("Conv", ["f", "w"], ["y"]),
            helper.make_node("Identity", ["x"], ["same"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", element, _SHAPE)],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("same", element, _SHAPE),
        ],
        [numpy_helper.from_array(filters, "w")],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def _values(kind: str) -> Array:
    rng = np.random.default_rng(_SEED)
    if kind == "bool":
        return rng.random(_SHAPE) < 0.5
    if kind.startswith("float"):
        return rng.standard_normal(_SHAPE).astype(kind)
    bounds = np.iinfo(kind if np.dtype(kind).itemsize < 4 else "int16")
    return rng.integers(bounds.min, bounds.max, _SHAPE, endpoint=True).astype(kind)


@pytest.mark.parametrize("abi", ["host", "arm64"])
@pytest.mark.parametrize("kind", _TYPES)
def test_image_of_type(kind: str, abi: str, tmp_path: Path) -> None:
    require_emulator(abi)
    path = tmp_path / "m.onnx"
    _write_model(path, kind)
    x = _values(kind)
    passed = as_passed(x)
    wanted = run_onnxruntime(path, ["y", "same"], {"x": x})
    outputs = (OutputSpec("y"), OutputSpec("same", DataFormat.NONE))
    spec = InputSpec("x", _SHAPE, DataType(kind), DataFormat.NCHW)
    graph = import_model(ImportRequest("m", path, (spec,), outputs))
    optimize(graph)
    assert any(
        op.type == "Transpose" and op.output.dtype is DataType.of(passed.dtype)
        for op in graph.ops
    )
    found = native(abi)(graph, {"x": passed})
    np.testing.assert_array_equal(found["same"], narrow(wanted["same"]))
    scale = np.abs(wanted["y"]).max()
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_pixels_that_the_model_normalises(
    kind: str, device: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    filters = np.random.default_rng(_SEED).standard_normal((6, 3, 3, 3))
    shape = (1, 3, 17, 23)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(filters.astype(np.float32), "w")],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    info = BorderTensor(
        "x",
        shape,
        BorderType(kind),
        BorderFormat.NCHW,
        means=(123.7, 116.8, 103.9),
        scales=(0.017, 0.0175, 0.0174),
    )
    bounds = np.iinfo(kind)
    rng = np.random.default_rng(_SEED)
    pixels = rng.integers(bounds.min, bounds.max, shape, endpoint=True).astype(kind)
    wanted = run_onnxruntime(path, ["y"], {"x": scaled(info, pixels)})["y"]
    spec = InputSpec("x", shape, data_format=DataFormat.NCHW)
    imported = import_model(ImportRequest("m", path, (spec,), (OutputSpec("y"),)))
    scale_inputs(imported, [info], "m")
    optimize(imported)
    run = gpu() if device == "gpu" else native("host")
    found = run(imported, {"x": pixels})["y"]
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * scale)
