# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Forms of operators that torch.export does not write, compared with NumPy; and
attention whose masks leave no key to a query: PyTorch's result is 0 there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.pytorch.testing import (
    Spec,
    import_spec,
    node,
    normal,
    run_spec,
    tensor,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Target
from mace.python.tools.passes.manager import optimize

_KEPT = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)


def _attention(mask: Array, constant: bool = False) -> Spec:
    q, k, v = normal(2, 3, 3, 4), normal(2, 3, 4, 4), normal(2, 3, 4, 5)
    inputs = {"q": q, "k": k, "v": v}
    if not constant:
        inputs["m"] = mask
    attend = node(
        "aten.scaled_dot_product_attention.default",
        ["y"],
        query=tensor("q"),
        key=tensor("k"),
        value=tensor("v"),
        attn_mask=tensor("p_m" if constant else "m"),
    )
    weights = {"m": mask} if constant else {}
    return Spec(inputs, [attend], ["y"], weights)


def _expected(spec: Spec, kept: Array) -> Array:
    q, k, v = (spec.inputs[name].astype(np.float64) for name in "qkv")
    powers = np.exp(q @ k.swapaxes(-1, -2) / 2) * kept
    total = powers.sum(-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, 1, total) @ v)


def _mask(kind: str) -> Array:
    if kind == "bool":
        return _KEPT
    return np.where(_KEPT, 0, -np.inf).astype(np.float32)


@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 1, 3, 4), (2, 3, 3, 4)])
def test_a_query_without_keys_gets_zeros(
    kind: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    spec = _attention(np.ascontiguousarray(np.broadcast_to(_mask(kind), shape)))
    (found,) = run_spec(spec, tmp_path)
    assert not found[:, :, 1].any()
    np.testing.assert_allclose(found, _expected(spec, _KEPT), 1e-5, 1e-6)


@pytest.mark.parametrize(
    ("kind", "constant"), [("bool", False), ("float", False), ("float", True)]
)
def test_it_is_one_operator_on_the_cpu(
    kind: str, constant: bool, tmp_path: Path
) -> None:
    wide = np.ascontiguousarray(np.broadcast_to(_mask(kind), (2, 1, 3, 4)))
    spec = _attention(wide, constant)
    graph = import_spec(spec, tmp_path)
    graph.target = Target(("CPU",))
    optimize(graph)
    types = {op.type for op in graph.ops}
    assert "Attention" in types
    assert not types & {"Softmax", "Reduce", "MatMul"}
    found = run_graph(graph, dict(spec.inputs))["y"]
    np.testing.assert_allclose(found, _expected(spec, _KEPT), 1e-5, 1e-6)


@pytest.mark.parametrize("safe", [False, True])
def test_a_softmax_of_nothing(safe: bool, tmp_path: Path) -> None:
    x = _mask("float")
    target = "aten._safe_softmax.default" if safe else "aten.softmax.int"
    arguments: dict[str, Any] = {"self": tensor("x"), "dim": {"as_int": -1}}
    spec = Spec({"x": x}, [node(target, ["y"], **arguments)], ["y"])
    (found,) = run_spec(spec, tmp_path)
    np.testing.assert_allclose(found[0], [0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(found[1], [0 if safe else np.nan] * 4)


def test_split_by_a_list(tmp_path: Path) -> None:
    """The overload aten.split.sizes has it where others have one number."""
    x = normal(2, 6)
    parts = node(
        "aten.split.sizes",
        ["a", "b"],
        self=tensor("x"),
        split_size={"as_ints": [2, 4]},
        dim={"as_int": 1},
    )
    graph = import_spec(Spec({"x": x}, [parts], ["a", "b"]), tmp_path)
    found = run_graph(graph, {"x": x})
    np.testing.assert_array_equal(found["a"], x[:, :2])
    np.testing.assert_array_equal(found["b"], x[:, 2:])
