# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The nine real networks of the `onnx` package give their own answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.base import ImportRequest, InputSpec, OutputSpec
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from test.conformance.models import (
    LIGHT_MODELS,
    light_input,
    light_source,
    make_light_model,
)
from test.conformance.onnx.cases import Array
from test.conformance.onnx.runner import Executor, run_reference

_SEED = 20


def run_network(
    name: str, path: Path, x: Array, executor: Executor = run_reference
) -> Array:
    """The network through import, passes and an executor."""
    info = LIGHT_MODELS[name]
    n, c, h, w = info.input_shape
    graph = import_model(
        ImportRequest(
            name,
            path,
            (InputSpec(info.input, (n, h, w, c)),),
            (OutputSpec(info.output),),
        )
    )
    optimize(graph)
    assert graph.formats[info.input] is DataFormat.NHWC
    return executor(graph, {info.input: x})[info.output]


def _onnxruntime(name: str, path: Path, x: Array) -> Array:
    ort = pytest.importorskip("onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    info = LIGHT_MODELS[name]
    result: Array = session.run([info.output], {info.input: x})[0]
    return result


def check_against_onnxruntime(name: str, path: Path, x: Array, found: Array) -> None:
    """Cosine and the largest error relative to the largest value."""
    wanted = _onnxruntime(name, path, x)
    assert found.shape == wanted.shape
    a, b = (np.asarray(v, np.float64).ravel() for v in (found, wanted))
    cosine = float(a @ b / np.sqrt((a @ a) * (b @ b)))
    error = float(np.abs(a - b).max() / np.abs(b).max())
    print(f"{name}: cosine {cosine:.9f}, largest relative error {error:.2e}")
    assert cosine >= 0.99999
    assert error <= 1e-3


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_seeded_network_equals_onnxruntime(name: str) -> None:
    print(f"seed {_SEED}")
    path = make_light_model(name, _SEED)
    x = light_input(name, _SEED)
    check_against_onnxruntime(name, path, x, run_network(name, path, x))


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_shipped_network_gives_its_shipped_output(name: str) -> None:
    path = light_source(name)
    expected = path.with_name(f"{path.stem}_output_0.pb").read_bytes()
    wanted = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(expected))
    # The input that onnx.backend.test made these outputs with.
    shape = LIGHT_MODELS[name].input_shape
    count = int(np.prod(shape))
    x = (np.arange(count).reshape(shape) / count).astype(np.float32)
    np.testing.assert_allclose(run_network(name, path, x), wanted, rtol=1e-3, atol=1e-7)
