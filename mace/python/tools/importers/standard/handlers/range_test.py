# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Range whose limit is a dimension, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

_NUMBERS = {"zero": np.array(0), "one": np.array(1), "axis": np.array([0])}


def _positions() -> list[onnx.NodeProto]:
    make = onnx.helper.make_node
    return [
        make("Shape", ["x"], ["shape"], start=1, end=2),
        make("Squeeze", ["shape", "axis"], ["length"]),
        make("Range", ["zero", "length", "one"], ["r"]),
        make("Cast", ["r"], ["f"], to=1),
        make("Add", ["x", "f"], ["y"]),
    ]


def test_the_positions_of_a_sequence(tmp_path: Path) -> None:
    inputs = {"x": normal(2, 7)}
    model = make_model(_positions(), inputs, ["y"], _NUMBERS)
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


def test_a_length_that_the_run_decides(tmp_path: Path) -> None:
    model = make_model(_positions(), {"x": normal(2, 7)}, ["y"], _NUMBERS)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "length"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    spec = InputSpec("x", (2, -1), data_format=DataFormat.NONE)
    output = OutputSpec("y", DataFormat.NONE)
    graph = import_model(ImportRequest("model", path, (spec,), (output,)))
    optimize(graph)
    assert "Range" in [op.type for op in graph.ops]
    for length in (1, 7, 20):
        x = normal(2, length)
        (wanted,) = run_onnxruntime(model, {"x": x})
        np.testing.assert_allclose(run_graph(graph, {"x": x})["y"], wanted, 1e-6)


def test_a_limit_that_depends_on_elements(tmp_path: Path) -> None:
    inputs = {"n": np.array(3)}
    node = onnx.helper.make_node("Range", ["zero", "n", "one"], ["y"])
    model = make_model([node], inputs, ["y"], _NUMBERS)
    with pytest.raises(MaceError, match="limit .* depends on the elements of n"):
        run_mace(model, inputs, tmp_path)
