# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of the domain com.microsoft, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_node,
    compare,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)


@pytest.mark.parametrize(
    "kind", ["com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.QuickGelu"]
)
def test_gelu(kind: str, tmp_path: Path) -> None:
    check_node(tmp_path, kind, {"x": 3 * normal(2, 5, 8)})


@pytest.mark.parametrize("kind", ["com.microsoft.BiasGelu", "com.microsoft.FastGelu"])
def test_gelu_of_a_sum(kind: str, tmp_path: Path) -> None:
    check_node(tmp_path, kind, {"x": 3 * normal(2, 5, 8)}, {"b": normal(8)})


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_skip_layer_normalization(epsilon: float | None, tmp_path: Path) -> None:
    inputs = {"x": normal(2, 5, 8), "skip": normal(2, 5, 8, seed=2)}
    constants = {
        "gamma": normal(8),
        "beta": normal(8, seed=3),
        "bias": normal(8, seed=4),
    }
    more: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon}
    kind = "com.microsoft.SkipLayerNormalization"
    check_node(tmp_path, kind, inputs, constants, ["y", "", "", "sum"], **more)
    check_node(tmp_path, kind, inputs, {"gamma": normal(8)}, ["y"], **more)


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_skip_simplified_layer_normalization(
    epsilon: float | None, tmp_path: Path
) -> None:
    inputs = {"x": normal(2, 5, 8), "skip": normal(2, 5, 8, seed=2)}
    constants = {"gamma": normal(8), "bias": normal(8, seed=4)}
    more: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon}
    kind = "com.microsoft.SkipSimplifiedLayerNormalization"
    check_node(tmp_path, kind, inputs, constants, ["y", "", "", "sum"], **more)


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_simplified_layer_normalization(epsilon: float | None, tmp_path: Path) -> None:
    more: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon}
    check_node(
        tmp_path,
        "SimplifiedLayerNormalization",
        {"x": normal(2, 5, 8)},
        {"gamma": normal(8)},
        **more,
    )


@pytest.mark.parametrize("kinds", [True, False])
@pytest.mark.parametrize("places", [True, False])
def test_the_first_layer_of_bert(kinds: bool, places: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    whole = {
        "words": rng.integers(0, 20, (2, 5)).astype(np.int32),
        "kinds": rng.integers(0, 2, (2, 5)).astype(np.int32),
        "mask": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32),
        "places": np.array([[1, 2, 3, 4, 5], [0, 1, 2, 3, 4]], np.int32),
    }
    names = ["words", "kinds", "w", "p", "k", "gamma", "beta", "mask", "places"]
    for index, given in ((1, kinds), (4, kinds), (8, places)):
        names[index] = names[index] if given else ""
    constants = {
        "w": normal(20, 8),
        "p": normal(9, 8),
        "k": normal(2, 8),
        "gamma": normal(8, seed=2),
        "beta": normal(8, seed=3),
    }
    check_node(
        tmp_path,
        "com.microsoft.EmbedLayerNormalization",
        {name: array for name, array in whole.items() if name in names},
        {name: array for name, array in constants.items() if name in names},
        ["y", "number", "sum"],
        names,
    )


@pytest.mark.parametrize(
    "attributes", [{}, {"alpha": 0.5, "transB": 1}, {"transA": 1, "transB": 1}]
)
def test_fused_matmul(attributes: dict[str, Any], tmp_path: Path) -> None:
    a, b = normal(2, 5, 4), normal(2, 4, 6)
    a = a.transpose(0, 2, 1).copy() if attributes.get("transA") else a
    b = b.transpose(0, 2, 1).copy() if attributes.get("transB") else b
    check_node(tmp_path, "com.microsoft.FusedMatMul", {"a": a, "b": b}, **attributes)


def test_transpose_matmul(tmp_path: Path) -> None:
    inputs = {"a": normal(2, 4, 5), "b": normal(2, 4, 6)}
    check_node(tmp_path, "com.microsoft.TransposeMatMul", inputs, transA=1, alpha=0.5)


@pytest.mark.parametrize("turned", [False, True])
def test_fused_matmul_of_batches_behind(turned: bool, tmp_path: Path) -> None:
    """The axes of the batch come second; those of the matrices may be turned."""
    a = normal(5, 3, 2, 4) if not turned else normal(4, 3, 2, 5)
    b = normal(4, 3, 2, 6)
    attributes: dict[str, Any] = {"transBatchA": 1, "transBatchB": 1}
    attributes["transA"] = int(turned)
    check_node(tmp_path, "com.microsoft.FusedMatMul", {"a": a, "b": b}, **attributes)


def test_what_the_optimizer_makes_of_an_encoder(tmp_path: Path) -> None:
    """All of ONNX Runtime's fusions for its CPU, in one network."""
    ort = pytest.importorskip("onnxruntime")
    nodes = []

    def add(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        nodes.append(onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    skip = add("Add", ["x", add("MatMul", ["x", "w"], "m")], "s")
    norm = add("LayerNormalization", [skip, "g", "b"], "n", axis=-1)
    wide = add("Add", [add("MatMul", [norm, "w2"], "m2"), "b2"], "a2")
    erf = add("Erf", [add("Div", [wide, "root"], "d")], "e")
    half = add("Mul", [wide, add("Add", [erf, "one"], "e1")], "h")
    gelu = add("Mul", [half, "half"], "gelu")
    back = add("Add", [add("MatMul", [gelu, "w3"], "m3"), "b3"], "a3")
    last = add("Add", [norm, back], "s2")
    add("LayerNormalization", [last, "g", "b"], "y", axis=-1)
    constants = {
        "w": normal(8, 8) / 3,
        "g": normal(8),
        "b": normal(8, seed=2),
        "w2": normal(8, 16) / 3,
        "b2": normal(16),
        "w3": normal(16, 8) / 4,
        "b3": normal(8, seed=3),
        "root": np.float32(2**0.5),
        "one": np.float32(1),
        "half": np.float32(0.5),
    }
    inputs = {"x": normal(2, 5, 8)}
    model = make_model(nodes, inputs, ["y"], constants, opset=17)
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    ort.InferenceSession(model.SerializeToString(), options)
    optimized = onnx.load(str(tmp_path / "optimized.onnx"))
    kinds = {node.op_type for node in optimized.graph.node}
    assert "SkipLayerNormalization" in kinds
    assert kinds & {"BiasGelu", "Gelu"}
    found = run_mace(optimized, inputs, tmp_path)
    assert_same(found, run_onnxruntime(model, inputs), 1e-4)


def test_left_out_outputs_are_read_by_nobody(tmp_path: Path) -> None:
    # An input that is left out has the same name as an output that is.
    nodes = [
        onnx.helper.make_node(
            "SkipSimplifiedLayerNormalization",
            ["x", "skip", "gamma"],
            ["normed", "", "", "sum"],
            domain="com.microsoft",
        ),
        onnx.helper.make_node("Clip", ["normed", "", "top"], ["y"]),
    ]
    inputs = {"x": normal(2, 5, 8), "skip": normal(2, 5, 8, seed=2)}
    constants = {"gamma": normal(8), "top": np.array(0.5, np.float32)}
    model = make_model(nodes, inputs, ["y", "sum"], constants, opset=17)
    compare(model, inputs, tmp_path, 1e-4)
