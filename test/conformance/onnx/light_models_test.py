# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the outputs of eight of the nine real networks of the `onnx` package.

In the NumPy reference, as rewritten by the passes; natively they run in
../networks_test.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
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
from test.conformance.onnx.runner import run_reference
from test.conformance.reference import assert_close, run_onnxruntime

_SEED = 20
# VGG19 computes ten times as much as any other, by the same operators.
_NAMES = [name for name in LIGHT_MODELS if name != "vgg19"]


def run_network(name: str, path: Path, x: Array) -> Array:
    """Runs the network through import, passes and the NumPy reference."""
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
    return run_reference(graph, {info.input: x})[info.output]


@pytest.mark.parametrize("name", _NAMES)
def test_seeded_network_equals_onnxruntime(name: str) -> None:
    print(f"seed {_SEED}")
    info = LIGHT_MODELS[name]
    path, x = make_light_model(name, _SEED), light_input(name, _SEED)
    wanted = run_onnxruntime(path, [info.output], {info.input: x})
    assert_close(run_network(name, path, x), wanted[info.output])


@pytest.mark.parametrize("name", _NAMES)
def test_shipped_network_gives_its_shipped_output(name: str) -> None:
    path = light_source(name)
    expected = path.with_name(f"{path.stem}_output_0.pb").read_bytes()
    wanted = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(expected))
    # The input with which onnx.backend.test computed these outputs.
    shape = LIGHT_MODELS[name].input_shape
    count = int(np.prod(shape))
    x = (np.arange(count).reshape(shape) / count).astype(np.float32)
    np.testing.assert_allclose(run_network(name, path, x), wanted, rtol=1e-3, atol=1e-7)
