# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks `source_outputs` of every operator of a converted model. Layer by layer
validation relies on them; here each tensor is compared with the tensor of that name in
onnxruntime.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.export import ExportOptions, export_model
from mace.python.tools.export.testing import read_model
from mace.python.tools.importers.base import (
    ImportRequest,
    InputSpec,
    OutputSpec,
    load_importer,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.layout import NCHW_TO_NHWC
from mace.python.tools.passes import optimize
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
    graph = load_importer("onnx")(request)
    optimize(graph)
    stream = io.BytesIO()
    model = export_model(graph, ExportOptions(), stream).model
    sources = {
        output: source
        for op in model.operators
        for output, source in zip(op.outputs, op.source_outputs)
        if source
    }
    assert len(sources) == len(model.operators)
    image = light_input(name)
    expected = _framework_tensors(path, light.input, image, set(sources.values()))
    read_back = read_model(model.SerializeToString(), stream.getvalue())
    found = run_graph(
        read_back, {light.input: image.transpose(NCHW_TO_NHWC)}, list(sources)
    )
    for output, source in sources.items():
        want, have = expected[source], found[output]
        if want.ndim == 4:
            want = want.transpose(NCHW_TO_NHWC)
        scale = float(np.abs(want).max())
        np.testing.assert_allclose(have, want, atol=_TOLERANCE * scale, err_msg=source)


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
