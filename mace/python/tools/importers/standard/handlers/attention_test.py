# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention as one operator. ONNX's cases (test/conformance/onnx) have every form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.reference
import pytest

from mace.python.tools.importers.frame.request import ImportRequest
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    make_model,
    normal,
    request_for,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph, Target
from mace.python.tools.passes.expand_composites import ExpandComposites
from mace.python.tools.passes.manager import optimize

_CPU = Target(("CPU",))
_OPERANDS = ["q", "k", "v"]
_OF_ONNXRUNTIME = "com.microsoft.MultiHeadAttention"


def _import(
    tmp_path: Path,
    inputs: Mapping[str, Array],
    target: Target,
    is_open: bool = False,
    **attributes: Any,
) -> Graph:
    node = onnx.helper.make_node("Attention", list(inputs), ["y"], **attributes)
    path = tmp_path / "model.onnx"
    model = make_model([node], inputs, ["y"], opset=24)
    request = request_for(path, inputs, ["y"])
    if is_open:
        for info in model.graph.input:
            # Batch and tokens.
            rank = len(info.type.tensor_type.shape.dim)
            names = {0: "b", rank - 2: "m" if info.name == "q" else "n"}
            for axis, name in names.items():
                info.type.tensor_type.shape.dim[axis].dim_param = name
        open_inputs = tuple(replace(spec, shape=()) for spec in request.inputs)
        request = replace(request, inputs=open_inputs)
    path.write_bytes(model.SerializeToString())
    graph = import_model(request)
    graph.target = target
    ExpandComposites().run(graph)
    graph.sort()
    return graph


def _inputs(*shape: int, keys: tuple[int, ...] = ()) -> dict[str, Array]:
    shapes = {"q": shape, "k": keys or shape, "v": keys or shape}
    return {n: normal(*shapes[n], seed=i) for i, n in enumerate(_OPERANDS)}


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(
    ("shape", "keys", "mask", "attributes"),
    [
        ((2, 3, 5, 8), (), None, {}),
        ((2, 3, 5, 8), (), (5, 5), {"scale": 0.5}),
        ((2, 5, 24), (), (2, 1, 5, 5), {"q_num_heads": 3, "kv_num_heads": 3}),
        ((2, 5, 24), (), None, {"q_num_heads": 3, "kv_num_heads": 3, "is_causal": 1}),
        # Heads that share keys.
        ((2, 6, 5, 8), (2, 2, 7, 8), None, {}),
        ((2, 6, 5, 8), (2, 2, 7, 8), None, {"is_causal": 1}),
        ((2, 6, 5, 8), (2, 2, 5, 8), (5, 5), {"is_causal": 1}),
        ((2, 5, 24), (2, 7, 8), None, {"q_num_heads": 6, "kv_num_heads": 2}),
    ],
)
def test_one_operator_is_what_the_specification_says(
    shape: tuple[int, ...],
    keys: tuple[int, ...],
    mask: tuple[int, ...] | None,
    attributes: dict[str, Any],
    is_open: bool,
    tmp_path: Path,
) -> None:
    inputs = _inputs(*shape, keys=keys)
    if mask is not None:
        if is_open:
            return  # a mask has a column for each key
        inputs["m"] = normal(*mask)
        # A query without keys: its results are zeros.
        inputs["m"][..., 1, :] = -np.inf
    one, many = (
        _import(tmp_path, inputs, target, is_open, **attributes)
        for target in (_CPU, Target())
    )
    assert "Attention" in [op.type for op in one.ops]
    assert "Softmax" not in [op.type for op in one.ops]
    assert "Attention" not in [op.type for op in many.ops]
    found, wanted = (run_graph(graph, inputs)["y"] for graph in (one, many))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    spec = make_model(
        [onnx.helper.make_node("Attention", list(inputs), ["y"], **attributes)],
        inputs,
        ["y"],
        opset=24,
    )
    (truth,) = onnx.reference.ReferenceEvaluator(spec).run(None, dict(inputs))
    if mask is not None:
        truth = np.nan_to_num(truth)  # as ONNX defines it, such a row is zero
    np.testing.assert_allclose(wanted, truth, rtol=1e-4, atol=1e-5)


def test_forms_that_it_lacks_become_simpler_operators(tmp_path: Path) -> None:
    inputs = _inputs(1, 2, 4, 8)
    wanted, found = (
        run_graph(_import(tmp_path, inputs, target, softcap=2.0), inputs)["y"]
        for target in (Target(), _CPU)
    )
    np.testing.assert_array_equal(found, wanted)
    graph = _import(tmp_path, inputs, _CPU, softcap=2.0)
    assert "Attention" not in [op.type for op in graph.ops]


@pytest.mark.parametrize("target", [Target(), Target(("CPU",))])
@pytest.mark.parametrize("inputs", ["", "bias", "mask", "bias mask past"])
def test_attention_of_onnxruntime(inputs: str, target: Target, tmp_path: Path) -> None:
    keys = 9 if "past" in inputs else 6
    # ONNX Runtime wants one size for all heads with a past.
    size = 8 if "past" in inputs else 4
    feeds = {"q": normal(2, 5, 24), "k": normal(2, 6, 24), "v": normal(2, 6, 3 * size)}
    extra = {
        "bias": normal(48 + 3 * size),
        "": None,
        "mask": normal(1, 3, 5, keys),
        "past_key": normal(2, 3, 3, 8),
        "past_value": normal(2, 3, 3, size),
    }
    names = ["bias", "", "mask", "past_key", "past_value"]
    used = [name if name and name.split("_")[0] in inputs else "" for name in names]
    feeds.update({n: a for n in used if n and (a := extra[n]) is not None})
    outputs = ["y", "present_key", "present_value"] if "past" in inputs else ["y"]
    domain, _, kind = _OF_ONNXRUNTIME.rpartition(".")
    node = onnx.helper.make_node(
        kind, ["q", "k", "v", *used], outputs, num_heads=3,
        domain=domain,
    )  # fmt: skip
    model = make_model([node], feeds, outputs)
    model.opset_import.append(onnx.helper.make_opsetid(domain, 1))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    request = request_for(path, feeds, outputs)
    graph = import_model(ImportRequest("m", path, request.inputs, request.outputs))
    graph.target = target
    optimize(graph)
    assert ("Attention" in [op.type for op in graph.ops]) == bool(target.devices)
    results = run_graph(graph, feeds)
    assert_same([results[name] for name in outputs], run_onnxruntime(model, feeds))
