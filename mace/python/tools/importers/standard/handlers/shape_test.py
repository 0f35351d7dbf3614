# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes and ranges compared with onnxruntime."""

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
    compare,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize


@pytest.mark.parametrize("is_constant", [False, True], ids=["computed", "constant"])
def test_a_large_expansion_is_computed_in_the_run(
    is_constant: bool, tmp_path: Path
) -> None:
    """The file does not hold its elements."""
    nodes = [
        onnx.helper.make_node("Expand", ["c", "shape"], ["wide"]),
        onnx.helper.make_node("Slice", ["wide", "begin", "end"], ["part"]),
        onnx.helper.make_node("Add", ["part", "x"], ["y"]),
    ]
    small, x = normal(3, 1, 1), normal(3, 2, 2)
    constants = {
        "shape": np.array([3, 3000, 1500]),
        "begin": np.array([0, 2998, 700]),
        "end": np.array([3, 3000, 702]),
    }
    inputs = {"x": x}
    (constants if is_constant else inputs)["c"] = small
    model = make_model(nodes, inputs, ["y"], constants)
    compare(model, inputs, tmp_path)
    graph = import_proto(model, inputs, ["y"], tmp_path)
    assert all(v.constant.size < 10000 for v in graph.values.values() if v.constant)


@pytest.mark.parametrize("opened", [(0,), (2,), (0, 2)])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_squeeze_without_axes(
    opened: tuple[int, ...], batch: int, tmp_path: Path
) -> None:
    """Open dimensions stay, also in a run where they are 1."""
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["r"]),
        onnx.helper.make_node("Squeeze", ["r"], ["s"]),
        onnx.helper.make_node("Mul", ["s", "s"], ["y"]),
    ]
    shape = (batch if 0 in opened else 2, 1, batch if 2 in opened else 3, 4)
    inputs = {"x": normal(*shape)}
    model = make_model(nodes, inputs, ["y"])
    declared = model.graph.input[0].type.tensor_type.shape.dim
    for axis in opened:
        declared[axis].dim_param = f"n{axis}"
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    asked = tuple(-1 if axis in opened else dim for axis, dim in enumerate(shape))
    graph = import_model(
        ImportRequest(
            "m",
            path,
            (InputSpec("x", asked, data_format=DataFormat.NONE),),
            (OutputSpec("y", DataFormat.NONE),),
        )
    )
    optimize(graph)
    kept = tuple(dim for axis, dim in enumerate(shape) if axis != 1)
    found = run_graph(graph, inputs)["y"]
    assert found.shape == kept
    (wanted,) = run_onnxruntime(model, inputs)
    np.testing.assert_array_equal(found, wanted.reshape(kept))


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
    compare(model, inputs, tmp_path)


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
