# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tflite.testing import (
    Family,
    import_file,
    interpreted,
    one_operator,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import Array

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("recurrent")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8
check_file = _FAMILY.check_file


TANH = 4


STEPS, BATCH, SIZE, UNITS = 5, 2, 3, 4


def _input(major: bool) -> Array:
    return rand(STEPS, BATCH, SIZE) if major else rand(BATCH, STEPS, SIZE)


def _numbers(seed: int, *shape: int) -> Array:
    """Different ones for each seed."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def _gates(first: dict[str, int], coupled: bool, peepholes: bool) -> dict[int, Array]:
    found: dict[int, Array] = {}
    for gate in range(4):
        if coupled and gate == 0:
            continue
        found[first["w"] + gate] = _numbers(gate, UNITS, SIZE)
        found[first["r"] + gate] = _numbers(gate + 5, UNITS, UNITS) / 2
        found[first["b"] + gate] = _numbers(gate, UNITS)
    for gate in range(3):
        if peepholes and not (coupled and gate == 0):
            found[first["p"] + gate] = _numbers(9 + gate, UNITS)
    return found


def _lstm(coupled: bool, peepholes: bool, major: bool, **options: Any) -> bytes:
    constants = _gates({"w": 1, "r": 5, "p": 9, "b": 12}, coupled, peepholes)
    states = dict.fromkeys((18, 19), (BATCH, UNITS))
    x = _input(major)
    return one_operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [x],
        [((*x.shape[:2], UNITS), "float32")],
        constants,
        {"fused_activation_function": TANH, "time_major": major, **options},
        "UnidirectionalSequenceLSTMOptions",
        variables=states,
        absent=[i for i in range(1, 24) if i not in constants and i not in states],
    )


@pytest.mark.parametrize("major", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("peepholes", [False, True])
def test_lstm(coupled: bool, peepholes: bool, major: bool) -> None:
    data = _lstm(coupled, peepholes, major, cell_clip=10.0)
    check_file(data, _input(major))


@pytest.mark.parametrize("major", [False, True])
@pytest.mark.parametrize("merge", [False, True])
def test_bidirectional_lstm(merge: bool, major: bool) -> None:
    constants = _gates({"w": 1, "r": 5, "p": 9, "b": 12}, False, False)
    constants.update(_gates({"w": 18, "r": 22, "p": 26, "b": 29}, False, False))
    x = _input(major)
    if merge and not major:
        x = x[:1]  # of others, the interpreter writes results over each other
    batch = x.shape[1 if major else 0]
    states = dict.fromkeys((35, 36, 37, 38), (batch, UNITS))
    size = 2 * UNITS if merge else UNITS
    data = one_operator(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        [x],
        [((*x.shape[:2], size), "float32")] * (1 if merge else 2),
        constants,
        {
            "fused_activation_function": TANH,
            "time_major": major,
            "merge_outputs": merge,
        },
        "BidirectionalSequenceLSTMOptions",
        variables=states,
        absent=[i for i in range(1, 48) if i not in constants and i not in states],
    )
    check_file(data, x)


@pytest.mark.parametrize("function", [0, 1, TANH])
@pytest.mark.parametrize("major", [False, True])
def test_rnn(major: bool, function: int) -> None:
    x = _input(major)
    weights = {1: rand(UNITS, SIZE), 2: _numbers(3, UNITS, UNITS) / 2}
    data = one_operator(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        [x],
        [((*x.shape[:2], UNITS), "float32")],
        {**weights, 3: rand(UNITS)},
        {"time_major": major, "fused_activation_function": function},
        "SequenceRNNOptions",
        variables={4: (BATCH, UNITS)},
    )
    check_file(data, x)


@pytest.mark.parametrize("merge", [False, True])
def test_bidirectional_rnn(merge: bool) -> None:
    x = _input(False)
    weights = {
        place: _numbers(place, UNITS, *shape) / 2
        for first in (1, 5)
        for place, shape in ((first, (SIZE,)), (first + 1, (UNITS,)), (first + 2, ()))
    }
    size = 2 * UNITS if merge else UNITS
    data = one_operator(
        "BIDIRECTIONAL_SEQUENCE_RNN",
        [x],
        [((*x.shape[:2], size), "float32")] * (1 if merge else 2),
        weights,
        {"fused_activation_function": TANH, "merge_outputs": merge},
        "BidirectionalSequenceRNNOptions",
        variables={4: (BATCH, UNITS), 8: (BATCH, UNITS)},
        absent=[9, 10, 11],
    )
    check_file(data, x)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fused_activation_function": 3}, "activation 3 of a recurrent layer"),
        ({"diagonal_recurrent_tensors": True}, "diagonals"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(_lstm(False, False, True, **options))
    with pytest.raises(UnsupportedNodesError, match=message):
        import_file(path)


@pytest.mark.parametrize("major", [False, True])
def test_what_is_computed_step_by_step(major: bool) -> None:
    """A projection, layer normalisation, and limits."""
    constants = _gates({"w": 1, "r": 5, "p": 9, "b": 12}, False, True)
    outputs = 3
    for gate in range(4):
        constants[5 + gate] = _numbers(gate + 5, UNITS, outputs)
        constants[20 + gate] = _numbers(gate + 20, UNITS)
    constants.update({16: _numbers(16, outputs, UNITS), 17: _numbers(17, outputs)})
    states = {18: (BATCH, outputs), 19: (BATCH, UNITS)}
    x = _input(major)
    data = one_operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [x],
        [((*x.shape[:2], outputs), "float32")],
        constants,
        {
            "fused_activation_function": TANH,
            "time_major": major,
            "cell_clip": 0.5,
            "proj_clip": 0.4,
        },
        "UnidirectionalSequenceLSTMOptions",
        variables=states,
        absent=[i for i in range(1, 24) if i not in constants and i not in states],
    )
    check_file(data, x)


def test_integers(tmp_path: Path) -> None:
    """Of 8 bits, with a memory of 16."""
    rng = np.random.default_rng(7)
    constants: dict[int, Array] = {}
    scales = {0: (1 / 64, 3), 18: (1 / 128, 2), 19: (1 / 2048, 0), 24: (1 / 128, 2)}
    for gate in range(4):
        for first, width in ((1, SIZE), (5, UNITS)):
            shape = (UNITS, width)
            constants[first + gate] = rng.integers(-127, 128, shape).astype(np.int8)
            scales[first + gate] = (1 / 128, 0)
        constants[12 + gate] = rng.integers(-9000, 9000, UNITS).astype(np.int32)
        scales[12 + gate] = (1 / 128 / 64, 0)
    states = dict.fromkeys((18, 19), (BATCH, UNITS))
    x = rng.integers(-128, 128, (STEPS, BATCH, SIZE)).astype(np.int8)
    data = one_operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [x],
        [((STEPS, BATCH, UNITS), "int8")],
        constants,
        {"fused_activation_function": TANH, "time_major": True},
        "UnidirectionalSequenceLSTMOptions",
        scales,
        version=1,
        variables=states,
        kinds={18: "int8", 19: "int16"},
        intermediates=[(1 / 4096, 0)] * 4 + [(1 / 128, 2)],
        absent=[i for i in range(1, 24) if i not in constants and i not in states],
    )
    path = tmp_path / "m.tflite"
    (found,), (wanted,) = run_file(data, [x], path), interpreted(data, [x])
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 2
    assert np.ptp(wanted.astype(int)) > 100


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
