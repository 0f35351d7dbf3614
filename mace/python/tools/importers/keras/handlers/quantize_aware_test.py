# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models that were trained for integers, against what their own package computed.

The files and results in `../testdata/quantize_aware.zip` are by tf_keras 2.21 and the
model optimization package 0.8.1 of TensorFlow, whose layers no Keras 3 can read.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.keras import import_model
from mace.python.tools.importers.keras.testing import Family
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.manager import optimize
from mace.python.tools.quantize.insert import QuantizeOptions
from mace.python.tools.quantize.quantizer import Quantizer

FAMILY = Family("quantize_aware")
_FILES = Path(__file__).parents[1] / "testdata" / "quantize_aware.zip"


def _extracted(folder: Path) -> tuple[Array, Array]:
    with zipfile.ZipFile(_FILES) as files:
        files.extractall(folder)
    return np.load(folder / "x.npy"), np.load(folder / "y.npy")


def _imported(path: Path, x: Array, output: str = "quant_dense") -> Graph:
    inputs = (InputSpec("input_1", x.shape),)
    return import_model(ImportRequest("m", path, inputs, (OutputSpec(output),)))


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
def test_results_are_those_of_its_own_package(tmp_path: Path, name: str) -> None:
    x, expected = _extracted(tmp_path)
    graph = _imported(tmp_path / name, x, "quant_dense/Softmax:0")
    (found,) = run_graph(graph, {"input_1": x}).values()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    FAMILY.note("QuantizeLayer", "QuantizeWrapperV2")


def test_the_first_wrapper_is_read_like_the_second(tmp_path: Path) -> None:
    x, expected = _extracted(tmp_path)
    path = tmp_path / "model.h5"
    data = path.read_bytes()
    # Of one length, so that nothing moves in the file.
    path.write_bytes(data.replace(b'"QuantizeWrapperV2"', b'"QuantizeWrapper"  '))
    assert path.read_bytes() != data
    (found,) = run_graph(_imported(path, x), {"input_1": x}).values()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    FAMILY.note("QuantizeWrapper")


def test_the_model_computes_in_integers(tmp_path: Path) -> None:
    x, expected = _extracted(tmp_path)
    graph = _imported(tmp_path / "model.h5", x)
    quantizer = Quantizer("m", {}, "", QuantizeOptions(), input_ranges=[(-1.0, 1.0)])
    optimize(graph, quantize=quantizer)
    kinds = {"Conv2D", "DepthwiseConv2d", "Pooling", "FullyConnected", "Softmax"}
    inner = [op for op in graph.ops if op.type in kinds]
    assert {op.type for op in inner} == kinds and all(map(is_quantized, inner))
    (found,) = run_graph(graph, {"input_1": x}).values()
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_a_range_of_nothing_is_refused(tmp_path: Path) -> None:
    import h5py

    x, _ = _extracted(tmp_path)
    with h5py.File(tmp_path / "model.h5", "r+") as file:
        low = file["model_weights/quantize_layer/quantize_layer/quantize_layer_min:0"]
        low[...] = 9.0
    with pytest.raises(UnsupportedNodesError, match="the range of input is 9 to"):
        _imported(tmp_path / "model.h5", x)


def test_every_layer_is_compared() -> None:
    FAMILY.assert_all_tried()
