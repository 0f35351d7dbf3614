# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks that PyTorch exported with open dimensions: one conversion, three sizes in
the native engine, compared with ONNX Runtime. record_open.py stores the networks.
"""

from __future__ import annotations

import io
import zipfile
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
from mace.python.tools.importers.onnx.testing import run_onnxruntime
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from test.conformance.native import native
from test.conformance.onnx.record_open import NETWORKS, PLACES, RECORDED

# Of the largest element: sums of a few hundred numbers, several layers deep.
_TOLERANCE = 1e-4


def _filled(data: bytes) -> onnx.ModelProto:
    """A network with random weights."""
    model = onnx.load_from_string(data)
    rng = np.random.default_rng(5)
    for tensor in model.graph.initializer:
        empty = not tensor.raw_data and not tensor.float_data and np.prod(tensor.dims)
        if tensor.data_type != onnx.TensorProto.FLOAT or not empty:
            continue
        shape = tuple(tensor.dims)
        # Of about 1 after each layer; variances and scales are positive.
        depth = np.prod(shape[1:]) if len(shape) > 2 else shape[0]
        array = rng.standard_normal(shape) / np.sqrt(max(depth, 1))
        if len(shape) < 2:
            array = 1 + 0.1 * rng.random(shape)
        tensor.raw_data = array.astype(np.float32).tobytes()
    return model


def _inputs(archive: zipfile.ZipFile, name: str, place: int) -> dict[str, Array]:
    rng = np.random.default_rng(6)
    stored = np.load(io.BytesIO(archive.read(f"{name}.{place}.npz")))
    return {
        key.removesuffix(".shape"): rng.standard_normal(stored[key], np.float32)
        if key.endswith(".shape")
        else stored[key]
        for key in stored.files
    }


def test_every_network_is_stored() -> None:
    with zipfile.ZipFile(RECORDED) as archive:
        stored = {n[:-5] for n in archive.namelist() if n.endswith(".onnx")}
    assert stored == set(NETWORKS)
    assert len(stored) == 10


@pytest.mark.parametrize("name", NETWORKS)
def test_open_lengths(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(RECORDED) as archive:
        model = _filled(archive.read(f"{name}.onnx"))
        feeds = [_inputs(archive, name, place) for place in PLACES]
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    specs = []
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        shape = tuple(-1 if d.dim_param else d.dim_value for d in dims)
        assert -1 in shape
        specs.append(InputSpec(value.name, shape, data_format=DataFormat.NONE))
    outputs = [value.name for value in model.graph.output]
    graph = import_model(
        ImportRequest(
            "model",
            path,
            tuple(specs),
            tuple(OutputSpec(o, DataFormat.NONE) for o in outputs),
        )
    )
    optimize(graph)
    for feed in feeds:
        wanted = run_onnxruntime(model, feed)
        found = native("host")(graph, {n: narrow(a) for n, a in feed.items()})
        for output, array in zip(outputs, wanted):
            assert found[output].shape == array.shape
            largest = np.abs(array).max()
            assert largest > 0
            np.testing.assert_allclose(
                found[output], array, rtol=0, atol=_TOLERANCE * largest
            )
