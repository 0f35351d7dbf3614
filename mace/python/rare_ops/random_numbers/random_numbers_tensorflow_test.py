# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers, against their distributions, and TensorFlow's generator."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.tensorflow.testing import (
    Family,
    frozen,
    imported,
    rand,
    traced,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.op_rules import rules_of

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("random_numbers_tensorflow")


_SHAPE = [100, 100]


def _run(function: Any, *arrays: Array) -> list[Array]:
    concrete = traced(tf, function, list(arrays), dynamic=False)
    _FAMILY.note_all(concrete.graph.as_graph_def())
    concrete = frozen(concrete)
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    names = [tensor.name for tensor in concrete.outputs]
    results = run_graph(imported(concrete.graph.as_graph_def(), inputs, names), inputs)
    return [results[name] for name in names]


def test_every_run_draws_others() -> None:
    def add(x: Any) -> Any:
        noise = tf.random.normal(_SHAPE, mean=2.0, stddev=3.0)
        return x * 0 + noise, tf.random.uniform(_SHAPE, -1, 1, seed=4) + x * 0

    noise, uniform = _run(add, rand(*_SHAPE))
    assert abs(noise.mean() - 2) < 0.15
    assert abs(noise.std() - 3) < 0.11
    assert -1 <= uniform.min() < -0.99
    assert 0.99 < uniform.max() <= 1
    assert abs(uniform.mean()) < 0.03


def test_a_seed_repeats_the_numbers() -> None:
    def draw(x: Any) -> Any:
        seed = tf.cast(x, tf.int32)
        return (
            tf.random.stateless_normal(_SHAPE, seed),
            tf.random.stateless_normal(_SHAPE, [5, 6]),
            tf.raw_ops.StatelessRandomUniform(shape=_SHAPE, seed=seed),
            tf.random.stateless_uniform(_SHAPE, seed) + x[0] * 0,
            tf.raw_ops.StatelessRandomNormal(shape=_SHAPE, seed=[5, 6]) + x[0] * 0,
            tf.cast(tf.raw_ops.StatelessRandomGetAlg(), tf.float32) + x * 0,
        )

    seed = np.array([5, 6], np.float32)
    first, second, uniform, again, last, kind = _run(draw, seed)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, last)
    np.testing.assert_array_equal(uniform, again)
    assert (kind == 1).all()
    assert abs(first.mean()) < 0.05
    other, *_ = _run(draw, seed + 1)
    assert not np.isclose(other, first).all(1).any()


def test_the_bits_are_those_of_the_same_generator() -> None:
    philox = sys.modules[type(rules_of("Random")).__module__].philox
    for key in (0, 1, 0xA4093822299F31D0, 2**64 - 1):
        words = tf.raw_ops.StatelessRandomUniformFullIntV2(
            shape=[400], key=tf.constant([key], tf.uint64),
            counter=tf.constant([0, 0], tf.uint64), alg=1, dtype=tf.uint32,
        )  # fmt: skip
        found = philox([key % 2**32, key >> 32], 100)
        np.testing.assert_array_equal(found.reshape(-1), words.numpy())


def test_keys_must_come_from_seeds() -> None:
    def draw(x: Any) -> Any:
        return x + tf.raw_ops.StatelessRandomUniformV2(
            shape=[2],
            key=tf.constant([3], tf.uint64),
            counter=tf.constant([0, 0], tf.uint64),
            alg=1,
        )

    with pytest.raises(MaceError, match="comes from no seed"):
        _run(draw, rand(2))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
