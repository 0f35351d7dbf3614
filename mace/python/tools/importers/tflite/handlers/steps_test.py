# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers whose state lasts from one run to the next, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tflite import FRAMEWORK
from mace.python.tools.importers.tflite.testing import (
    Family,
    check_steps,
    import_file,
    one_operator,
    rand,
)
from mace.python.tools.ir.dtypes import Array

pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("steps")
_TANH = 4
_BATCH, _SIZE, _UNITS = 2, 3, 4


def _numbers(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def _runs(count: int = 4) -> list[Array]:
    return [_numbers(100 + i, _BATCH, _SIZE) for i in range(count)]


def _check(data: bytes, operator: str, folder: Path) -> None:
    check_steps(data, _runs(), folder / "m.tflite")
    _FAMILY.note(operator)


def _rnn(function: int) -> bytes:
    weights = {1: rand(_UNITS, _SIZE), 2: _numbers(3, _UNITS, _UNITS), 3: rand(_UNITS)}
    return one_operator(
        "RNN",
        _runs(1),
        [((_BATCH, _UNITS), "float32")],
        weights,
        {"fused_activation_function": function},
        "RNNOptions",
        variables={4: (_BATCH, _UNITS)},
    )


@pytest.mark.parametrize("function", [0, 1, 3, _TANH])
def test_rnn(function: int, tmp_path: Path) -> None:
    _check(_rnn(function), "RNN", tmp_path)


def _svdf(rank: int, bias: bool, memory: int = 3) -> bytes:
    filters = _UNITS * rank
    constants = {1: _numbers(1, filters, _SIZE), 2: _numbers(2, filters, memory)}
    if bias:
        constants[3] = _numbers(3, _UNITS)
    return one_operator(
        "SVDF",
        _runs(1),
        [((_BATCH, _UNITS), "float32")],
        constants,
        {"rank": rank, "fused_activation_function": 1},
        "SVDFOptions",
        variables={4: (_BATCH, memory * filters)},
        absent=[] if bias else [3],
    )


@pytest.mark.parametrize("memory", [1, 3])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rank", [1, 2])
def test_svdf(rank: int, bias: bool, memory: int, tmp_path: Path) -> None:
    _check(_svdf(rank, bias, memory), "SVDF", tmp_path)


def test_svdf_of_integers(tmp_path: Path) -> None:
    rng, rank, memory = np.random.default_rng(5), 2, 4
    filters = _UNITS * rank
    scales = {0: (1 / 64, 3), 1: (1 / 100, 0), 2: (1 / 8192, 0), 4: (1 / 2048, 0)}
    data = one_operator(
        "SVDF",
        [np.zeros((_BATCH, _SIZE), np.int8)],
        [((_BATCH, _UNITS), "int8")],
        {
            1: rng.integers(-127, 128, (filters, _SIZE)).astype(np.int8),
            2: rng.integers(-9000, 9000, (filters, memory)).astype(np.int16),
            3: rng.integers(-500, 500, _UNITS).astype(np.int32),
        },
        {"rank": rank, "fused_activation_function": 1},
        "SVDFOptions",
        {**scales, 3: (1 / 2048 / 8192, 0), 5: (1 / 50, -128)},
        version=3,
        variables={4: (_BATCH, memory * filters)},
        kinds={4: "int16"},
    )
    runs = [rng.integers(-128, 128, (_BATCH, _SIZE)).astype(np.int8) for _ in range(6)]
    check_steps(data, runs, tmp_path / "m.tflite")


def _lstm(
    coupled: bool = False,
    peepholes: bool = False,
    outputs: int = _UNITS,
    norms: bool = False,
    **options: Any,
) -> bytes:
    constants: dict[int, Array] = {}
    for gate in range(4):
        if coupled and gate == 0:
            continue
        constants[1 + gate] = _numbers(gate, _UNITS, _SIZE)
        constants[5 + gate] = _numbers(gate + 5, _UNITS, outputs)
        constants[12 + gate] = _numbers(gate, _UNITS)
        if peepholes and gate < 3:
            constants[9 + gate] = _numbers(9 + gate, _UNITS)
        if norms:
            constants[20 + gate] = _numbers(20 + gate, _UNITS)
    if peepholes:
        constants[11] = _numbers(31, _UNITS)
        if coupled:
            constants.pop(9, None)
    if outputs != _UNITS:
        constants[16] = _numbers(16, outputs, _UNITS)
        constants[17] = _numbers(17, outputs)
    states = {18: (_BATCH, outputs), 19: (_BATCH, _UNITS)}
    total = 24 if norms else 20
    places = range(1, total)
    return one_operator(
        "LSTM",
        _runs(1),
        [((_BATCH, outputs), "float32")],
        constants,
        {"fused_activation_function": _TANH, **options},
        "LSTMOptions",
        variables=states,
        absent=[i for i in places if i not in constants and i not in states],
    )


@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
def test_lstm(coupled: bool, peepholes: bool, tmp_path: Path) -> None:
    _check(_lstm(coupled, peepholes), "LSTM", tmp_path)


def test_lstm_with_projection_norms_and_limits(tmp_path: Path) -> None:
    _check(_lstm(outputs=3, proj_clip=0.3, cell_clip=0.4), "LSTM", tmp_path)
    _check(_lstm(outputs=3, norms=True, peepholes=True), "LSTM", tmp_path)
    _check(_lstm(coupled=True, norms=True), "LSTM", tmp_path)


def _basic(variables: bool) -> bytes:
    states = {1: (_BATCH, _UNITS), 4: (_BATCH, _UNITS)}
    given = (
        [] if variables else [np.zeros(shape, np.float32) for shape in states.values()]
    )
    widths = (_UNITS, _UNITS, _SIZE + _UNITS, 4 * _UNITS)
    return one_operator(
        "LSTM",
        [*_runs(1), *given],
        [((_BATCH, width), "float32") for width in widths],
        {2: _numbers(2, 4 * _UNITS, _SIZE + _UNITS), 3: _numbers(3, 4 * _UNITS)},
        {"fused_activation_function": _TANH, "kernel_type": 1},
        "LSTMOptions",
        variables=states if variables else {},
    )


def test_basic_lstm(tmp_path: Path) -> None:
    _check(_basic(True), "LSTM", tmp_path)
    h, c = _numbers(5, _BATCH, _UNITS), _numbers(6, _BATCH, _UNITS)
    _FAMILY.check_file(tmp_path, _basic(False), _runs(1)[0], h, c)


def test_states_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(_rnn(_TANH))
    with pytest.raises(UnsupportedNodesError, match="v4 is a state") as error:
        import_file(path)
    assert "states: {v4: v4/next}" in str(error.value)
    about = FRAMEWORK.open(path).describe()
    assert about.states == {"v4": "v4/next"}
    assert [tensor.name for tensor in about.inputs] == ["x0", "v4"]
    assert [tensor.name for tensor in about.outputs] == ["y0", "v4/next"]


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
