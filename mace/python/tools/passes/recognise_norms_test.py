# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisations, as frameworks express them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


_ROW_FORMS = [
    _by_power_and_division,
    _by_rsqrt,
    _by_sum_of_squares,
    _by_reciprocal,
    _rms,
]


def _rewrite_rows(
    pattern: Callable[[GraphBuilder, Value], Value],
    finish: Callable[[GraphBuilder, Value, np.random.Generator], Value] | None = None,
) -> Graph:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = pattern(b, b.input("x", DataType.FLOAT32, (2, 5, _WIDTH)))
        b.output(finish(b, y, rng) if finish else y, "y")

    return rewrite(build)


@pytest.mark.parametrize("pattern", _ROW_FORMS)
def test_written_out_normalisation_is_recognised(pattern: Any) -> None:
    graph = _rewrite_rows(pattern)
    assert types(graph) == {"LayerNorm": 1}
    assert graph.ops[0].attr("subtract_mean") == (pattern is not _rms)
    assert graph.ops[0].attr("epsilon") == pytest.approx(1e-3)


@pytest.mark.parametrize("pattern", _ROW_FORMS)
def test_scale_and_offset_become_inputs(pattern: Any) -> None:
    def finish(b: GraphBuilder, y: Value, rng: np.random.Generator) -> Value:
        y = _eltwise(b, "MUL", b.constant("s", random(rng, _WIDTH)), y)
        return _eltwise(b, "ADD", y, b.constant("o", random(rng, 1, 1, _WIDTH)))

    graph = _rewrite_rows(pattern, finish)
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

    assert types(_rewrite_rows(_by_rsqrt, finish))["LayerNorm"] == 1


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
def test_other_formulas_of_rows_are_left_alone(pattern: Any) -> None:
    assert "LayerNorm" not in types(_rewrite_rows(pattern))


_SHAPE = (2, 5, 6, 8)
_CHANNELS = _SHAPE[-1]


def _mean(b: GraphBuilder, x: Value, axes: Sequence[int]) -> Value:
    attrs = {"mode": "MEAN", "axes": list(axes), "keep_dims": True}
    return b.one("Reduce", [x], None, attrs, "mean")


def _inverse(b: GraphBuilder, variance: Value) -> Value:
    epsilon = b.constant("epsilon", np.float32(1e-3))
    return _eltwise(b, "RSQRT", _eltwise(b, "ADD", variance, epsilon))


def _rewrite_images(pattern: Any, shape: tuple[int | None, ...] = _SHAPE) -> Graph:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        b.output(pattern(b, b.input("x", DataType.FLOAT32, shape), rng), "y")

    return rewrite(build)


