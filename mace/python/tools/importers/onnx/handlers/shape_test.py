# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Squeeze of shapes whose lengths a run decides, compared with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.base import ImportRequest, InputSpec, OutputSpec
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    make_model,
    normal,
    run_onnxruntime,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize


@pytest.mark.parametrize("opened", [(0,), (2,), (0, 2)])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_squeeze_without_axes(
    opened: tuple[int, ...], batch: int, tmp_path: Path
) -> None:
    """A length of 1 is removed in the run that has it."""
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
    assert len(graph.outputs[0].shape or ()) == 3
    (wanted,) = run_onnxruntime(model, inputs)
    np.testing.assert_array_equal(run_graph(graph, inputs)["y"], wanted)
