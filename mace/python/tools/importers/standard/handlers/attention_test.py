# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention of ONNX and of ONNX Runtime compared with both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.reference
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.request import ImportRequest
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    check_operator,
    make_model,
    normal,
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


def _lengths(*lengths: int) -> Array:
    return np.array(lengths, np.int32)


@pytest.mark.parametrize(
    "mask",
    [
        _lengths(5, 2),
        np.array([[1, 1, 1, 0, 1], [1, 1, 0, 0, 0]], np.int32),
        np.array(np.tri(5, 5)[None].repeat(2, 0), np.int32),
    ],
)
@pytest.mark.parametrize("filter_value", [None, -50.0])
def test_masks_of_keys(mask: Array, filter_value: float | None, tmp_path: Path) -> None:
    inputs = {n: normal(2, 5, 24, seed=i) for i, n in enumerate("qkv")}
    more: dict[str, Any] = (
        {} if filter_value is None else {"mask_filter_value": filter_value}
    )
    names = ["q", "k", "v", "", "mask"]
    feeds = {**inputs, "mask": mask}
    kind = "com.microsoft.MultiHeadAttention"
    check_operator(tmp_path, kind, feeds, names, num_heads=3, **more)


@pytest.mark.parametrize(
    ("mask", "attributes"),
    [
        (None, {}),
        (_lengths(5, 3), {}),
        (np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32), {"scale": 0.3}),
        (None, {"unidirectional": 1}),
    ],
)
def test_attention_of_one_product(
    mask: Array | None, attributes: dict[str, Any], tmp_path: Path
) -> None:
    feeds = {"x": normal(2, 5, 12)}
    constants = {"w": normal(12, 36) / 3, "b": normal(36)}
    names = ["x", "w", "b"]
    if mask is not None:
        feeds["mask"] = mask
        names.append("mask")
    check_operator(
        tmp_path,
        "com.microsoft.Attention",
        feeds,
        names,
        ["y"],
        constants,
        num_heads=3,
        **attributes,
    )


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_with_a_past(unidirectional: int, tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3, 12), "past": normal(2, 2, 3, 4, 4)}
    constants = {"w": normal(12, 36) / 3, "b": normal(36)}
    check_operator(
        tmp_path,
        "com.microsoft.Attention",
        feeds,
        ["x", "w", "b", "", "past"],
        ["y", "present"],
        constants,
        num_heads=3,
        unidirectional=unidirectional,
    )


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("shape", [(2, 5, 24), (2, 3, 5, 8)])
@pytest.mark.parametrize(
    "places", [np.array([2]), np.array([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]])]
)
def test_rotary_embedding(
    interleaved: int, shape: tuple[int, ...], places: Array, tmp_path: Path
) -> None:
    angles = np.arange(10)[:, None] * 0.3 ** np.arange(4)
    table = {"c": np.cos(angles).astype(np.float32), "s": np.sin(angles)}
    constants = {"c": table["c"], "s": table["s"].astype(np.float32), "p": places}
    check_operator(
        tmp_path,
        "com.microsoft.RotaryEmbedding",
        {"x": normal(*shape)},
        ["x", "p", "c", "s"],
        constants=constants,
        interleaved=interleaved,
    )


def test_rotary_embedding_of_a_part(tmp_path: Path) -> None:
    angles = np.arange(10)[:, None] * 0.3 ** np.arange(2)
    constants = {
        "c": np.cos(angles).astype(np.float32),
        "s": np.sin(angles).astype(np.float32),
        "p": np.array([1]),
    }
    check_operator(
        tmp_path,
        "com.microsoft.RotaryEmbedding",
        {"x": normal(2, 5, 24)},
        ["x", "p", "c", "s"],
        constants=constants,
        num_heads=3,
        rotary_embedding_dim=4,
    )


def _decoder(new: int, past: int) -> dict[str, Array]:
    return {
        "q": normal(1, new, 64, seed=1),
        "k": normal(1, new, 32, seed=2),
        "v": normal(1, new, 32, seed=3),
        "pk": normal(1, 2, past, 16, seed=4),
        "pv": normal(1, 2, past, 16, seed=5),
    }


@pytest.mark.parametrize(
    ("new", "past", "attributes"),
    [
        (1, 6, {}),
        (1, 6, {"scale": 0.2}),
        (1, 6, {"softcap": 2.0}),
        (1, 6, {"local_window_size": 3}),
        (4, 0, {"local_window_size": 2}),
        (4, 0, {}),
        (1, 6, {"do_rotary": 1}),
        (4, 0, {"do_rotary": 1}),
        (1, 6, {"do_rotary": 1, "rotary_interleaved": 1}),
    ],
)
def test_group_query_attention(
    new: int, past: int, attributes: dict[str, Any], tmp_path: Path
) -> None:
    feeds = _decoder(new, past)
    if past == 0:
        del feeds["pk"], feeds["pv"]
    angles = np.arange(10)[:, None] * 0.3 ** np.arange(8)
    constants = {
        "last": _lengths(past + new - 1),
        "total": np.array(past + new, np.int32),
        "c": np.cos(angles).astype(np.float32),
        "s": np.sin(angles).astype(np.float32),
    }
    kept = ["pk", "pv"] if past else ["", ""]
    names = ["q", "k", "v", *kept, "last", "total"]
    if attributes.get("do_rotary"):
        names += ["c", "s"]
    used = {name: array for name, array in constants.items() if name in names}
    check_operator(
        tmp_path,
        "com.microsoft.GroupQueryAttention",
        feeds,
        names,
        ["y", "present_key", "present_value"],
        used,
        num_heads=4,
        kv_num_heads=2,
        **attributes,
    )


def test_group_query_attention_of_one_packed_tensor(tmp_path: Path) -> None:
    constants = {"last": _lengths(3), "total": np.array(4, np.int32)}
    check_operator(
        tmp_path,
        "com.microsoft.GroupQueryAttention",
        {"x": normal(1, 4, 64)},
        ["x", "", "", "", "", "last", "total"],
        ["y", "present_key", "present_value"],
        constants,
        num_heads=4,
        kv_num_heads=2,
    )


def test_caches_of_constant_size_are_refused(tmp_path: Path) -> None:
    feeds = _decoder(1, 6)
    constants = {"last": _lengths(3), "total": np.array(4, np.int32)}
    names = ["q", "k", "v", "pk", "pv", "last", "total"]
    with pytest.raises(MaceError, match="total_sequence_length .* is not known to be"):
        check_operator(
            tmp_path,
            "com.microsoft.GroupQueryAttention",
            feeds,
            names,
            ["y", "present_key", "present_value"],
            constants,
            num_heads=4,
            kv_num_heads=2,
        )


def test_batches_of_sequences_that_differ_are_refused(tmp_path: Path) -> None:
    constants = {"last": _lengths(3, 2), "total": np.array(4, np.int32)}
    with pytest.raises(MaceError, match="a batch of 2, whose sequences may differ"):
        check_operator(
            tmp_path,
            "com.microsoft.GroupQueryAttention",
            {"x": normal(2, 4, 64)},
            ["x", "", "", "", "", "last", "total"],
            ["y"],
            constants,
            num_heads=4,
            kv_num_heads=2,
        )