def _by_hand(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    """The form of most implementations in TensorFlow."""
    axes = range(1, (x.rank or 0) - 1)
    centred = _eltwise(b, "SUB", x, _mean(b, x, axes))
    variance = _mean(b, _eltwise(b, "SQUARE", centred), axes)
    return _eltwise(b, "MUL", centred, _inverse(b, variance))


def _by_hand_with_parameters(
    b: GraphBuilder, x: Value, rng: np.random.Generator
) -> Value:
    scale = b.constant("scale", random(rng, _CHANNELS))
    offset = b.constant("offset", random(rng, 1, 1, 1, _CHANNELS))
    y = _eltwise(b, "MUL", scale, _by_hand(b, x, rng))
    return _eltwise(b, "ADD", y, offset)


def _after_an_offset(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    y = _by_hand_with_parameters(b, x, rng)
    return _eltwise(b, "MUL", y, b.constant("k", random(rng, _CHANNELS)))


def _as_batch_norm(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    """The form of tf.nn.batch_normalization."""
    mean = _mean(b, x, (1, 2))
    variance = _mean(b, _eltwise(b, "SQR_DIFF", x, mean), (1, 2))
    scale = b.constant("scale", random(rng, _CHANNELS))
    factor = _eltwise(b, "MUL", _inverse(b, variance), scale)
    offset = b.constant("offset", random(rng, _CHANNELS))
    rest = _eltwise(b, "SUB", offset, _eltwise(b, "MUL", mean, factor))
    return _eltwise(b, "ADD", _eltwise(b, "MUL", x, factor), rest)


def _of_groups(
    b: GraphBuilder, x: Value, rng: np.random.Generator, groups: int = _CHANNELS
) -> Value:
    """The form of Keras' GroupNormalization."""
    members = _CHANNELS // groups
    shape = (-1, *_SHAPE[1:3], groups, members)
    x = b.one("Reshape", [x], None, {"shape": shape}, "grouped")
    mean = _mean(b, x, (1, 2, -1))
    variance = _mean(b, _eltwise(b, "SQR_DIFF", x, mean), (1, 2, -1))
    scale = b.constant("scale", random(rng, 1, 1, 1, groups, members))
    factor = _eltwise(b, "MUL", _inverse(b, variance), scale)
    offset = b.constant("offset", random(rng, 1, 1, 1, groups, members))
    shift = _eltwise(b, "MUL", _eltwise(b, "NEG", mean), factor)
    rest = _eltwise(b, "ADD", shift, offset)
    y = _eltwise(b, "ADD", _eltwise(b, "MUL", x, factor), rest)
    return b.one("Reshape", [y], None, {"shape": (-1, *_SHAPE[1:])}, "whole")


_IMAGE_FORMS = [
    _by_hand,
    _by_hand_with_parameters,
    _after_an_offset,
    _as_batch_norm,
    _of_groups,
]


@pytest.mark.parametrize("pattern", _IMAGE_FORMS)
@pytest.mark.parametrize("batch", [2, None])
def test_is_recognised(pattern: Any, batch: int | None) -> None:
    graph = _rewrite_images(pattern, (batch, *_SHAPE[1:]))
    assert types(graph) == {"InstanceNorm": 1}
    assert graph.ops[0].attr("epsilon") == pytest.approx(1e-3)


def test_sizes_of_the_image_may_be_open() -> None:
    shape = (1, None, None, _CHANNELS)
    assert types(_rewrite_images(_as_batch_norm, shape)) == {"InstanceNorm": 1}


def test_other_numbers_of_dimensions() -> None:
    for shape in ((2, 9, _CHANNELS), (2, 3, 4, 5, _CHANNELS)):
        assert types(_rewrite_images(_by_hand, shape)) == {"InstanceNorm": 1}


def test_an_activation_is_fused() -> None:
    def pattern(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
        y = _of_groups(b, x, rng)
        return b.one("Activation", [y], None, {"activation": "RELU"}, "relu")

    graph = _rewrite_images(pattern)
    assert types(graph) == {"InstanceNorm": 1}
    assert graph.ops[0].attr("activation") == "RELU"


def _of_two_groups(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    return _of_groups(b, x, rng, 2)


def _without_the_mean(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    variance = _mean(b, _eltwise(b, "SQUARE", x), (1, 2))
    return _eltwise(b, "MUL", x, _inverse(b, variance))


def _of_rows_only(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    centred = _eltwise(b, "SUB", x, _mean(b, x, (1,)))
    variance = _mean(b, _eltwise(b, "SQUARE", centred), (1,))
    return _eltwise(b, "MUL", centred, _inverse(b, variance))


def _with_numbers_by_row(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    y = _by_hand(b, x, rng)
    return _eltwise(b, "MUL", y, b.constant("k", random(rng, 5, 1, 1)))


@pytest.mark.parametrize(
    "pattern",
    [_of_two_groups, _without_the_mean, _of_rows_only, _with_numbers_by_row],
)
def test_other_formulas_of_images_are_left_alone(pattern: Any) -> None:
    assert types(_rewrite_images(pattern)) != {"InstanceNorm": 1}
