# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks `source_outputs` of every operator of a converted model. Layer by layer
validation relies on them and on `source_axes`; here each tensor is compared with the
tensor of that name in onnxruntime, in the order of its dimensions.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.export import ExportOptions, export_model
from mace.python.tools.export.testing import read_model
from mace.python.tools.importers.frame.opened import load_framework
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.shapes import NCHW_TO_NHWC
from mace.python.tools.passes import optimize
from mace.python.tools.validate.comparison import candidates
from test.conformance.models.light import LIGHT_MODELS, light_input, make_light_model

ort = pytest.importorskip("onnxruntime", reason="it computes the expected tensors")

# For float32 sums in onnxruntime and float64 sums in the reference.
_TOLERANCE = 1e-4


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet"])
def test_sources_are_the_tensors_they_name(name: str) -> None:
    light, path = LIGHT_MODELS[name], make_light_model(name)
    n, c, h, w = light.input_shape
    request = ImportRequest(
        name, path, (InputSpec(light.input, (n, h, w, c)),), (OutputSpec(light.output),)
    )
    graph = load_framework("onnx").import_model(request)
    optimize(graph)
    stream = io.BytesIO()
    model = export_model(graph, ExportOptions(), stream).model
    image = light_input(name)
    compared = _compare(path, light.input, image, model, stream.getvalue())
    assert compared == len(model.operators)


def test_sources_of_transposed_tensors_are_in_the_order_they_tell(
    tmp_path: Path,
) -> None:
    """Softmax over the 16 distances of each side of a box, as YOLOv8 has it."""
    path = tmp_path / "boxes.onnx"
    rng = np.random.default_rng(1)
    constants = {
        "w": rng.standard_normal((64, 8, 1, 1)).astype(np.float32),
        "p": np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1),
        "s0": np.array([1, 4, 16, 30]),
        "s1": np.array([1, 4, 30]),
    }
    node = onnx.helper.make_node
    graph = onnx.helper.make_graph(
        [
            node("Conv", ["x", "w"], ["c"]),
            node("Reshape", ["c", "s0"], ["d"]),
            node("Transpose", ["d"], ["t"], perm=[0, 2, 1, 3]),
            node("Softmax", ["t"], ["s"], axis=1),
            node("Conv", ["s", "p"], ["e"]),
            node("Reshape", ["e", "s1"], ["y"]),
        ],
        "boxes",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 8, 6, 5])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 4, 30])],
        [
            onnx.numpy_helper.from_array(array, name)
            for name, array in constants.items()
        ],
    )
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    request = ImportRequest(
        "boxes", path, (InputSpec("x", (1, 6, 5, 8)),), (OutputSpec("y"),)
    )
    graph = load_framework("onnx").import_model(request)
    optimize(graph)
    stream = io.BytesIO()
    model = export_model(graph, ExportOptions(), stream).model
    (softmax,) = [op for op in model.operators if op.type == "Softmax"]
    # Neither channels first nor last.
    assert list(softmax.source_axes[0].dims) not in ([], [0, 1, 2, 3], [0, 2, 3, 1])
    image = rng.uniform(-1, 1, (1, 8, 6, 5)).astype(np.float32)
    assert _compare(path, "x", image, model, stream.getvalue()) >= 5


def _compare(path: Path, name: str, image: np.ndarray, model: Any, data: bytes) -> int:
    """Compares all tensors that have a source; returns how many these are."""
    sources = {
        output: (source, tuple(axes.dims))
        for op in model.operators
        for output, source, axes in zip(op.outputs, op.source_outputs, op.source_axes)
        if source
    }
    wanted = {source for source, _ in sources.values()}
    expected = _framework_tensors(path, name, image, wanted)
    read_back = read_model(model.SerializeToString(), data)
    found = run_graph(read_back, {name: image.transpose(NCHW_TO_NHWC)}, list(sources))
    for output, (source, axes) in sources.items():
        want = expected[source]
        (have,) = candidates(found[output], axes, want.shape)
        scale = float(np.abs(want).max())
        np.testing.assert_allclose(have, want, atol=_TOLERANCE * scale, err_msg=source)
    return len(sources)


def _framework_tensors(
    path: Path, name: str, image: np.ndarray, wanted: set[str]
) -> dict[str, np.ndarray]:
    model = onnx.load(path)
    del model.graph.output[:]
    for tensor in sorted(wanted):
        model.graph.output.append(
            onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, None)
        )
    session = ort.InferenceSession(model.SerializeToString())
    return dict(zip(sorted(wanted), session.run(sorted(wanted), {name: image})))
