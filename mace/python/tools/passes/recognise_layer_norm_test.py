# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisations over the innermost dimension, as frameworks express them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.passes.testing import random, rewrite, types

_WIDTH = 12


def _eltwise(b: GraphBuilder, mode: str, *inputs: Value) -> Value:
    return b.one("Eltwise", inputs, None, {"mode": mode}, mode.lower())


def _reduce(b: GraphBuilder, x: Value, mode: str = "MEAN", axis: int = -1) -> Value:
    attrs = {"mode": mode, "axes": [axis], "keep_dims": True}
    return b.one("Reduce", [x], None, attrs, "reduce")


def _number(b: GraphBuilder, value: float) -> Value:
    return b.constant("k", np.float32(value))


def _plus_epsilon(b: GraphBuilder, variance: Value) -> Value:
    return _eltwise(b, "ADD", variance, _number(b, 1e-3))


def _centred(b: GraphBuilder, x: Value) -> Value:
    return _eltwise(b, "SUB", x, _reduce(b, x))


def _by_power_and_division(b: GraphBuilder, x: Value) -> Value:
    """The form in exports before operator set 17."""
    c = _centred(b, x)
    variance = _reduce(b, _eltwise(b, "POW", c, _number(b, 2)))
    return _eltwise(b, "DIV", c, _eltwise(b, "SQRT", _plus_epsilon(b, variance)))


def _by_rsqrt(b: GraphBuilder, x: Value) -> Value:
    c = _centred(b, x)
    variance = _reduce(b, _eltwise(b, "MUL", c, c))
    return _eltwise(b, "MUL", _eltwise(b, "RSQRT", _plus_epsilon(b, variance)), c)


def _by_sum_of_squares(b: GraphBuilder, x: Value) -> Value:
    """The form that MACE's importer produces."""
    c = _centred(b, x)
    total = _reduce(b, c, "SUM_SQUARE")
    variance = _eltwise(b, "DIV", total, _number(b, _WIDTH))
    return _eltwise(b, "MUL", c, _eltwise(b, "RSQRT", _plus_epsilon(b, variance)))


def _by_reciprocal(b: GraphBuilder, x: Value) -> Value:
    c = _centred(b, x)
    variance = _reduce(b, _eltwise(b, "SQR_DIFF", x, _reduce(b, x)))
    root = _eltwise(b, "SQRT", _plus_epsilon(b, variance))
    return _eltwise(b, "MUL", c, _eltwise(b, "RECIPROCAL", root))


def _rms(b: GraphBuilder, x: Value) -> Value:
    """The form in LLaMA and T5."""
    mean = _reduce(b, _eltwise(b, "POW", x, _number(b, 2)))
    root = _eltwise(b, "SQRT", _plus_epsilon(b, mean))
    return _eltwise(b, "MUL", x, _eltwise(b, "DIV", _number(b, 1), root))


_FORMS = [
    _by_power_and_division,
    _by_rsqrt,
    _by_sum_of_squares,
    _by_reciprocal,
    _rms,
]


def _rewrite(
    pattern: Callable[[GraphBuilder, Value], Value],
    finish: Callable[[GraphBuilder, Value, np.random.Generator], Value] | None = None,
) -> Graph:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = pattern(b, b.input("x", DataType.FLOAT32, (2, 5, _WIDTH)))
        b.output(finish(b, y, rng) if finish else y, "y")

    return rewrite(build)


@pytest.mark.parametrize("pattern", _FORMS)
def test_written_out_normalisation_is_recognised(pattern: Any) -> None:
    graph = _rewrite(pattern)
    assert types(graph) == {"LayerNorm": 1}
    assert graph.ops[0].attr("subtract_mean") == (pattern is not _rms)
    assert graph.ops[0].attr("epsilon") == pytest.approx(1e-3)


@pytest.mark.parametrize("pattern", _FORMS)
def test_scale_and_offset_become_inputs(pattern: Any) -> None:
    def finish(b: GraphBuilder, y: Value, rng: np.random.Generator) -> Value:
        y = _eltwise(b, "MUL", b.constant("s", random(rng, _WIDTH)), y)
        return _eltwise(b, "ADD", y, b.constant("o", random(rng, 1, 1, _WIDTH)))

    graph = _rewrite(pattern, finish)
    assert types(graph) == {"LayerNorm": 1}
    assert [value.shape for value in graph.ops[0].inputs if value] == [
        (2, 5, _WIDTH),
        (_WIDTH,),
        (_WIDTH,),
    ]


