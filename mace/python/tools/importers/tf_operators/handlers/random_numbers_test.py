# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How random numbers are distributed, and the bits of TensorFlow's Philox."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.testing import (
    Family,
    frozen,
    rand,
    traced,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.op_rules import rules_of

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("random_numbers")
_SHAPE = [100, 100]


def _run(tmp_path: Path, function: Any, *arrays: Array) -> list[Array]:
    concrete = traced(tf, function, list(arrays), dynamic=False)
    _FAMILY.note(concrete.graph.as_graph_def())
    concrete = frozen(concrete)
    path = tmp_path / "model.pb"
    path.write_bytes(concrete.graph.as_graph_def().SerializeToString())
    inputs = tuple(
        InputSpec(f"x{i}", a.shape, data_format=DataFormat.NONE)
        for i, a in enumerate(arrays)
    )
    outputs = tuple(OutputSpec(t.name, DataFormat.NONE) for t in concrete.outputs)
    graph = import_model(ImportRequest("m", path, inputs, outputs))
    results = run_graph(graph, {f"x{i}": a for i, a in enumerate(arrays)})
    return [results[t.name] for t in concrete.outputs]


def test_every_run_draws_others(tmp_path: Path) -> None:
    def add(x: Any) -> Any:
        noise = tf.random.normal(_SHAPE, mean=2.0, stddev=3.0)
        return x * 0 + noise, tf.random.uniform(_SHAPE, -1, 1, seed=4) + x * 0

    noise, uniform = _run(tmp_path, add, rand(*_SHAPE))
    assert abs(noise.mean() - 2) < 0.15
    assert abs(noise.std() - 3) < 0.11
    assert -1 <= uniform.min() < -0.99
    assert 0.99 < uniform.max() <= 1
    assert abs(uniform.mean()) < 0.03


def test_a_seed_repeats_the_numbers(tmp_path: Path) -> None:
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
    first, second, uniform, again, last, kind = _run(tmp_path, draw, seed)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, last)
    np.testing.assert_array_equal(uniform, again)
    assert (kind == 1).all()
    assert abs(first.mean()) < 0.05
    other, *_ = _run(tmp_path, draw, seed + 1)
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


def test_keys_must_come_from_seeds(tmp_path: Path) -> None:
    def draw(x: Any) -> Any:
        return x + tf.raw_ops.StatelessRandomUniformV2(
            shape=[2],
            key=tf.constant([3], tf.uint64),
            counter=tf.constant([0, 0], tf.uint64),
            alg=1,
        )

    with pytest.raises(MaceError, match="comes from no seed"):
        _run(tmp_path, draw, rand(2))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
