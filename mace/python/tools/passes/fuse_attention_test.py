# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of `fuse_attention`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Target
from mace.python.tools.passes.testing import Build, rewrite, types

_TURN = {"perm": [0, 2, 1, 3]}


def _inputs(builder: GraphBuilder, shapes: Sequence[Sequence[int]]) -> list[Value]:
    names = "qkvm"
    return [
        builder.input(name, DataType.FLOAT32, tuple(shape))
        for name, shape in zip(names, shapes)
    ]


def _attention(
    builder: GraphBuilder,
    operands: Sequence[Value],
    mask: Value | None = None,
    scale: tuple[str, float] | None = ("MUL", 0.3),
    transposed: bool = True,
) -> Value:
    query, key, value = operands
    scores = builder.one("MatMul", [query, key], attrs={"transpose_b": transposed})
    if scale is not None:
        number = builder.constant("scale", np.array(scale[1], np.float32))
        scores = builder.one("Eltwise", [scores, number], attrs={"mode": scale[0]})
    if mask is not None:
        scores = builder.one("Eltwise", [scores, mask], attrs={"mode": "ADD"})
    weights = builder.one("Softmax", [scores], attrs={"axis": -1})
    return builder.one("MatMul", [weights, value])


_CPU = Target(("CPU",))


def _rewritten(build: Any, target: Target = _CPU) -> Graph:
    def with_flag(builder: GraphBuilder, rng: np.random.Generator) -> None:
        builder.graph.target = target
        build(builder)

    made: Build = with_flag
    return rewrite(made)


@pytest.mark.parametrize("scale", [None, ("MUL", 0.3), ("DIV", 8.0)])
@pytest.mark.parametrize("mask", [None, (2, 1, 1, 6), (1, 3, 5, 6)])
def test_products_and_a_softmax_become_one(
    mask: tuple[int, ...] | None, scale: tuple[str, float] | None
) -> None:
    def build(builder: GraphBuilder) -> None:
        shapes = [(2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)]
        inputs = _inputs(builder, shapes if mask is None else [*shapes, mask])
        given = inputs[3] if mask is not None else None
        builder.output(_attention(builder, inputs[:3], given, scale), "y")

    assert types(_rewritten(build)) == {"Attention": 1}


@pytest.mark.parametrize("key_perm", [(0, 2, 1, 3), (0, 2, 3, 1)])
def test_transposes_of_heads_become_part_of_it(key_perm: tuple[int, ...]) -> None:
    def build(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, [(2, 5, 3, 4), (2, 6, 3, 4), (2, 6, 3, 7)])
        perms = [(0, 2, 1, 3), key_perm, (0, 2, 1, 3)]
        turned = [
            builder.one("Transpose", [value], attrs={"perm": list(perm)})
            for value, perm in zip(inputs, perms)
        ]
        transposed = key_perm == (0, 2, 1, 3)
        result = _attention(builder, turned, transposed=transposed)
        builder.output(builder.one("Transpose", [result], attrs=_TURN), "y")

    graph = _rewritten(build)
    assert types(graph) == {"Attention": 1}
    assert graph.ops[0].attr("tokens_first")


def test_a_key_that_is_transposed_is_turned_back() -> None:
    def build(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, [(2, 3, 5, 4), (2, 3, 4, 6), (2, 3, 6, 7)])
        builder.output(_attention(builder, inputs, transposed=False), "y")

    assert types(_rewritten(build)) == {"Attention": 1, "Transpose": 1}


@pytest.mark.parametrize("transposed", [False, True])
def test_a_constant_key_is_turned_now(transposed: bool) -> None:
    def build(builder: GraphBuilder) -> None:
        query, value = _inputs(builder, [(2, 3, 5, 4), (2, 3, 6, 7)])
        shape = (2, 3, 6, 4) if transposed else (2, 3, 4, 6)
        numbers = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        key = builder.constant("key", numbers)
        result = _attention(builder, [query, key, value], transposed=transposed)
        builder.output(result, "y")

    assert types(_rewritten(build)) == {"Attention": 1}