def test_scale_after_an_offset_stays() -> None:
    def finish(b: GraphBuilder, y: Value, rng: np.random.Generator) -> Value:
        y = _eltwise(b, "ADD", y, b.constant("o", random(rng, _WIDTH)))
        return _eltwise(b, "MUL", y, b.constant("s", random(rng, _WIDTH)))

    assert types(_rewrite(_by_rsqrt, finish))["LayerNorm"] == 1


@pytest.mark.parametrize("keras", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_form_of_tensorflow(scaled: bool, keras: bool) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 5, _WIDTH))
        mean = _reduce(b, x)
        variance = _reduce(b, _eltwise(b, "SQR_DIFF", x, mean))
        factor = _eltwise(b, "RSQRT", _plus_epsilon(b, variance))
        if scaled:
            factor = _eltwise(b, "MUL", factor, b.constant("s", random(rng, _WIDTH)))
        offset = b.constant("o", random(rng, _WIDTH))
        if keras:
            shift = _eltwise(b, "MUL", _eltwise(b, "NEG", mean), factor)
            rest = _eltwise(b, "ADD", shift, offset)
        else:
            rest = _eltwise(b, "SUB", offset, _eltwise(b, "MUL", mean, factor))
        b.output(_eltwise(b, "ADD", _eltwise(b, "MUL", x, factor), rest), "y")

    graph = rewrite(build)
    assert types(graph) == {"LayerNorm": 1}
    assert (graph.ops[0].get_input(1) is not None) == scaled


@pytest.mark.parametrize("mode", ["SUB", "ADD"])
def test_the_form_of_tensorflow_without_an_offset(mode: str) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, 5, _WIDTH))
        mean = _reduce(b, x)
        variance = _reduce(b, _eltwise(b, "SQR_DIFF", x, mean))
        factor = _eltwise(b, "RSQRT", _plus_epsilon(b, variance))
        shift = mean if mode == "SUB" else _eltwise(b, "NEG", mean)
        rest = _eltwise(b, "MUL", shift, factor)
        b.output(_eltwise(b, mode, _eltwise(b, "MUL", x, factor), rest), "y")

    assert types(rewrite(build)) == {"LayerNorm": 1}


def test_before_transposes_that_move_another_dimension_inside() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (2, _WIDTH, 5))
        turned = b.one("Transpose", [x], None, {"perm": (0, 2, 1)}, "turned")
        b.output(_by_rsqrt(b, turned), "y")

    assert types(rewrite(build)) == {"Transpose": 1, "LayerNorm": 1}


def _over_another_axis(b: GraphBuilder, x: Value) -> Value:
    c = _eltwise(b, "SUB", x, _reduce(b, x, axis=1))
    variance = _reduce(b, _eltwise(b, "SQUARE", c), axis=1)
    return _eltwise(b, "MUL", c, _eltwise(b, "RSQRT", _plus_epsilon(b, variance)))


def _variance_of_another(b: GraphBuilder, x: Value) -> Value:
    variance = _reduce(b, _eltwise(b, "SQUARE", _eltwise(b, "ABS", x)))
    inverse = _eltwise(b, "RSQRT", _plus_epsilon(b, variance))
    return _eltwise(b, "MUL", _centred(b, x), inverse)


def _by_another_count(b: GraphBuilder, x: Value) -> Value:
    total = _reduce(b, x, "SUM_SQUARE")
    mean = _eltwise(b, "DIV", total, _number(b, _WIDTH - 1))
    return _eltwise(b, "MUL", x, _eltwise(b, "RSQRT", _plus_epsilon(b, mean)))


def _without_the_mean_of_squares(b: GraphBuilder, x: Value) -> Value:
    """The mean is subtracted, but not from the value that is squared."""
    mean = _reduce(b, _eltwise(b, "SQUARE", x))
    inverse = _eltwise(b, "RSQRT", _plus_epsilon(b, mean))
    return _eltwise(b, "MUL", _centred(b, x), inverse)


@pytest.mark.parametrize(
    "pattern",
    [
        _over_another_axis,
        _variance_of_another,
        _by_another_count,
        _without_the_mean_of_squares,
    ],
)
def test_other_formulas_are_left_alone(pattern: Any) -> None:
    assert "LayerNorm" not in types(_rewrite(pattern))
