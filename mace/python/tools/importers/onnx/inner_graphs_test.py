# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that a model defines, and how many nodes they may become."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir.graph import DataFormat, Graph

_SETS = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]


def _function(name: str, *called: str) -> onnx.FunctionProto:
    """One function calls others, one after another; Neg is an operator."""
    places = ["a", *(f"q{index}" for index in range(len(called) - 1)), "b"]
    nodes = [
        helper.make_node(
            other, [source], [target], domain="" if other == "Neg" else "f"
        )
        for other, source, target in zip(called, places, places[1:])
    ]
    return helper.make_function("f", name, ["a"], ["b"], nodes, _SETS)


def _imported(
    folder: Path, functions: list[onnx.FunctionProto], calls: int = 1
) -> Graph:
    places = ["x", *(f"t{index}" for index in range(calls - 1)), "y"]
    nodes = [
        helper.make_node(functions[-1].name, [source], [target], domain="f")
        for source, target in zip(places, places[1:])
    ]
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"
    ]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=_SETS, functions=functions)
    model.ir_version = 9
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    inputs = (InputSpec("x", (1, 4), data_format=DataFormat.NONE),)
    outputs = (OutputSpec("y", DataFormat.NONE),)
    return import_model(ImportRequest("m", path, inputs, outputs))


def _doubling(levels: int) -> list[onnx.FunctionProto]:
    return [
        _function("A0", "Neg"),
        *(_function(f"A{n}", f"A{n - 1}", f"A{n - 1}") for n in range(1, levels)),
    ]


def test_calls_of_calls(tmp_path: Path) -> None:
    graph = _imported(tmp_path, _doubling(4), calls=3)
    assert len(graph.ops) == 3 * 8
    assert np.all([op.type == graph.ops[0].type for op in graph.ops])


@pytest.mark.parametrize("levels", [20, 40, 300])
def test_functions_that_double_are_refused_at_once(levels: int, tmp_path: Path) -> None:
    begin = time.process_time()
    with pytest.raises(ImportModelError, match="cannot be put in place: they would"):
        _imported(tmp_path, _doubling(levels))
    # Making the nodes of 20 levels takes minutes.
    assert time.process_time() - begin < 10


@pytest.mark.parametrize(
    "functions",
    [
        [_function("A", "A")],
        [_function("A", "B"), _function("B", "A")],
    ],
)
def test_functions_that_call_themselves(
    functions: list[onnx.FunctionProto], tmp_path: Path
) -> None:
    with pytest.raises(ImportModelError, match="cannot be put in place"):
        _imported(tmp_path, functions)
