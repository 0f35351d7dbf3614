# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers of which the run knows some, compared with Python's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.request import ImportRequest, InputSpec
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.pytorch import import_model
from mace.python.tools.importers.pytorch.testing import (
    Json,
    Spec,
    import_spec,
    node,
    normal,
    program_json,
    tensor,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph

# "m" is an integer, "r" is m * 0.35 and "b" whether m > 4.
_Operand = Union[str, float]
_CASES: list[tuple[str, Callable[..., Any], Sequence[_Operand]]] = [
    *(
        (f"_operator.{function.__name__}", function, ["m", divisor])
        for function in (operator.floordiv, operator.mod, operator.truediv)
        for divisor in (4, -4, 2.5, -1.5)
    ),
    ("_operator.floordiv", operator.floordiv, ["r", 2]),
    ("_operator.mod", operator.mod, ["r", 2]),
    ("_operator.add", operator.add, ["m", "m"]),
    ("_operator.add", operator.add, ["r", "m"]),
    ("_operator.sub", operator.sub, [3, "m"]),
    ("_operator.sub", operator.sub, ["m", 0.1]),
    ("_operator.mul", operator.mul, ["m", "r"]),
    ("_operator.pow", operator.pow, ["m", 2]),
    ("_operator.pow", operator.pow, ["m", 0]),
    ("_operator.pow", operator.pow, ["r", 3]),
    ("_operator.pow", lambda a, b: a**b, ["r", "m"]),
    ("_operator.neg", operator.neg, ["m"]),
    ("_operator.neg", operator.neg, ["r"]),
    ("_operator.pos", operator.pos, ["m"]),
    ("_operator.pos", operator.pos, ["r"]),
    ("_operator.lshift", operator.lshift, ["m", 3]),
    ("_operator.rshift", operator.rshift, ["m", 1]),
    *(
        (f"_operator.{name}", getattr(operator, name), [left, right])
        for name in ("eq", "ge", "gt", "le", "lt", "ne")
        for left, right in (("m", 5), ("r", "m"), (2.1, "r"))
    ),
    ("_operator.and_", operator.and_, ["b", True]),
    ("_operator.or_", operator.or_, ["b", False]),
    ("torch.sym_not", operator.not_, ["b"]),
    ("torch.sym_ite", lambda a, b, c: b if a else c, ["b", "m", 7]),
    ("torch.sym_ite", lambda a, b, c: b if a else c, ["b", "r", "m"]),
    ("torch.sym_max", max, ["m", 5]),
    ("torch.sym_max", max, ["r", 2]),
    ("torch.sym_min", min, ["m", "r"]),
    ("torch.sym_float", float, ["m"]),
    ("torch.sym_int", int, ["m"]),
    ("torch.sym_int", int, ["r"]),
    ("math.trunc", math.trunc, ["r"]),
    ("math.trunc", math.trunc, ["m"]),
]
_KINDS = {"b": "as_sym_bool", "m": "as_sym_int", "n": "as_sym_int"}


def _number(value: _Operand) -> Json:
    if isinstance(value, str):
        return {_KINDS.get(value, "as_sym_float"): {"as_name": value}}
    if isinstance(value, bool):
        return {"as_bool": value}
    return {"as_int" if isinstance(value, int) else "as_float": value}


def _computed(name: str, target: str, operands: Sequence[_Operand]) -> Json:
    arguments = {f"a{i}": _number(v) for i, v in enumerate(operands)}
    entry = node(target, [name], **arguments)
    entry["outputs"] = [{_KINDS.get(name, "as_sym_float"): {"as_name": name}}]
    return entry


def _spec(target: str, operands: Sequence[_Operand], shift: int) -> Spec:
    """x * function(operands)."""
    size = node("aten.sym_size.int", ["n"], self=tensor("x"), dim={"as_int": 0})
    size["outputs"] = [_number("n")]
    nodes = [size, _computed("m", "_operator.add", ["n", shift])]
    nodes.append(_computed("r", "_operator.mul", ["m", 0.35]))
    nodes.append(_computed("b", "_operator.gt", ["m", 4]))
    nodes.append(_computed("q", target, operands))
    other = _number("q")
    nodes.append(node("aten.mul.Tensor", ["y"], self=tensor("x"), other=other))
    spec = Spec({"x": normal(5, 3)}, nodes, ["y"])
    program = program_json(spec)
    values = program["graph_module"]["graph"]["tensor_values"]
    values["x"]["sizes"][0] = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 5}}}
    spec.more = program
    return spec


def _imported(spec: Spec, folder: Path) -> Graph:
    import_spec(spec, folder)
    asked = request_for(folder / "net.pt2", spec.inputs, ["y"])
    open_input = (InputSpec("x", (-1, 3), data_format=DataFormat.NONE),)
    return import_model(ImportRequest("m", asked.model_path, open_input, asked.outputs))


def _check(graph: Graph, length: int, wanted: float) -> None:
    x = normal(length, 3)
    found = run_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(found, x * wanted, 1e-6, 1e-6)


@pytest.mark.parametrize("shift", [0, -9, -13])
@pytest.mark.parametrize(("target", "function", "operands"), _CASES)
def test_as_python(
    target: str,
    function: Callable[..., Any],
    operands: Sequence[_Operand],
    shift: int,
    tmp_path: Path,
) -> None:
    graph = _imported(_spec(target, operands, shift), tmp_path)
    for length in (4, 5, 6, 7, 8, 11):
        m = length + shift
        known = {"m": m, "r": m * 0.35, "b": m > 4}
        if target == "_operator.pow" and operands == ["r", "m"] and m < 0:
            continue  # of negative numbers, powers are complex
        values = [known[v] if isinstance(v, str) else v for v in operands]
        _check(graph, length, function(*values))


def test_double_precision(tmp_path: Path) -> None:
    graph = _imported(_spec("math.trunc", ["r"], 0), tmp_path)
    for length in (180, 360, 720):
        # Floats give another number.
        assert int(np.float32(length) * np.float32(0.35)) != int(length * 0.35)
        _check(graph, length, int(length * 0.35))


def test_a_power_of_a_length_is_known_to_be_one(tmp_path: Path) -> None:
    graph = _imported(_spec("_operator.pow", ["m", 2], 0), tmp_path)
    assert "SizeExpression" not in {op.type for op in graph.ops}


@pytest.mark.parametrize(
    ("target", "operands", "reason"),
    [
        ("_operator.and_", ["m", 3], "bits of integers"),
        ("_operator.truediv", [3, 0], "of these numbers: division by zero"),
        ("_operator.add", ["m", math.inf], "computes with inf"),
    ],
)
def test_refused(
    target: str, operands: Sequence[_Operand], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedNodesError, match=reason):
        _imported(_spec(target, operands, 0), tmp_path)
