# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of lengths that remain open, compared with Python's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.request import ImportRequest, InputSpec
from mace.python.tools.importers.pytorch.importer import import_model
from mace.python.tools.importers.pytorch.testing import (
    Json,
    Spec,
    import_spec,
    node,
    normal,
    program_json,
    request,
    tensor,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat

_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "truediv": operator.truediv,
}


def _number(value: str | float) -> Json:
    if isinstance(value, str):
        return {"as_sym_int": {"as_name": value}}
    return {"as_int" if isinstance(value, int) else "as_float": value}


def _spec(function: str, shift: int, divisor: float) -> Spec:
    """x * ((length + shift) function divisor)."""
    sizes = [
        node("aten.sym_size.int", ["n"], self=tensor("x"), dim={"as_int": 0}),
        node("_operator.add", ["m"], a=_number("n"), b=_number(shift)),
        node(f"_operator.{function}", ["q"], a=_number("m"), b=_number(divisor)),
    ]
    for entry in sizes:
        entry["outputs"] = [{"as_sym_int": {"as_name": entry["name"]}}]
    times = node(
        "aten.mul.Tensor",
        ["y"],
        self=tensor("x"),
        other={"as_sym_float": {"as_name": "q"}},
    )
    spec = Spec({"x": normal(5, 3)}, [*sizes, times], ["y"])
    program = program_json(spec)
    values = program["graph_module"]["graph"]["tensor_values"]
    values["x"]["sizes"][0] = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 5}}}
    spec.more = program
    return spec


@pytest.mark.parametrize("shift", [0, -9, -13])
@pytest.mark.parametrize("divisor", [4, -4, 2.5, -1.5])
@pytest.mark.parametrize("function", sorted(_FUNCTIONS))
def test_open_lengths_are_divided_as_in_python(
    function: str, divisor: float, shift: int, tmp_path: Path
) -> None:
    spec = _spec(function, shift, divisor)
    import_spec(spec, tmp_path)
    asked = request(tmp_path / "net.pt2", spec.inputs, ["y"])
    open_input = (InputSpec("x", (-1, 3), data_format=DataFormat.NONE),)
    graph = import_model(
        ImportRequest("m", asked.model_path, open_input, asked.outputs)
    )
    for length in (4, 5, 6, 7, 8, 11):
        x = normal(length, 3)
        wanted = x * _FUNCTIONS[function](length + shift, divisor)
        found = run_graph(graph, {"x": x})["y"]
        np.testing.assert_allclose(found, wanted, 1e-6, 1e-6)