@pytest.mark.parametrize(
    ("queries", "keys", "offset", "out", "expected"),
    [
        (6, 6, 0, -np.inf, "TOP_LEFT"),
        (4, 6, 2, np.finfo(np.float32).min, "BOTTOM_RIGHT"),
        (4, 6, 1, -np.inf, "NONE"),
        (6, 6, 0, -5.0, "NONE"),
    ],
)
@pytest.mark.parametrize("chosen", [False, True])
def test_a_constant_triangle_is_no_mask(
    queries: int, keys: int, offset: int, out: float, expected: str, chosen: bool
) -> None:
    taken = np.tri(queries, keys, offset, dtype=bool)

    def build(builder: GraphBuilder) -> None:
        shapes = [(2, 3, queries, 4), (2, 3, keys, 4), (2, 3, keys, 7)]
        query, key, value = _inputs(builder, shapes)
        scores = builder.one("MatMul", [query, key], attrs={"transpose_b": True})
        number = builder.constant("out", np.array(out, np.float32))
        if chosen:
            mask = builder.constant("mask", taken)
            scores = builder.one("Where", [mask, scores, number])
        else:
            numbers = np.where(taken, 0, out).astype(np.float32)
            mask = builder.constant("mask", numbers)
            scores = builder.one("Eltwise", [scores, mask], attrs={"mode": "ADD"})
        weights = builder.one("Softmax", [scores], attrs={"axis": -1})
        builder.output(builder.one("MatMul", [weights, value]), "y")

    graph = _rewritten(build)
    if chosen and expected == "NONE":
        assert "Attention" not in types(graph)
        return
    (op,) = (op for op in graph.ops if op.type == "Attention")
    assert op.attr("causal") == expected
    assert (len(op.inputs) == 4) == (expected == "NONE")


@pytest.mark.parametrize("causal", [False, True])
def test_a_query_without_keys_is_nan_as_a_softmax_of_nothing(causal: bool) -> None:
    """`rewrite` compares; a query that takes one key gets its value."""
    taken = np.tri(5, 6, dtype=bool) if causal else np.ones((5, 6), bool)
    taken[1], taken[3] = False, False
    taken[3, 2] = True
    shapes = [(2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)]

    def build(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, shapes)
        numbers = np.where(taken, 0, -np.inf).astype(np.float32)
        mask = builder.constant("mask", numbers)
        builder.output(_attention(builder, inputs, mask), "y")

    graph = _rewritten(build)
    assert types(graph) == {"Attention": 1}
    assert not graph.ops[0].attr("zero_without_keys")
    ones = {name: np.ones(shape, np.float32) for name, shape in zip("qkv", shapes)}
    found = run_graph(graph, ones)["y"]
    assert np.isnan(found[:, :, 1]).all()
    np.testing.assert_allclose(np.delete(found, 1, 2), 1, 1e-6)


def test_queries_and_keys_may_be_scaled() -> None:
    def build(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, [(2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)])
        root = builder.constant("root", np.array(0.4, np.float32))
        scaled = [
            builder.one("Eltwise", [value, root], attrs={"mode": "MUL"})
            for value in inputs[:2]
        ]
        result = _attention(builder, [*scaled, inputs[2]], scale=None)
        builder.output(result, "y")

    graph = _rewritten(build)
    assert types(graph) == {"Attention": 1}
    assert graph.ops[0].attr("scale") == pytest.approx(0.16)


def test_what_is_not_attention_remains() -> None:
    shapes = [(2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)]

    def scores_are_read(builder: GraphBuilder) -> None:
        query, key, value = _inputs(builder, shapes)
        scores = builder.one("MatMul", [query, key], attrs={"transpose_b": True})
        weights = builder.one("Softmax", [scores], attrs={"axis": -1})
        builder.output(weights, "w")
        builder.output(builder.one("MatMul", [weights, value]), "y")

    def the_product_is_read(builder: GraphBuilder) -> None:
        query, key, value = _inputs(builder, shapes)
        scores = builder.one("MatMul", [query, key], attrs={"transpose_b": True})
        number = builder.constant("scale", np.array(0.5, np.float32))
        scaled = builder.one("Eltwise", [scores, number], attrs={"mode": "MUL"})
        weights = builder.one("Softmax", [scaled], attrs={"axis": -1})
        builder.output(builder.one("MatMul", [weights, value]), "y")
        builder.output(scores, "s")

    def another_axis(builder: GraphBuilder) -> None:
        query, key, value = _inputs(builder, shapes)
        scores = builder.one("MatMul", [query, key], attrs={"transpose_b": True})
        weights = builder.one("Softmax", [scores], attrs={"axis": 2})
        builder.output(builder.one("MatMul", [weights, value]), "y")

    def heads_are_shared(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, [(2, 3, 5, 4), (1, 3, 6, 4), (2, 3, 6, 7)])
        builder.output(_attention(builder, inputs), "y")

    def a_mask_of_one_column(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, [*shapes, (2, 3, 5, 1)])
        builder.output(_attention(builder, inputs[:3], inputs[3]), "y")

    for build in (
        scores_are_read, the_product_is_read, another_axis,
        heads_are_shared, a_mask_of_one_column
    ):  # fmt: skip
        assert "Attention" not in types(_rewritten(build))


def test_only_for_the_cpu_in_float32() -> None:
    def build(builder: GraphBuilder) -> None:
        inputs = _inputs(builder, [(2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 7)])
        builder.output(_attention(builder, inputs), "y")

    assert "Attention" not in types(_rewritten(build, target=Target(("CPU", "GPU"))))
